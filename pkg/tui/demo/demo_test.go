package demo_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/demo"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func open(t *testing.T) *demo.Cluster {
	t.Helper()
	c, err := demo.Start(t.Context(), demo.Options{Seed: 1, Now: noon})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func look(t *testing.T, c *demo.Cluster, want world.Want) *world.World {
	t.Helper()
	w, err := c.Await(t.Context(), 0, want)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func named(w *world.World, name string) *world.Workload {
	for _, row := range w.Workloads {
		if row.Name == name {
			return row
		}
	}
	return &world.Workload{}
}

// until lets time go by until a workload has a health.
func until(t *testing.T, c *demo.Cluster, name string, h world.Health) *world.Workload {
	t.Helper()
	for range 600 {
		if row := named(look(t, c, world.Want{}), name); row.Health == h {
			return row
		}
		if err := c.Advance(time.Second); err != nil {
			t.Fatal(err)
		}
	}
	row := named(look(t, c, world.Want{}), name)
	t.Fatalf("%s is %v after ten minutes, not %v: %s", name, row.Health, h, row.Why)
	return nil
}

// TestStart_HasEveryState: what the demo promises is there at the first look, or soon.
func TestStart_HasEveryState(t *testing.T) {
	c := open(t)
	for _, row := range look(t, c, world.Want{}).Workloads {
		t.Logf("%-12s %-10s %v %d/%d %s", row.Health, row.Name, row.Pods, row.Step, row.Steps, row.Why)
	}
	if row := until(t, c, "storefront", world.Paused); !strings.Contains(row.Why, "waiting for approval") {
		t.Errorf("storefront: %s", row.Why)
	}
	if row := until(t, c, "checkout", world.Blocked); !strings.Contains(row.Why, "Crash") {
		t.Errorf("checkout: %s", row.Why)
	}
	if row := until(t, c, "mesh", world.Healthy); row.Pods.UpdatedReady != 10 {
		t.Errorf("mesh: %+v", row)
	}
}

func of(name string) cluster.Ref {
	return cluster.Ref{Group: "apps.kruise.io", Kind: "CloneSet", Namespace: "shop", Name: name}
}

func do(t *testing.T, c *demo.Cluster, act world.Act) {
	t.Helper()
	if effect, err := c.Effect(context.Background(), act); err != nil || len(effect.Changes) != len(act.On) {
		t.Fatalf("%s: %v, %v", act.Verb, effect, err)
	}
	if said, err := c.Do(context.Background(), act); err != nil || said == "" {
		t.Fatalf("%s: %q, %v", act.Verb, said, err)
	}
}

// TestActions_Succeed: every key works with no cluster.
func TestActions_Succeed(t *testing.T) {
	c := open(t)
	until(t, c, "storefront", world.Paused)
	do(t, c, world.Act{Verb: world.Promote, On: []cluster.Ref{of("storefront")}})
	until(t, c, "storefront", world.Healthy)

	until(t, c, "checkout", world.Blocked)
	do(t, c, world.Act{Verb: world.Undo, On: []cluster.Ref{of("checkout")}})
	until(t, c, "checkout", world.Healthy)

	do(t, c, world.Act{Verb: world.PauseResume, On: []cluster.Ref{of("search")}})
	until(t, c, "search", world.Paused)
	do(t, c, world.Act{Verb: world.PauseResume, On: []cluster.Ref{of("search")}})
	until(t, c, "search", world.Progressing)
	do(t, c, world.Act{Verb: world.Abort, On: []cluster.Ref{of("search")}})
	until(t, c, "search", world.Aborted)

	do(t, c, world.Act{Verb: world.Scale, On: []cluster.Ref{of("basket")}, Value: "4"})
	for range 60 {
		if err := c.Advance(time.Second); err != nil {
			t.Fatal(err)
		}
	}
	if row := named(look(t, c, world.Want{}), "basket"); row.Pods.Total != 4 {
		t.Errorf("%+v", row)
	}
	do(t, c, world.Act{Verb: world.Restart, On: []cluster.Ref{of("basket")}, Containers: []string{"app"}})
	until(t, c, "basket", world.Progressing)
	until(t, c, "basket", world.Healthy)
	if _, err := c.Do(t.Context(), world.Act{Verb: world.Promote, On: []cluster.Ref{of("basket"), {Kind: "CloneSet", Name: "none"}}}); err == nil {
		t.Error("what is not there was promoted")
	}
}

// TestPromote_RefusesAFailedRollout checks that the demo uses the table of transitions.
func TestPromote_RefusesAFailedRollout(t *testing.T) {
	c := open(t)
	until(t, c, "checkout", world.Blocked)
	act := world.Act{Verb: world.Promote, On: []cluster.Ref{of("checkout")}}
	if _, err := c.Do(t.Context(), act); err == nil || !strings.Contains(err.Error(), "the rollout has failed: Crash") {
		t.Errorf("%v", err)
	}
	do(t, c, world.Act{Verb: world.Abort, On: act.On})
	if why := look(t, c, world.Want{Workload: of("checkout")}).Detail.Snapshot.Progress.Failed; !strings.HasPrefix(why, "crash") {
		t.Errorf("that it was aborted hides why it has failed: %s", why)
	}
}

// TestStart_SameSeedTellsTheSameStory: two shops of a seed are the same after the same time.
func TestStart_SameSeedTellsTheSameStory(t *testing.T) {
	tell := func() string {
		c := open(t)
		for range 40 {
			if err := c.Advance(time.Second); err != nil {
				t.Fatal(err)
			}
		}
		text, err := c.Describe(t.Context(), of("search"))
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	if a, b := tell(), tell(); a != b {
		t.Errorf("%s\n---\n%s", a, b)
	}
}

// clock is the time at which a pause ends.
var clock = regexp.MustCompile(`at \d\d:\d\d:\d\d,`)

// TestSameSeedSameStory_WhateverTheClock: when the shop is opened and in which portions time
// goes by changes nothing of what happens.
func TestSameSeedSameStory_WhateverTheClock(t *testing.T) {
	tell := func(now time.Time, portion time.Duration) []string {
		c, err := demo.Start(t.Context(), demo.Options{Seed: 1, Now: now})
		if err != nil {
			t.Fatal(err)
		}
		var story []string
		for at := portion; at <= 90*time.Second; at += portion {
			if err := c.Advance(portion); err != nil {
				t.Fatal(err)
			}
			if at%(3*time.Second) != 0 {
				continue
			}
			w, err := c.Await(t.Context(), 0, world.Want{})
			if err != nil {
				t.Fatal(err)
			}
			for _, row := range w.Workloads {
				why := clock.ReplaceAllString(row.Why, "at a time,")
				story = append(story, fmt.Sprintf("%s %s %s %d/%d %d %s %s", at, row.Ref, row.Health, row.Pods.Updated, row.Pods.Desired, row.Pods.Ready, row.StepName, why))
			}
		}
		return story
	}
	want := tell(noon, time.Second)
	for name, got := range map[string][]string{
		"opened later":      tell(noon.Add(31*time.Hour+17*time.Minute+4*time.Second+734567891), time.Second),
		"in small portions": tell(noon.Add(999*time.Millisecond), 100*time.Millisecond),
		"three times":       tell(noon.Add(123456789), 300*time.Millisecond),
	} {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

// TestStartWith_AddsALargeWorkload checks that the large workload has the requested number of pods,
// and that its rollout progresses.
func TestStartWith_AddsALargeWorkload(t *testing.T) {
	c, err := demo.Start(t.Context(), demo.Options{Seed: 1, Now: noon, Pods: 300})
	if err != nil {
		t.Fatal(err)
	}
	before := named(look(t, c, world.Want{}), "catalog")
	if before == nil || before.Pods.Desired != 300 || before.Pods.Updated == 0 {
		t.Fatalf("%+v", before)
	}
	if err := c.Advance(20 * time.Second); err != nil {
		t.Fatal(err)
	}
	if after := named(look(t, c, world.Want{}), "catalog"); after.Pods.Updated <= before.Pods.Updated {
		t.Errorf("%d of %d pods are updated, as before", after.Pods.Updated, after.Pods.Total)
	}
}

// TestRollouts_StayRecorded checks that an ended rollout keeps its steps, times and decisions, also
// when another one follows.
func TestRollouts_StayRecorded(t *testing.T) {
	c := open(t)
	ref := of("search")
	if err := c.Advance(10 * time.Minute); err != nil {
		t.Fatal(err)
	}
	d := look(t, c, world.Want{Workload: ref}).Detail
	if len(d.Rollouts) != 1 || d.Rollouts[0].Result != plan.RolloutCompleted || d.Rollouts[0].By != "ci@demo" {
		t.Fatalf("%+v", d.Rollouts)
	}
	for _, s := range d.Rollouts[0].Steps {
		if !s.Done || s.Begun.IsZero() {
			t.Errorf("%+v", s)
		}
	}
	if d.Rollouts[0].Took(noon) <= 0 || !strings.Contains(d.Rollouts[0].Change, "search:11 → ") {
		t.Errorf("%+v", d.Rollouts[0])
	}
	if _, err := c.Do(t.Context(), world.Act{Verb: world.Undo, On: []cluster.Ref{ref}}); err != nil {
		t.Fatal(err)
	}
	if err := c.Advance(10 * time.Minute); err != nil {
		t.Fatal(err)
	}
	d = look(t, c, world.Want{Workload: ref}).Detail
	if len(d.Rollouts) != 2 || d.Rollouts[0].Result != plan.RolloutRolledBack || d.Rollouts[1].Result != plan.RolloutCompleted {
		t.Errorf("%+v", d.Rollouts)
	}
}
