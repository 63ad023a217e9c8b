package check_test

import "testing"

const goodSpread = `
apiVersion: apps.kruise.io/v1beta1
kind: WorkloadSpread
metadata: {name: spread, namespace: shop}
spec:
  targetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  subsets: [{name: a, maxReplicas: 3}, {name: b}]
`

const spreadTargets = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  template:
    spec: {containers: [{name: web, image: "example.com/web:1", volumeMounts: [{name: gone, mountPath: /x}]}]}
---
apiVersion: apps.kruise.io/v1beta1
kind: StatefulSet
metadata: {name: db, namespace: shop}
spec:
  volumeClaimTemplates: [{metadata: {name: data}}]
  template:
    spec: {containers: [{name: db, image: "example.com/db:1"}]}
---
apiVersion: apps.kruise.io/v1beta1
kind: WorkloadSpread
metadata: {name: other, namespace: shop}
spec: {targetRef: {apiVersion: apps/v1beta2, kind: Deployment, name: api}, subsets: [{name: a}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: kruise-configuration, namespace: kruise-system}
data: {WorkloadSpread_Watch_Custom_Workload_WhiteList: '{"workloads":[{"Group":"example.com","Version":"v1","Kind":"Game"}]}'}
`

func TestWorkloadSpread_Rules(t *testing.T) {
	const subsets, kind = "[{name: a, maxReplicas: 3}, {name: b}]", "apps/v1, kind: Deployment, name: web"
	to := func(text string) []string { return []string{subsets, text} }
	adaptive := func(subsets, strategy string) []string { return to(subsets + "\n  scheduleStrategy: " + strategy) }
	const three = "[{name: a, maxReplicas: 3}, {name: b, maxReplicas: 3}, {name: c}]"
	const limit = "workloadspread/max-replicas-invalid spec.subsets"
	const patch = "workloadspread/patch-invalid spec.subsets[0].patch"
	list := []ruling{
		{name: "percentages", edit: to("[{name: a, maxReplicas: 30%}, {name: b, maxReplicas: 70%}]")},
		{name: "percentages with an open end", edit: to("[{name: a, maxReplicas: 30%}, {name: b}]")},
		{name: "open in the middle", edit: to("[{name: a}, {name: b, maxReplicas: 3}]")},
		{name: "odd name", edit: to("[{name: A_B}]")},
		{name: "alone and adaptive", edit: adaptive("[{name: a}]", "{type: Adaptive, adaptive: {rescheduleCriticalSeconds: 1000}}")},
		{name: "two and adaptive", edit: adaptive(subsets, "{type: Adaptive, adaptive: {rescheduleCriticalSeconds: 295}}")},
		{name: "job", edit: []string{kind, "batch/v1, kind: Job, name: j"}},
		{name: "listed kind", edit: []string{kind, "example.com/v1, kind: Game, name: g"}},
		{name: "advanced set", edit: []string{kind, "apps.kruise.io/v1beta1, kind: StatefulSet, name: db"}},
		{name: "fitting patch", edit: to("[{name: a, patch: {spec: {containers: [{name: web, env: [{name: A, value: b}]}]}}}]")},
		{name: "patch that mounts a claim", edit: []string{kind, "apps.kruise.io/v1beta1, kind: StatefulSet, name: db", subsets, "[{name: a, patch: {spec: {containers: [{name: db, volumeMounts: [{name: data, mountPath: /d}]}]}}}]"}},
		{name: "patch of an unknown target", edit: []string{"name: web", "name: unknown", subsets, "[{name: a, patch: {spec: {containers: [{name: web, image: 5}]}}}]"}},
		{name: "none", edit: to("[]"), want: "workloadspread/subset-invalid spec.subsets"},
		{name: "twice", edit: to("[{name: a}, {name: a}]"), want: "workloadspread/subset-invalid spec.subsets[1].name"},
		{name: "no name", edit: to("[{maxReplicas: 1}]"), want: "workloadspread/subset-invalid spec.subsets[0].name"},
		{name: "operator", edit: to("[{name: a, requiredNodeSelector: {matchExpressions: [{key: k, operator: Like}]}}]"), want: "workloadspread/subset-invalid spec.subsets[0].requiredNodeSelector.matchExpressions[0].operator"},
		{name: "operator in v1alpha1", edit: append(to("[{name: a, requiredNodeSelectorTerm: {matchExpressions: [{key: k, operator: Like}]}}]"), "v1beta1", "v1alpha1"), want: "workloadspread/subset-invalid spec.subsets[0].requiredNodeSelectorTerm.matchExpressions[0].operator"},
		{name: "weight", edit: to("[{name: a, preferredNodeSelector: [{weight: 0, preference: {}}]}]"), want: "workloadspread/subset-invalid spec.subsets[0].preferredNodeSelector[0].weight"},
		{name: "toleration", edit: to("[{name: a, tolerations: [{key: k, operator: Exists, value: v}]}]"), want: "workloadspread/subset-invalid spec.subsets[0].tolerations[0].operator"},
		{name: "mixed", edit: to("[{name: a, maxReplicas: 3}, {name: b, maxReplicas: 70%}]"), want: limit + "[1].maxReplicas"},
		{name: "too little", edit: to("[{name: a, maxReplicas: 30%}, {name: b, maxReplicas: 60%}]"), want: limit + "[0].maxReplicas"},
		{name: "too much with an open end", edit: to("[{name: a, maxReplicas: 60%}, {name: b, maxReplicas: 60%}, {name: c}]"), want: limit + "[0].maxReplicas"},
		{name: "negative", edit: to("[{name: a, maxReplicas: -1}]"), want: limit + "[0].maxReplicas"},
		{name: "percentage of a StatefulSet", edit: []string{"kind: Deployment", "kind: StatefulSet", subsets, "[{name: a, maxReplicas: 40%}, {name: b}]"}, want: limit + "[0].maxReplicas"},
		{name: "adaptive with a limited end", edit: adaptive("[{name: a, maxReplicas: 3}, {name: b, maxReplicas: 3}]", "{type: Adaptive, adaptive: {rescheduleCriticalSeconds: 1}}"), want: "workloadspread/schedule-invalid spec.scheduleStrategy.adaptive"},
		{name: "adaptive for too long", edit: adaptive(three, "{type: Adaptive, adaptive: {rescheduleCriticalSeconds: 148}}"), want: "workloadspread/schedule-invalid spec.scheduleStrategy.adaptive.rescheduleCriticalSeconds"},
		{name: "adaptive without the type", edit: adaptive(subsets, "{adaptive: {rescheduleCriticalSeconds: 1}}"), want: "workloadspread/schedule-invalid spec.scheduleStrategy.type"},
		{name: "schedule type", edit: adaptive(subsets, "{type: Lucky}"), want: "workloadspread/schedule-invalid spec.scheduleStrategy.type"},
		{name: "target kind", edit: []string{"Deployment", "DaemonSet"}, want: "workloadspread/target-invalid spec.targetRef"},
		{name: "half a target", edit: []string{", name: web", ", name: ''"}, want: "workloadspread/target-invalid spec.targetRef"},
		{name: "no target", edit: []string{"  targetRef: {apiVersion: apps/v1, kind: Deployment, name: web}\n", ""}, want: "workloadspread/target-invalid spec.targetRef"},
		{name: "taken", edit: []string{"name: web", "name: api"}, want: "workloadspread/target-invalid spec.targetRef"},
		{name: "filter", edit: to(subsets + "\n  targetFilter: {selector: {matchExpressions: [{key: a, operator: Like}]}}"), want: "workloadspread/filter-invalid spec.targetFilter.selector.matchExpressions[0].operator"},
		{name: "patch of another type", edit: to("[{name: a, patch: {spec: {containers: [{name: web, image: 5}]}}}]"), want: patch},
		{name: "patch that breaks the pod", edit: to("[{name: a, patch: {spec: {containers: [{name: web, volumeMounts: [{name: nowhere, mountPath: /y}]}]}}}]"), want: patch},
		{name: "patch without a name", edit: to("[{name: a, patch: {spec: {containers: [{image: x}]}}}]"), want: patch},
		{name: "patch as text", edit: to("[{name: a, patch: text}]"), want: patch + " (accepted)"},
		{name: "target changed", edit: []string{"name: web", "name: web-2"}, old: []string{}, want: "object/immutable-field spec.targetRef"},
		{name: "subsets changed", edit: to("[{name: a}]"), old: []string{}},
	}
	rulingsAround(t, goodSpread, list, spreadTargets)
}
