package plan_test

import (
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// TestHeld: nothing is written while somebody holds the rollout, whatever is due.
func TestHeld(t *testing.T) {
	desired, s := crowd(t, podJSON(5))
	p := must(plan.Build(desired, s, plan.Policy{Pull: plan.PullNever}))
	if d := plan.Next(p, s, noon); d.Verb != plan.Act {
		t.Fatalf("%+v", d)
	}
	s.Progress.Held = "by ann"
	d := plan.Next(p, s, noon)
	if d.Verb != plan.Wait || d.Reason != "held: by ann" || len(d.Actions) > 0 || d.Progress != s.Progress {
		t.Errorf("%+v", d)
	}
	s.Progress.Halted = "crash"
	if d := plan.Next(p, s, noon); d.Verb != plan.Halt {
		t.Errorf("a hold hides a halt: %+v", d)
	}
}

// TestFree: pauses before a step can be promoted in advance, those after it count.
func TestFree(t *testing.T) {
	p := plan.Plan{Steps: []plan.Step{
		{Name: "a", Kind: plan.StepPause, Pause: &plan.Pause{}},
		{Name: "b", Kind: plan.StepPause, Pause: &plan.Pause{For: time.Hour}},
		{Name: "c", Kind: plan.StepPause, Pause: &plan.Pause{}},
	}}
	_, s := crowd(t, podJSON(1))
	p.Change.ToHash = "x"
	for free, at := range map[int]int{0: 0, 1: 1, 2: 2} {
		s.Progress = plan.Progress{Free: free}
		if d := plan.Next(p, s, noon); d.Verb != plan.Wait || d.Step != at || d.Progress.Free != free {
			t.Errorf("free up to %d: %+v", free, d)
		}
	}
	s.Progress = plan.Progress{Free: 3}
	if d := plan.Next(p, s, noon); d.Verb != plan.Done {
		t.Errorf("%+v", d)
	}
}

// TestBack: the way back is a plan to the old template, which a stored revision or
// the record of the rollout has.
func TestBack(t *testing.T) {
	desired, s := crowd(t, podJSON(5))
	p := must(plan.Build(desired, s, plan.Policy{}))
	old := s.Workload.Template
	half := s
	half.Workload = desired
	half.Workload.UID = s.Workload.UID
	back := must(plan.Back(p, half, "because"))
	if back.Change.ToHash != p.Change.FromHash || back.Change.FromHash != p.Change.ToHash || len(back.Steps) == 0 || back.RollsBack != "because" {
		t.Errorf("%+v", back.Change)
	}
	half.Revisions = nil
	if _, err := plan.Back(p, half, "because"); err == nil {
		t.Error("a way back to nowhere")
	}
	half.Base = old
	if again := must(plan.Back(p, half, "because")); again.Change.ToHash != p.Change.FromHash {
		t.Errorf("%+v", again.Change)
	}
}

func TestCount(t *testing.T) {
	desired, s := crowd(t, podJSON(5))
	p := must(plan.Build(desired, s, plan.Policy{}))
	if got, want := plan.Count(p, s), (plan.Tally{Desired: 5, Total: 5, Ready: 5}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	next := *desired
	next.UID = s.Workload.UID
	s.Workload = &next
	clone(&s).Status.UpdateRevision, clone(&s).Status.ObservedGeneration = "web-new", next.Generation
	gone := *s.Pods[4]
	gone.Deleting = true
	s.Pods[4] = &gone
	updatedPod(&s, 0)
	s.Pods[1].Labels["controller-revision-hash"] = "web-new"
	if got, want := plan.Count(p, s), (plan.Tally{Desired: 5, Total: 4, Ready: 3, Updated: 2, UpdatedReady: 1}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
