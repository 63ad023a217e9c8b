package kubelet

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// kruiseWeb is a workload of Kruise that updates in place: app is to change, other is
// to be left alone.
func kruiseWeb(kind, replicas, more, strategy string) string {
	return fmt.Sprintf(`
apiVersion: apps.kruise.io/v1beta1
kind: %s
metadata: {name: web}
spec:
  %s
  selector: {matchLabels: {app: web}}
  updateStrategy: {%s}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 1
      %s
      containers:
      - {name: app, image: "IMAGE:1", imagePullPolicy: IfNotPresent}
      - {name: other, image: "IMAGE:1", imagePullPolicy: IfNotPresent, args: [pause]}
`, kind, replicas, strategy, more)
}

// TestInPlace_RestartsOneContainer: a rollout of the driver client has the kubelet restart one container of
// each pod once, with the new image, which was pulled before; pods keep their identity.
func TestInPlace_RestartsOneContainer(t *testing.T) {
	t.Parallel()
	const gate = "readinessGates: [{conditionType: InPlaceUpdateReady}]"
	for _, w := range []struct {
		kind, document string
		pods           int
	}{
		{"cloneset", kruiseWeb("CloneSet", "replicas: 2", "", "rollingUpdate: {podUpdatePolicy: InPlaceIfPossible, maxUnavailable: 1}"), 2},
		{"asts", kruiseWeb("StatefulSet", "replicas: 2\n  serviceName: web", gate, "rollingUpdate: {podUpdatePolicy: InPlaceIfPossible, maxUnavailable: 1}"), 2},
		{"ads", kruiseWeb("DaemonSet", "", gate, "rollingUpdate: {rollingUpdateType: InPlaceIfPossible, maxUnavailable: 1}"), 1},
	} {
		t.Run(w.kind, func(t *testing.T) {
			b := newBed(t)
			b.rendered(t, w.document)
			before := b.atRest(t, w.pods)
			b.call(t, "rollout", "run", w.kind+"/web", "--image", "app="+b.image("2"), "--yes").Wants(t, 0, "completed after")
			after := b.atRest(t, w.pods)
			for name, old := range before {
				b.updatedInPlace(t, old, after[name])
			}
		})
	}
}

// updatedInPlace compares what the kubelet reports of a pod before and after.
func (b *bed) updatedInPlace(t *testing.T, old, now *corev1.Pod) {
	t.Helper()
	if now == nil || now.UID != old.UID || now.Status.PodIP != old.Status.PodIP {
		t.Errorf("pod %s, %s at %s, is another now: %v", old.Name, old.UID, old.Status.PodIP, now)
		return
	}
	was, app := reported(old, "app"), reported(now, "app")
	if app.RestartCount != 1 || app.ContainerID == was.ContainerID || app.LastTerminationState.Terminated == nil ||
		!b.runs(app, "2") {
		t.Errorf("pod %s: app is %+v, it was %+v", now.Name, app, was)
	}
	if was, other := reported(old, "other"), reported(now, "other"); other.ContainerID != was.ContainerID || other.RestartCount != 0 {
		t.Errorf("pod %s: other is %+v, it was %+v", now.Name, other, was)
	}
	b.awaitEvents(t, now.UID, "Killing", "Container app definition changed", 1)
	b.awaitEvents(t, now.UID, "Pulled", fmt.Sprintf("Container image %q already present", b.image("2")), 1)
}
