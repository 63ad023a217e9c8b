package kubelet

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// orderedWeb starts its containers in their order in Kruise. Each takes a moment to
// end, since the kubelet tells whole seconds.
const orderedWeb = `
apiVersion: apps.kruise.io/v1beta1
kind: CloneSet
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  updateStrategy: {rollingUpdate: {podUpdatePolicy: InPlaceIfPossible, maxUnavailable: 1}}
  template:
    metadata: {labels: {app: web}, annotations: {apps.kruise.io/container-launch-priority: Ordered}}
    spec:
      terminationGracePeriodSeconds: 30
      containers:
      - {name: mesh, image: "IMAGE:1", imagePullPolicy: IfNotPresent, args: [pause], env: [{name: LINGER, value: 1100ms}]}
      - {name: log, image: "IMAGE:1", imagePullPolicy: IfNotPresent, args: [pause], env: [{name: LINGER, value: 1100ms}]}
      - {name: app, image: "IMAGE:1", imagePullPolicy: IfNotPresent, env: [{name: LINGER, value: 1100ms}]}
`

// order is how its containers start. They end in reverse.
var order = []string{"mesh", "log", "app"}

// TestSidecars_StartInLaunchOrder: a launch order of Kruise's, rendered to native sidecars, is the
// kubelet's order of starts, and in reverse of ends. An update of the application in
// place leaves the sidecars as they are; that of a sidecar recreates pods, as Kruise
// does with init containers.
func TestSidecars_StartInLaunchOrder(t *testing.T) {
	b := newBed(t)
	gone := make(chan *corev1.Pod, 8)
	over := b.following(t, func(what watch.EventType, p *corev1.Pod) {
		inOrder(t, p)
		if what == watch.Deleted {
			gone <- p
		}
	})
	defer over()
	b.rendered(t, orderedWeb)
	first := b.atRest(t, 2)
	b.call(t, "rollout", "run", "cloneset/web", "--image", "app="+b.image("2"), "--yes").Wants(t, 0, "completed after")
	second := b.atRest(t, 2)
	for name, old := range first {
		now := second[name]
		if now == nil || reported(now, "app").RestartCount != 1 || now.UID != old.UID {
			t.Fatalf("pod %s was not updated in place: %v", name, now)
		}
		for _, sidecar := range order[:2] {
			if reported(now, sidecar).ContainerID != reported(old, sidecar).ContainerID {
				t.Errorf("pod %s: %s restarted with the application", name, sidecar)
			}
		}
	}
	b.call(t, "rollout", "run", "cloneset/web", "--image", "log="+b.image("3"), "--yes").Wants(t, 0, "completed after")
	for range second {
		inReverse(t, <-gone)
	}
	for name, now := range b.atRest(t, 2) {
		if second[name] != nil || !b.runs(reported(now, "log"), "3") {
			t.Errorf("pod %s has the new sidecar: %+v", name, reported(now, "log"))
		}
	}
}

// inOrder checks, for a pod that has not restarted anything, that what runs is what
// comes first.
func inOrder(t *testing.T, p *corev1.Pod) {
	t.Helper()
	if p.DeletionTimestamp != nil {
		return
	}
	for i, name := range order[1:] {
		before, s := reported(p, order[i]), reported(p, name)
		if s.RestartCount > 0 || s.State.Running == nil {
			continue
		}
		if before.State.Running == nil || before.State.Running.StartedAt.After(s.State.Running.StartedAt.Time) {
			t.Errorf("pod %s: %s runs, and %s is %+v", p.Name, name, order[i], before.State)
		}
	}
}

// inReverse checks the end of a pod.
func inReverse(t *testing.T, p *corev1.Pod) {
	t.Helper()
	for i, name := range order[1:] {
		sooner, later := reported(p, name).State.Terminated, reported(p, order[i]).State.Terminated
		if sooner == nil || later == nil || !sooner.FinishedAt.Before(&later.FinishedAt) {
			t.Errorf("pod %s: %s ended with %+v, and then %s with %+v", p.Name, name, sooner, order[i], later)
		}
	}
}
