package kubelet

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

const deployedWeb = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 1
      containers:
      - {name: app, image: "IMAGE:4", imagePullPolicy: IfNotPresent}
      - {name: other, image: "IMAGE:4", imagePullPolicy: IfNotPresent, args: [pause]}
`

// TestRestart_ByAliasPullsNothing uses an image that no other test has: containerd names an image by
// any repository that has its digest, and an alias must be in the pod's own.
//
// A restart inside the pods, again and again: the kubelet starts the
// container again from the same image under another name, pulls nothing, and leaves the
// rest of the pod as it is.
func TestRestart_ByAliasPullsNothing(t *testing.T) {
	b := newBed(t)
	b.Apply(t, b.namespace, b.documents(deployedWeb))
	before := b.atRest(t, 2)
	for _, restart := range []struct {
		args       string
		app, other int32
	}{
		{"restart deployment/web --yes -c app", 1, 0},
		{"restart deployment/web --yes -c app", 2, 0},
		{"rollout restart deployment/web --yes --in-place", 3, 1},
	} {
		b.call(t, strings.Fields(restart.args)...).Wants(t, 0, "image-alias", "completed after")
		after := b.atRest(t, 2)
		for name, old := range before {
			restartedInPlace(t, old, after[name], map[string]int32{"app": restart.app, "other": restart.other})
		}
	}
	for _, p := range before {
		b.awaitEvents(t, p.UID, "Killing", "Container app definition changed", 3)
	}
}

// restartedInPlace compares what the kubelet reports of a pod before anything restarted
// and now, when its containers have restarted so often.
func restartedInPlace(t *testing.T, old, now *corev1.Pod, times map[string]int32) {
	t.Helper()
	if now == nil || now.UID != old.UID || now.Status.PodIP != old.Status.PodIP {
		t.Errorf("pod %s, %s at %s, is another now: %v", old.Name, old.UID, old.Status.PodIP, now)
		return
	}
	for name, want := range times {
		was, is := reported(old, name), reported(now, name)
		if is.RestartCount != want || (is.ContainerID == was.ContainerID) != (want == 0) || is.ImageID != was.ImageID {
			t.Errorf("pod %s: %s, to have restarted %d times, is %+v, it was %+v", now.Name, name, want, is, was)
		}
	}
}
