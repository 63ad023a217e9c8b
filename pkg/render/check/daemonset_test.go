package check_test

import "testing"

const goodDaemonSet = `
apiVersion: apps.kruise.io/v1beta1
kind: DaemonSet
metadata: {name: agent, namespace: shop}
spec:
  minReadySeconds: 1
  selector: {matchLabels: {app: agent}}
  updateStrategy: {type: RollingUpdate}
  template:
    metadata: {labels: {app: agent}}
    spec: {containers: [{name: agent, image: "example.com/agent:1"}]}
`

func TestDaemonSet_Rules(t *testing.T) {
	const u, at = "{type: RollingUpdate}", "spec.updateStrategy.rollingUpdate."
	rolling := func(text string) []string { return []string{u, "{rollingUpdate: {" + text + "}}"} }
	rulings(t, goodDaemonSet, []ruling{
		{name: "surge alone", edit: rolling("maxSurge: 1")},
		{name: "unavailable alone", edit: rolling("maxUnavailable: 30%")},
		{name: "in place", edit: rolling("rollingUpdateType: InPlaceIfPossible, maxUnavailable: 2, partition: 50%")},
		{name: "on delete is not looked at", edit: []string{u, "{type: OnDelete, rollingUpdate: {maxUnavailable: 0, maxSurge: 0}}"}},
		{name: "surging of v1alpha1", edit: append(rolling("rollingUpdateType: Surging"), "v1beta1", "v1alpha1")},
		{name: "burst as text", edit: []string{"minReadySeconds: 1", `burstReplicas: "7"`}},
		{name: "pre-delete hook", edit: []string{"minReadySeconds: 1", "lifecycle: {preDelete: {finalizersHandler: [a/b]}}"}},
		{name: "surging of v1beta1", edit: rolling("rollingUpdateType: Surging"), want: "daemonset/update-type-invalid " + at + "rollingUpdateType"},
		{name: "type", edit: []string{u, "{type: Recreate}"}, want: "daemonset/update-type-invalid spec.updateStrategy.type"},
		{name: "both zero", edit: rolling("maxUnavailable: 0, maxSurge: 0%"), want: "daemonset/max-unavailable-invalid " + at + "maxUnavailable"},
		{name: "zero alone", edit: rolling("maxUnavailable: 0"), want: "daemonset/max-unavailable-invalid " + at + "maxUnavailable"},
		{name: "both", edit: rolling("maxUnavailable: 1, maxSurge: 1"), want: "daemonset/max-surge-invalid " + at + "maxSurge"},
		{name: "in place with surge", edit: rolling("rollingUpdateType: InPlaceIfPossible, maxSurge: 1"), want: "daemonset/max-surge-invalid " + at + "maxSurge"},
		{name: "more than any number", edit: rolling("maxUnavailable: 100000000000000000000%"), want: "daemonset/max-unavailable-invalid " + at + "maxUnavailable"},
		{name: "more than all", edit: rolling("maxUnavailable: 101%"), want: "daemonset/max-unavailable-invalid " + at + "maxUnavailable"},
		{name: "text", edit: rolling("maxSurge: many"), want: "daemonset/max-surge-invalid " + at + "maxSurge"},
		{name: "negative partition", edit: rolling("partition: -1"), want: "daemonset/partition-invalid " + at + "partition"},
		{name: "node selector", edit: rolling("selector: {matchExpressions: [{key: a, operator: Like}]}"), want: "daemonset/node-selector-invalid " + at + "selector.matchExpressions[0].operator (accepted)"},
		{name: "in-place hook", edit: []string{"minReadySeconds: 1", "lifecycle: {inPlaceUpdate: {finalizersHandler: [a/b]}}"}, want: "daemonset/lifecycle-unsupported spec.lifecycle.inPlaceUpdate"},
		{name: "negative", edit: []string{"minReadySeconds: 1", "minReadySeconds: -1"}, want: "daemonset/number-negative spec.minReadySeconds"},
		{name: "no selector", edit: []string{"  selector: {matchLabels: {app: agent}}\n", ""}, want: "daemonset/selector-invalid spec.selector"},
		{name: "other labels", edit: []string{"metadata: {labels: {app: agent}}", "metadata: {}"}, want: "daemonset/selector-invalid spec.template.metadata.labels"},
		{name: "ending pods", edit: []string{"spec: {containers", "spec: {restartPolicy: Never, containers"}, want: "pod/template-invalid spec.template.spec.restartPolicy"},
		{name: "unknown field", edit: []string{"minReadySeconds", "minReadySecs"}, want: "object/unknown-field spec.minReadySecs"},
		{name: "no such field in v1alpha1", edit: []string{"v1beta1", "v1alpha1", "minReadySeconds: 1", "scaleStrategy: {partitionedScaling: true}"}, want: "object/unknown-field spec.scaleStrategy.partitionedScaling"},
		{name: "selector changed", edit: []string{"{matchLabels: {app: agent}}", "{matchLabels: {app: agent, a: b}}", "{labels: {app: agent}}", "{labels: {app: agent, a: b}}"}, old: []string{}, want: "object/immutable-field spec.selector"},
		{name: "template changed", edit: []string{"agent:1", "agent:2"}, old: []string{}},
	})
}
