package check_test

import "testing"

const goodRecreate = `
apiVersion: apps.kruise.io/v1beta1
kind: ContainerRecreateRequest
metadata: {name: again, namespace: shop}
spec:
  podName: web-0
  containers: [{name: app}]
  strategy: {failurePolicy: Ignore, terminationGracePeriodSeconds: 5}
`

const recreatePods = `
apiVersion: v1
kind: Pod
metadata: {name: web-0, namespace: shop}
spec:
  initContainers: [{name: side, restartPolicy: Always}]
  containers: [{name: app}, {name: other}]
---
apiVersion: v1
kind: Pod
metadata: {name: waiting, namespace: shop}
spec: {containers: [{name: app}]}
status: {phase: Pending}
---
apiVersion: v1
kind: Pod
metadata: {name: done, namespace: shop}
spec: {nodeName: n, containers: [{name: app}]}
status: {phase: Succeeded}
---
apiVersion: v1
kind: Pod
metadata: {name: terminated, namespace: shop}
spec: {nodeName: n, containers: [{name: app}]}
status: {phase: Succeeded, conditions: [{type: SidecarTerminated, status: 'True'}], containerStatuses: [{name: app, containerID: "x://1"}]}
---
apiVersion: v1
kind: Pod
metadata: {name: pulling, namespace: shop}
spec: {nodeName: n, containers: [{name: app}]}
status: {phase: Pending}
---
apiVersion: v1
kind: Pod
metadata: {name: half, namespace: shop}
spec: {nodeName: n, containers: [{name: app}, {name: other}]}
status: {phase: Running, containerStatuses: [{name: app, containerID: "x://1"}, {name: other}]}
---
apiVersion: v1
kind: Pod
metadata: {name: elsewhere, namespace: far}
spec: {containers: [{name: app}]}
`

func TestContainerRecreateRequest(t *testing.T) {
	const containers, strategy = "[{name: app}]", "{failurePolicy: Ignore, terminationGracePeriodSeconds: 5}"
	pod := func(name, containers string) []string {
		return []string{"podName: web-0", "podName: " + name, "[{name: app}]", containers}
	}
	list := []ruling{
		{name: "two", edit: []string{containers, "[{name: other}, {name: app}]"}},
		{name: "one that runs", edit: pod("half", containers)},
		{name: "unknown pod", edit: pod("nobody", containers), want: "containerrecreaterequest/pod-invalid spec.podName"},
		{name: "pod that may be there", edit: pod("nobody", containers), unsure: true},
		{name: "pod elsewhere", edit: pod("elsewhere", containers), want: "containerrecreaterequest/pod-invalid spec.podName"},
		{name: "no pod", edit: pod("''", containers), want: "containerrecreaterequest/pod-invalid spec.podName"},
		{name: "pod without a node", edit: pod("waiting", containers), want: "containerrecreaterequest/pod-invalid spec.podName"},
		{name: "ended pod", edit: pod("done", containers), want: "containerrecreaterequest/pod-invalid spec.podName"},
		{name: "ended pod whose sidecars are yet to end", edit: pod("terminated", containers)},
		{name: "pod whose images are pulled", edit: pod("pulling", containers), want: "containerrecreaterequest/container-invalid spec.containers[0].name"},
		{name: "one that does not run", edit: pod("half", "[{name: other}]"), want: "containerrecreaterequest/container-invalid spec.containers[0].name"},
		{name: "unknown container", edit: []string{containers, "[{name: ghost}]"}, want: "containerrecreaterequest/container-invalid spec.containers[0].name"},
		{name: "native sidecar", edit: []string{containers, "[{name: side}]"}, want: "containerrecreaterequest/container-invalid spec.containers[0].name"},
		{name: "twice", edit: []string{containers, "[{name: app}, {name: app}]"}, want: "containerrecreaterequest/container-invalid spec.containers[1].name"},
		{name: "none", edit: []string{containers, "[]"}, want: "containerrecreaterequest/container-invalid spec.containers"},
		{name: "no name", edit: []string{containers, "[{}]"}, want: "containerrecreaterequest/container-invalid spec.containers[0].name"},
		{name: "context", edit: []string{containers, "[{name: app, statusContext: {containerID: a, restartCount: 0}}]"}, want: "containerrecreaterequest/container-invalid spec.containers[0]"},
		{name: "failure policy", edit: []string{"Ignore", "Retry"}, want: "containerrecreaterequest/strategy-invalid spec.strategy.failurePolicy"},
		{name: "grace", edit: []string{"Seconds: 5", "Seconds: -1"}, want: "containerrecreaterequest/strategy-invalid spec.strategy.terminationGracePeriodSeconds"},
		{name: "started", edit: []string{strategy, "{minStartedSeconds: -1}"}, want: "containerrecreaterequest/strategy-invalid spec.strategy.minStartedSeconds"},
		{name: "deadline", edit: []string{strategy, "{}\n  activeDeadlineSeconds: 2"}, want: "containerrecreaterequest/deadline-invalid spec.activeDeadlineSeconds"},
		{name: "time to live", edit: []string{strategy, "{}\n  ttlSecondsAfterFinished: -1"}, want: "containerrecreaterequest/deadline-invalid spec.ttlSecondsAfterFinished"},
		{name: "changed", edit: []string{"Seconds: 5", "Seconds: 6"}, old: []string{}, want: "object/immutable-field spec"},
		{name: "as stored", old: []string{containers, "[{name: app, statusContext: {containerID: a, restartCount: 0}}]"}},
		{name: "label changed", edit: []string{"namespace: shop", "namespace: shop, labels: {crr.apps.kruise.io/pod-uid: b}"}, old: []string{"namespace: shop", "namespace: shop, labels: {crr.apps.kruise.io/pod-uid: a}"}, want: "object/immutable-field metadata.labels[crr.apps.kruise.io/pod-uid]"},
	}
	rulingsAround(t, goodRecreate, list, recreatePods)
}
