package controller

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

func TestHoldNotReadyIsTakenBackByTheLast(t *testing.T) {
	p := &cluster.Pod{ReadinessGates: []string{kruise.KruisePodReady}}
	hold := func(change cluster.PodChange) { p = p.With(change, p.Created) }
	status := func() corev1.ConditionStatus {
		c, _ := p.Condition(kruise.KruisePodReady)
		return c.Status
	}
	hold(HoldNotReady(p, "ContainerRecreateRequest", "ns/a"))
	hold(HoldNotReady(p, "ContainerRecreateRequest", "ns/b"))
	if c := HoldNotReady(p, "ContainerRecreateRequest", "ns/b"); len(c.Conditions) > 0 {
		t.Errorf("held twice by the same: %+v", c)
	}
	hold(LetReady(p, "ContainerRecreateRequest", "ns/a"))
	if status() != corev1.ConditionFalse {
		t.Errorf("let go although b still holds it: %s", status())
	}
	hold(LetReady(p, "ContainerRecreateRequest", "ns/b"))
	if status() != corev1.ConditionTrue {
		t.Errorf("still held: %s", status())
	}
	if c := HoldNotReady(&cluster.Pod{}, "ContainerRecreateRequest", "ns/a"); len(c.Conditions) > 0 {
		t.Errorf("a pod without the gate: %+v", c)
	}
}

func TestDaemonTolerationsAreACopy(t *testing.T) {
	list := DaemonTolerations()
	list[0].Key = "changed"
	if DaemonTolerations()[0].Key == "changed" {
		t.Error("the list can be changed from outside")
	}
}

func TestRevisionDataIsWhatReadRevisionReads(t *testing.T) {
	const want = `{"spec":{"template":{"$patch":"replace","metadata":{"creationTimestamp":null,"labels":{"app":"web"}},"spec":{"containers":[]}}}}`
	template := map[string]any{"metadata": map[string]any{"labels": map[string]any{"app": "web"}}, "spec": map[string]any{"containers": []any{}}}
	if got := string(RevisionData(template)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
