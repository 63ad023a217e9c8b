package screen_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
)

func TestTag(t *testing.T) {
	for image, want := range map[string]string{
		"registry.example.com:5000/web/app:4.8.0": "4.8.0", "registry.example.com:5000/web/app": "app",
		"app@sha256:0123456789abcdef": "0123456789ab", "a@sha256:1": "1", "": "",
	} {
		if got := draw.Tag(image); got != want {
			t.Errorf("%s: %s", image, got)
		}
	}
}

func TestDigest(t *testing.T) {
	for id, want := range map[string]string{
		"docker-pullable://app@sha256:0123456789abcdef": "0123456789ab", "sha256:1": "1", "app:1": "app:1", "": "",
	} {
		if got := draw.Digest(id); got != want {
			t.Errorf("%s: %s", id, got)
		}
	}
}

func TestContainer(t *testing.T) {
	now := time.Date(2026, 3, 1, 3, 0, 0, 0, time.UTC)
	ready := &cluster.Pod{Conditions: []cluster.Condition{{Type: "Ready", Status: corev1.ConditionTrue, Since: now.Add(-3 * time.Minute)}}}
	for want, c := range map[string]struct {
		pod *cluster.Pod
		c   cluster.Container
	}{
		"terminating":                   {&cluster.Pod{Deleting: true}, cluster.Container{Ready: true}},
		"starting":                      {ready, cluster.Container{Waiting: "ContainerCreating"}},
		"CrashLoopBackOff, 4 restarts":  {ready, cluster.Container{Waiting: "CrashLoopBackOff", Restarts: 4}},
		"not started yet":               {ready, cluster.Container{}},
		"still runs 1":                  {ready, cluster.Container{Reported: true, Image: "app:2", StatusImage: "app:1"}},
		"running, not ready, 1 restart": {ready, cluster.Container{Reported: true, Restarts: 1}},
		"ready 3m":                      {ready, cluster.Container{Reported: true, Ready: true}},
	} {
		if got, _ := screen.Container(now, c.pod, c.c); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
