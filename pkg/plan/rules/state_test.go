package rules

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

func TestClasses(t *testing.T) {
	for _, c := range []struct {
		name                     string
		edit                     func(*cluster.Pod)
		minReady                 time.Duration
		active, ready, available bool
	}{
		{"plain", func(*cluster.Pod) {}, 0, true, true, true},
		{"terminating", func(p *cluster.Pod) { p.Deleting = true }, 0, false, true, true},
		{"succeeded", func(p *cluster.Pod) { p.Phase = corev1.PodSucceeded }, 0, false, false, false},
		{"failed", func(p *cluster.Pod) { p.Phase = corev1.PodFailed }, 0, false, false, false},
		{"pending", func(p *cluster.Pod) { p.Phase = corev1.PodPending }, 0, true, false, false},
		{"not ready", func(p *cluster.Pod) { setReady(p, false, t0) }, 0, true, false, false},
		{"no conditions", func(p *cluster.Pod) { p.Conditions = nil }, 0, true, false, false},
		{"held by an in-place update", func(p *cluster.Pod) {
			p.Conditions = append(p.Conditions, cluster.Condition{Type: kruise.InPlaceUpdateReady, Status: corev1.ConditionFalse})
		}, 0, true, false, false},
		{"in-place update done", func(p *cluster.Pod) {
			p.Conditions = append(p.Conditions, cluster.Condition{Type: kruise.InPlaceUpdateReady, Status: corev1.ConditionTrue})
		}, 0, true, true, true},
		{"Normal", func(p *cluster.Pod) { setState(p, StateNormal) }, 0, true, true, true},
		{"Updating", func(p *cluster.Pod) { setState(p, StateUpdating) }, 0, true, true, false},
		{"Updated", func(p *cluster.Pod) { setState(p, StateUpdated) }, 0, true, true, false},
		{"PreparingNormal", func(p *cluster.Pod) { setState(p, StatePreparingNormal) }, 0, true, true, false},
		{"PreparingDelete", func(p *cluster.Pod) { setState(p, StatePreparingDelete) }, 0, true, true, false},
		{"unknown state", func(p *cluster.Pod) { setState(p, "Odd") }, 0, true, true, false},
		{"ready long enough", func(p *cluster.Pod) { setReady(p, true, now.Add(-11*time.Second)) }, 10 * time.Second, true, true, true},
		{"ready just so long", func(p *cluster.Pod) { setReady(p, true, now.Add(-10*time.Second)) }, 10 * time.Second, true, true, false},
		{"ready too short", func(p *cluster.Pod) { setReady(p, true, now.Add(-9*time.Second)) }, 10 * time.Second, true, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := pod("p1", "o")
			c.edit(p)
			if got := Active(p); got != c.active {
				t.Errorf("Active = %v", got)
			}
			if got := Ready(p); got != c.ready {
				t.Errorf("Ready = %v", got)
			}
			if got := Available(p, c.minReady, now); got != c.available {
				t.Errorf("Available = %v", got)
			}
		})
	}
}

func TestSpecifiedDelete(t *testing.T) {
	p := pod("p1", "o")
	if SpecifiedDelete(p) {
		t.Error("an unmarked pod is marked")
	}
	for _, v := range []string{"true", "false", ""} {
		p.Labels[kruise.SpecifiedDeleteLabel] = v
		if !SpecifiedDelete(p) {
			t.Errorf("value %q does not mark", v)
		}
	}
}

func TestAtRevision(t *testing.T) {
	for _, c := range []struct {
		label, revision string
		want            bool
	}{
		{"web-7c9f", "web-7c9f", true},
		{"7c9f", "web-7c9f", true},
		{"web-7c9f", "7c9f", true},
		{"web-7c9f", "web-8d11", false},
		{"", "web-8d11", false},
	} {
		p := &cluster.Pod{Labels: map[string]string{cluster.RevisionLabel: c.label}}
		if got := AtRevision(p, c.revision); got != c.want {
			t.Errorf("AtRevision(%q, %q) = %v", c.label, c.revision, got)
		}
	}
}
