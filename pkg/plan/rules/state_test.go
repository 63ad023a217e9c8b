package rules

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

func TestPod_ActiveReadyAvailable(t *testing.T) {
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

func stored(t *testing.T) []cluster.Revision {
	t.Helper()
	var out []cluster.Revision
	for i, image := range []string{"web:1", "web:2", "web:3"} {
		out = append(out, cluster.Revision{
			Name: "web-" + itoa(i+1), Number: int64(i + 1),
			Template: template(t, strings.Replace(baseTemplate, "web:1", image, 1)),
		})
	}
	return out
}

func TestFindRevision(t *testing.T) {
	list := stored(t)
	for _, c := range []struct{ name, from, to, want string }{
		{"the first", "", "", "web-1"},
		{"the third", "web:1", "web:3", "web-3"},
		{"a new image", "web:1", "web:4", ""},
		{"a label makes a new one", "tier: front", "tier: back", ""},
		{"an annotation makes a new one", "team: a", "team: b", ""},
		{"a null makes none", "  creationTimestamp: null\n", "  uid: null\n", "web-1"},
	} {
		got, ok := FindRevision(list, template(t, strings.Replace(baseTemplate, c.from, c.to, 1)))
		if got.Name != c.want || ok != (c.want != "") {
			t.Errorf("%s: %q, %v", c.name, got.Name, ok)
		}
	}
	list[0].Number = 4
	list = append(list, cluster.Revision{Name: "web-0", Number: 2, Template: list[0].Template})
	if got, _ := FindRevision(list, list[0].Template); got.Name != "web-1" {
		t.Errorf("of two alike: %s, want the newest", got.Name)
	}
}

func TestNextRevisionNumber(t *testing.T) {
	if got := NextRevisionNumber(nil); got != 1 {
		t.Errorf("the first is %d", got)
	}
	list := stored(t)
	list[0].Number = 9
	if got := NextRevisionNumber(list); got != 10 {
		t.Errorf("after 9 comes %d", got)
	}
}

func TestCloneSet_Current(t *testing.T) {
	for _, c := range []struct {
		name                     string
		current                  string
		updated, total, replicas int
		want                     string
	}{
		{"missing", "", 0, 3, 3, "n"},
		{"under way", "o", 2, 3, 3, "o"},
		{"all updated", "o", 3, 3, 3, "n"},
		{"surge left", "o", 4, 4, 3, "o"},
		{"one missing", "o", 2, 2, 3, "o"},
		{"scaled to zero", "o", 0, 0, 0, "n"},
	} {
		if got := CloneSetCurrent(c.current, "n", c.updated, c.total, c.replicas); got != c.want {
			t.Errorf("%s: %s", c.name, got)
		}
	}
}

// TestSameTemplate_EmptyRevisionEqualsNone: a revision that holds no template is like no other.
func TestSameTemplate_EmptyRevisionEqualsNone(t *testing.T) {
	some := map[string]any{"spec": map[string]any{"a": 1}}
	if SameTemplate(nil, some) || SameTemplate(some, nil) || !SameTemplate(nil, nil) {
		t.Error("nothing is compared wrongly")
	}
}
