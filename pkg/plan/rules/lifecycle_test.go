package rules

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// hook holds a pod by the label wait=yes and the finalizer a/b.
func hook() *kruise.LifecycleHook {
	return &kruise.LifecycleHook{LabelsHandler: map[string]string{"wait": "yes"}, FinalizersHandler: []string{"a/b"}}
}

// held makes a pod in a state that carries none, one or both parts of the hook.
func held(s LifecycleState, parts int) *cluster.Pod {
	p := pod("p1", "o")
	if s != StateNone {
		setState(p, s)
	}
	if parts > 0 {
		p.Labels["wait"] = "yes"
	}
	if parts > 1 {
		p.Finalizers = []string{"x/y", "a/b"}
	}
	return p
}

func TestHooked(t *testing.T) {
	for _, c := range []struct {
		name     string
		hook     *kruise.LifecycleHook
		parts    int
		any, all bool
	}{
		{"no hook", nil, 2, false, false},
		{"nothing", hook(), 0, false, false},
		{"one", hook(), 1, true, false},
		{"both", hook(), 2, true, true},
		{"an empty hook has all of nothing", &kruise.LifecycleHook{}, 0, false, true},
		{"other value", &kruise.LifecycleHook{LabelsHandler: map[string]string{"wait": "no"}}, 1, false, false},
		{"empty value needs the key", &kruise.LifecycleHook{LabelsHandler: map[string]string{"gone": ""}}, 2, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := held(StateNormal, c.parts)
			if got := Hooked(c.hook, p); got != c.any {
				t.Errorf("Hooked = %v", got)
			}
			if got := allHooked(c.hook, p); got != c.all {
				t.Errorf("AllHooked = %v", got)
			}
		})
	}
}

func TestStateToDelete(t *testing.T) {
	l := &kruise.Lifecycle{PreDelete: hook()}
	for _, c := range []struct {
		name   string
		l      *kruise.Lifecycle
		pod    *cluster.Pod
		to     LifecycleState
		remove bool
	}{
		{"no lifecycle", nil, held(StateNormal, 2), StateNormal, true},
		{"no such hook", &kruise.Lifecycle{InPlaceUpdate: hook()}, held(StateNormal, 2), StateNormal, true},
		{"held", l, held(StateNormal, 1), StatePreparingDelete, false},
		{"still held", l, held(StatePreparingDelete, 2), StatePreparingDelete, false},
		{"released", l, held(StatePreparingDelete, 0), StatePreparingDelete, true},
		{"never held", l, held(StateNormal, 0), StateNormal, true},
	} {
		if to, remove := StateToDelete(c.pod, c.l); to != c.to || remove != c.remove {
			t.Errorf("%s: %s, %v", c.name, to, remove)
		}
	}
}

func TestStateToUpdate(t *testing.T) {
	l := &kruise.Lifecycle{InPlaceUpdate: hook()}
	for _, c := range []struct {
		name string
		l    *kruise.Lifecycle
		pod  *cluster.Pod
		to   LifecycleState
		fail bool
	}{
		{"no lifecycle", nil, held(StateNormal, 0), StateUpdating, false},
		{"no state", nil, held(StateNone, 0), StateUpdating, false},
		{"held from the start", l, held(StateNone, 1), StatePreparingUpdate, false},
		{"held while PreparingNormal", l, held(StatePreparingNormal, 2), StatePreparingUpdate, false},
		{"held in Normal", l, held(StateNormal, 2), StatePreparingUpdate, false},
		{"not held in Normal", l, held(StateNormal, 0), StateUpdating, false},
		{"waits", l, held(StatePreparingUpdate, 1), StatePreparingUpdate, false},
		{"released", l, held(StatePreparingUpdate, 0), StateUpdating, false},
		{"again while Updating", l, held(StateUpdating, 1), StateUpdating, false},
		{"again after Updated", l, held(StateUpdated, 0), StatePreparingUpdate, false},
		{"again after Updated, hook gone", nil, held(StateUpdated, 0), StateUpdating, false},
		{"while it is deleted", l, held(StatePreparingDelete, 0), StatePreparingDelete, true},
		{"unknown", l, held("Odd", 0), "Odd", true},
	} {
		to, err := StateToUpdate(c.pod, c.l)
		if to != c.to || (err != nil) != c.fail {
			t.Errorf("%s: %s, %v", c.name, to, err)
		}
	}
}

func TestNextState(t *testing.T) {
	unscheduled := func(s LifecycleState) *cluster.Pod {
		p := held(s, 0)
		p.Conditions = []cluster.Condition{{Type: string(corev1.PodScheduled), Status: corev1.ConditionFalse}}
		return p
	}
	update := &kruise.Lifecycle{InPlaceUpdate: hook()}
	normal := &kruise.Lifecycle{PreNormal: hook()}
	other := &kruise.Lifecycle{PreDelete: hook()}
	for _, c := range []struct {
		name string
		pod  *cluster.Pod
		r    Refresh
		want LifecycleState
	}{
		{"created and scheduled", held(StatePreparingNormal, 0), Refresh{WaitForNode: true}, StateNormal},
		{"created, not scheduled", unscheduled(StatePreparingNormal), Refresh{WaitForNode: true}, StatePreparingNormal},
		{"a StatefulSet does not wait", unscheduled(StatePreparingNormal), Refresh{}, StateNormal},
		{"preNormal waits for both", held(StatePreparingNormal, 1), Refresh{Lifecycle: normal, WaitForNode: true}, StatePreparingNormal},
		{"preNormal complete", held(StatePreparingNormal, 2), Refresh{Lifecycle: normal, WaitForNode: true}, StateNormal},
		{"Updating goes on", held(StateUpdating, 0), Refresh{AtUpdate: true}, StateUpdating},
		{"Updating done", held(StateUpdating, 0), Refresh{AtUpdate: true, InPlaceDone: true}, StateNormal},
		{"done, hook to be put back", held(StateUpdating, 0), Refresh{Lifecycle: update, InPlaceDone: true}, StateUpdated},
		{"done, half put back", held(StateUpdating, 1), Refresh{Lifecycle: update, InPlaceDone: true}, StateUpdated},
		{"done, put back already", held(StateUpdating, 2), Refresh{Lifecycle: update, InPlaceDone: true}, StateNormal},
		{"done, other hooks only", held(StateUpdating, 0), Refresh{Lifecycle: other, InPlaceDone: true}, StateUpdated},
		{"Updated without hook", held(StateUpdated, 0), Refresh{Lifecycle: other}, StateNormal},
		{"Updated waits", held(StateUpdated, 1), Refresh{Lifecycle: update}, StateUpdated},
		{"Updated, all back", held(StateUpdated, 2), Refresh{Lifecycle: update}, StateNormal},
		{"template came back meanwhile", held(StatePreparingUpdate, 1), Refresh{Lifecycle: update, AtUpdate: true}, StateUpdated},
		{"template came back, still hooked", held(StatePreparingUpdate, 2), Refresh{Lifecycle: update, AtUpdate: true}, StateNormal},
		{"PreparingUpdate waits for the choice", held(StatePreparingUpdate, 0), Refresh{Lifecycle: update}, StatePreparingUpdate},
		{"Normal stays", held(StateNormal, 0), Refresh{AtUpdate: true, InPlaceDone: true}, StateNormal},
		{"PreparingDelete stays", held(StatePreparingDelete, 0), Refresh{}, StatePreparingDelete},
		{"none stays", held(StateNone, 0), Refresh{}, StateNone},
	} {
		if got := NextState(c.pod, c.r); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestMarksNotReady(t *testing.T) {
	marking := hook()
	marking.MarkPodNotReady = true
	both := &kruise.Lifecycle{InPlaceUpdate: marking, PreDelete: hook()}
	for _, c := range []struct {
		to   LifecycleState
		l    *kruise.Lifecycle
		want bool
	}{
		{StatePreparingUpdate, both, true},
		{StatePreparingDelete, both, false},
		{StateUpdating, both, false},
		{StatePreparingDelete, &kruise.Lifecycle{PreDelete: marking}, true},
		{StatePreparingUpdate, &kruise.Lifecycle{}, false},
		{StatePreparingUpdate, nil, false},
	} {
		if got := MarksNotReady(c.to, c.l); got != c.want {
			t.Errorf("MarksNotReady(%s) = %v", c.to, got)
		}
	}
}
