package demo

import (
	"errors"
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// TestResume_RestartsTheStepTimeout checks that a step that was paused for an hour has its whole
// timeout after it is resumed or promoted.
func TestResume_RestartsTheStepTimeout(t *testing.T) {
	for _, verb := range []world.Verb{world.PauseResume, world.Promote} {
		c, err := Start(t.Context(), Options{Seed: 1, Now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)})
		if err != nil {
			t.Fatal(err)
		}
		search := cluster.Ref{Group: "apps.kruise.io", Kind: "CloneSet", Namespace: "shop", Name: "search"}
		do := func(verb world.Verb) plan.Record {
			if _, err := c.Do(t.Context(), world.Act{Verb: verb, On: []cluster.Ref{search}}); err != nil {
				t.Fatal(err)
			}
			rec, err := c.rollouts().Get(t.Context(), search)
			if err != nil {
				t.Fatal(err)
			}
			return rec
		}
		held := do(world.PauseResume)
		if held.State() != plan.StateHeld || held.Present().Kind == plan.StepPause {
			t.Fatalf("%+v", held.Progress)
		}
		if err := c.Advance(time.Hour); err != nil {
			t.Fatal(err)
		}
		if on := do(verb); on.State() != plan.StateRunning || on.Progress.Resumed.Sub(held.Progress.Started) < time.Hour {
			t.Errorf("%s: held %+v, then %+v", verb, held.Progress, on.Progress)
		}
	}
}

// TestRecords_ListRollouts lists the rollouts of the shop as those of a cluster.
func TestRecords_ListRollouts(t *testing.T) {
	c, err := Start(t.Context(), Options{Seed: 1, Now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)})
	if err != nil {
		t.Fatal(err)
	}
	r := c.rollouts()
	all, _, err := r.List(t.Context(), "")
	if err != nil || len(all) != len(rollouts) {
		t.Errorf("%d rollouts, %v; want %d", len(all), err, len(rollouts))
	}
	inShop, _, err := r.List(t.Context(), "shop")
	if err != nil || len(inShop) == 0 || len(inShop) >= len(all) {
		t.Errorf("%d of %d rollouts, %v", len(inShop), len(all), err)
	}
	none := cluster.Ref{Group: "apps.kruise.io", Kind: "CloneSet", Namespace: "shop", Name: "basket"}
	if _, err := r.Change(t.Context(), none, apply.Act{Transition: plan.TransitionPause}); !errors.Is(err, plan.ErrNoRollout) {
		t.Errorf("%v", err)
	}
	if by, err := r.Holder(t.Context(), none); by != "" || err != nil {
		t.Errorf("%q, %v", by, err)
	}
}
