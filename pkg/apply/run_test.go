package apply_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
)

func TestRun_ReportsEveryEvent(t *testing.T) {
	b := newBed(t, cloneSet, simulate.DefaultOptions(), plan.Policy{Steps: steps(t, "1", "100%")})
	res := b.run(t, t.Context(), b, apply.Options{})
	if res.Outcome != event.Completed || b.images(t)["web:2"] != 6 {
		t.Fatalf("%s %s, %v", res.Outcome, res.Reason, b.images(t))
	}
	first, last := b.told[0], b.told[len(b.told)-1]
	if first.Type != event.Opened || len(first.Plan.Steps) != len(b.plan.Steps) || *first.Counts != (event.Counts{Desired: 6, Total: 6, Ready: 6}) {
		t.Errorf("the first: %+v", first)
	}
	if last.Type != event.Ended || last.Outcome != event.Completed || *last.Counts != (event.Counts{Desired: 6, Total: 6, Ready: 6, Updated: 6, UpdatedReady: 6}) {
		t.Errorf("the last: %+v", last)
	}
	var begun, done []string
	for _, e := range b.told {
		switch e.Type {
		case event.StepBegun:
			begun = append(begun, e.StepName)
		case event.StepDone:
			done = append(done, e.StepName)
		}
		if e.Workload.Name != "web" {
			t.Fatalf("whose event is this? %+v", e)
		}
	}
	var want []string
	for _, s := range b.plan.Steps {
		want = append(want, s.Name)
	}
	if fmt.Sprint(begun) != fmt.Sprint(want) || fmt.Sprint(done) != fmt.Sprint(want) {
		t.Errorf("begun %v, done %v, want %v", begun, done, want)
	}
}

// TestRun_EndsAfterTheGivenStep ends before the step after the last that is allowed, and writes nothing
// of it; another run continues from there.
func TestRun_EndsAfterTheGivenStep(t *testing.T) {
	b := newBed(t, cloneSet, simulate.DefaultOptions(), plan.Policy{Steps: steps(t, "1", "3", "100%"), Pull: plan.PullNever})
	for _, c := range []struct {
		through, updated int
		outcome          event.Outcome
	}{{0, 1, event.AtPause}, {0, 1, event.AtPause}, {1, 3, event.AtPause}, {9, 6, event.Completed}} {
		res := b.run(t, t.Context(), b, apply.Options{Through: &c.through})
		if res.Outcome != c.outcome || b.images(t)["web:2"] != c.updated {
			t.Fatalf("through step %d: %s %s, %v", c.through, res.Outcome, res.Reason, b.images(t))
		}
	}
}

// TestRun_DriverClientUpdatesPodByPod is the driver client, where every pod is an action.
func TestRun_DriverClientUpdatesPodByPod(t *testing.T) {
	b := newBed(t, replicaSet, simulate.DefaultOptions(), plan.Policy{Driver: plan.DriverClient, Grace: plan.Duration(time.Second)})
	res := b.run(t, t.Context(), b, apply.Options{})
	if res.Outcome != event.Completed || b.images(t)["web:2"] != 4 {
		t.Errorf("%s %s, %v", res.Outcome, res.Reason, b.images(t))
	}
}

func TestRun_PausesAndContinues(t *testing.T) {
	b := newBed(t, cloneSet, simulate.DefaultOptions(), plan.Policy{Steps: steps(t, "2+pause", "100%")})
	if res := b.run(t, t.Context(), b, apply.Options{AtPause: true}); res.Outcome != event.AtPause || b.images(t)["web:2"] != 2 {
		t.Fatalf("%s %s, %v", res.Outcome, res.Reason, b.images(t))
	}
	must(t, b.Promote(b.ref, b.plan))
	if res := b.run(t, t.Context(), b, apply.Options{AtPause: true}); res.Outcome != event.Completed || b.images(t)["web:2"] != 6 {
		t.Errorf("%s %s, %v", res.Outcome, res.Reason, b.images(t))
	}
	if first := b.told[0]; first.Plan.At == 0 {
		t.Errorf("the second run begins at the first step: %+v", first)
	}
}

func TestRun_FailsOrRollsBack(t *testing.T) {
	for _, c := range []struct {
		onFailure plan.OnFailure
		outcome   event.Outcome
		old       int
		told      event.Type
	}{
		{plan.FailPause, event.Failed, 4, event.Halted},
		{plan.FailAbort, event.Failed, 4, event.Halted},
		{plan.FailRollback, event.RolledBack, 6, event.RollingBack},
	} {
		t.Run(string(c.onFailure), func(t *testing.T) {
			o := simulate.DefaultOptions()
			o.Agent.Override = func(p *cluster.Pod) simulate.Override {
				return simulate.Override{Unready: p.Containers[0].Image == "web:2"}
			}
			b := newBed(t, cloneSet, o, plan.Policy{Steps: steps(t, "2", "100%"), OnFailure: c.onFailure, Timeout: plan.Duration(5 * time.Minute)})
			res := b.run(t, t.Context(), b, apply.Options{})
			if res.Outcome != c.outcome || b.images(t)["web:1"] != c.old || !strings.Contains(res.Reason, "is not done after 5m") {
				t.Errorf("%s %s, %v", res.Outcome, res.Reason, b.images(t))
			}
			if !strings.Contains(b.types(), string(c.told)) {
				t.Errorf("told: %s", b.types())
			}
		})
	}
}

// TestRun_RollsBackToTheFormerPartition: once all pods are rolled back, the partition is the one before the rollout.
func TestRun_RollsBackToTheFormerPartition(t *testing.T) {
	o := simulate.DefaultOptions()
	o.Agent.Override = func(p *cluster.Pod) simulate.Override {
		return simulate.Override{Unready: p.Containers[0].Image == "web:2"}
	}
	canary := strings.Replace(cloneSet, "podUpdatePolicy: InPlaceIfPossible", "podUpdatePolicy: InPlaceIfPossible, partition: 1", 1)
	if canary == cloneSet {
		t.Fatal("the workload has another strategy")
	}
	b := newBed(t, canary, o, plan.Policy{Steps: steps(t, "2", "100%"), OnFailure: plan.FailRollback, Timeout: plan.Duration(5 * time.Minute)})
	res := b.run(t, t.Context(), b, apply.Options{})
	s, err := b.Observe(t.Context(), b.ref)
	must(t, err)
	if got := plan.PartitionOf(s.Workload); res.Outcome != event.RolledBack || b.images(t)["web:1"] != 6 || got != "1" {
		t.Errorf("%s %s, %v, partition %s", res.Outcome, res.Reason, b.images(t), got)
	}
}

// TestRun_LeavesASubsetToItsUnitedDeployment: a subset that fails is not rolled back by itself, and the reason is that of
// the failure.
func TestRun_LeavesASubsetToItsUnitedDeployment(t *testing.T) {
	o := simulate.DefaultOptions()
	o.Agent.Override = func(p *cluster.Pod) simulate.Override {
		return simulate.Override{Unready: p.Containers[0].Image == "web:2"}
	}
	owned := strings.Replace(cloneSet, "namespace: shop}", "namespace: shop, ownerReferences: [{apiVersion: apps.kruise.io/v1beta1, kind: UnitedDeployment, name: zones, uid: u, controller: true}]}", 1)
	b := newBed(t, owned, o, plan.Policy{Steps: steps(t, "2", "100%"), OnFailure: plan.FailRollback, Timeout: plan.Duration(5 * time.Minute)})
	res := b.run(t, t.Context(), b, apply.Options{})
	if res.Outcome != event.Failed || strings.Contains(res.Reason, "rolled back") || b.images(t)["web:2"] == 0 {
		t.Errorf("%s %s, %v", res.Outcome, res.Reason, b.images(t))
	}
}

// TestRun_EndsForReasonsOutsideOfTheRollout: what ends a run, apart from the rollout.
func TestRun_EndsForReasonsOutsideOfTheRollout(t *testing.T) {
	taken, cancelTaken := context.WithCancelCause(context.Background())
	defer cancelTaken(nil)
	stopped, cancel := context.WithCancel(context.Background())
	defer cancel()
	for name, c := range map[string]struct {
		ctx     context.Context
		do      func(a plan.Action) error
		o       apply.Options
		outcome event.Outcome
		reason  string
	}{
		"interrupted": {ctx: stopped, do: func(plan.Action) error { cancel(); return nil }, outcome: event.Interrupted},
		"lease lost": {ctx: taken, do: func(plan.Action) error {
			cancelTaken(fmt.Errorf("%w: bob", plan.ErrOtherExecutor))
			return nil
		}, outcome: event.TakenOver, reason: "bob"},
		"taken":         {do: func(plan.Action) error { return plan.ErrOtherExecutor }, outcome: event.TakenOver},
		"late":          {o: apply.Options{Until: start.Add(3 * time.Second)}, outcome: event.TimedOut, reason: "updated"},
		"forbidden":     {do: func(plan.Action) error { return errors.New("you may not") }, outcome: event.Failed, reason: "you may not"},
		"undone always": {do: func(plan.Action) error { return errLost }, outcome: event.Failed, reason: "undone again and again"},
	} {
		t.Run(name, func(t *testing.T) {
			o := simulate.DefaultOptions()
			o.Start = start
			b := newBed(t, cloneSet, o, plan.Policy{Steps: steps(t, "100%"), Pull: plan.PullNever})
			ctx := c.ctx
			if ctx == nil {
				ctx = t.Context()
			}
			c.o.Until = laterStart(c.o.Until, b.Now())
			res := b.run(t, ctx, &hindered{World: b.World, do: c.do}, c.o)
			if res.Outcome != c.outcome || !strings.Contains(res.Reason, c.reason) {
				t.Errorf("%s %s", res.Outcome, res.Reason)
			}
			if last := b.told[len(b.told)-1]; last.Type != event.Ended || last.Outcome != c.outcome {
				t.Errorf("the last event: %+v", last)
			}
		})
	}
}

var start = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

// laterStart moves a time of the test to the time of the world's clock.
func laterStart(until, now time.Time) time.Time {
	if until.IsZero() {
		return until
	}
	return now.Add(until.Sub(start))
}

// errLost is an action that is carried out without any effect.
var errLost = errors.New("lost")

// hindered is a world whose answers to writes are not its own.
type hindered struct {
	*simulate.World
	do func(plan.Action) error
	// sent counts the actions that were carried out, by what they wrote.
	sent map[string]int
}

func (h *hindered) Do(ctx context.Context, ref cluster.Ref, a plan.Action) error {
	if h.do != nil {
		switch err := h.do(a); {
		case errors.Is(err, errLost):
			return nil
		case err != nil:
			return err
		}
	}
	err := h.World.Do(ctx, ref, a)
	if err == nil && h.sent != nil && a.Patch != nil {
		h.sent[a.Step]++
	}
	return err
}

// TestRun_RetriesRefusedWrites: a write that is turned down again and again was never
// undone: the rollout waits.
func TestRun_RetriesRefusedWrites(t *testing.T) {
	for name, refusal := range map[string]error{"budget": plan.ErrRefused, "server": plan.ErrUnavailable, "conflict": plan.ErrConflict} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t, cloneSet, simulate.DefaultOptions(), plan.Policy{Pull: plan.PullNever})
			left := 14
			c := &hindered{World: b.World, do: func(plan.Action) error {
				if left--; left > 0 {
					return fmt.Errorf("not now: %w", refusal)
				}
				return nil
			}}
			if res := b.run(t, t.Context(), c, apply.Options{}); res.Outcome != event.Completed || left > 0 {
				t.Errorf("%s: %s, %d refusals left", res.Outcome, res.Reason, left)
			}
		})
	}
}

// TestRun_MissingObjectIsTheReason: where the object is gone the record is, too, and the reason
// is the object.
func TestRun_MissingObjectIsTheReason(t *testing.T) {
	b := newBed(t, cloneSet, simulate.DefaultOptions(), plan.Policy{Steps: steps(t, "1+pause", "100%"), Pull: plan.PullNever})
	b.run(t, t.Context(), b, apply.Options{AtPause: true})
	if res := b.run(t, t.Context(), &gone{b.World}, apply.Options{}); res.Outcome != event.Failed || res.Reason != "object: the object is gone" {
		t.Errorf("%s: %s", res.Outcome, res.Reason)
	}
}

// gone is a world without the workload.
type gone struct{ *simulate.World }

func (g *gone) Observe(ctx context.Context, ref cluster.Ref) (plan.Snapshot, error) {
	s, err := g.World.Observe(ctx, ref)
	s.Workload = nil
	return s, err
}

func (g *gone) Record(context.Context, cluster.Ref, string, plan.Progress) error {
	return fmt.Errorf("the record: %w", plan.ErrNotFound)
}

// TestRun_RecordsAFailure: an error that no look would find stays with the rollout.
func TestRun_RecordsAFailure(t *testing.T) {
	b := newBed(t, cloneSet, simulate.DefaultOptions(), plan.Policy{Pull: plan.PullNever})
	c := &hindered{World: b.World, do: func(plan.Action) error { return errors.New("you may not") }}
	b.run(t, t.Context(), c, apply.Options{})
	s, err := b.Snapshot(b.ref)
	must(t, err)
	if s.Progress.Failed != "you may not" {
		t.Errorf("%+v", s.Progress)
	}
	if res := b.run(t, t.Context(), b, apply.Options{}); res.Outcome != event.Failed || res.Reason != "you may not" {
		t.Errorf("a later run: %+v", res)
	}
}

// TestRun_RandomHistoriesReachTheEnd kills runs at random moments and has writes turned down at random.
// Every history ends with the planned state, and no patch is sent twice.
func TestRun_RandomHistoriesReachTheEnd(t *testing.T) {
	for seed := range uint64(60) {
		chance := newChance(seed)
		driver, doc := plan.DriverKruise, cloneSet
		if seed%2 == 1 {
			driver, doc = plan.DriverClient, replicaSet
		}
		b := newBed(t, doc, simulate.DefaultOptions(), plan.Policy{Driver: driver, Steps: steps(t, "1", "50%", "100%")})
		sent := map[string]int{}
		kills := 0
		for n := 0; ; n++ {
			ctx, cancel := context.WithCancel(t.Context())
			c := &hindered{World: b.World, sent: sent, do: func(plan.Action) error { return chance.answer(cancel) }}
			res := b.run(t, ctx, c, apply.Options{Emit: func(event.Event) { chance.kill(cancel) }})
			cancel()
			if res.Outcome == event.Completed {
				break
			}
			kills++
			if res.Outcome != event.Interrupted || n > 500 {
				t.Fatalf("seed %d: %s %s after %d kills", seed, res.Outcome, res.Reason, kills)
			}
		}
		if got := b.images(t); got["web:1"] != 0 {
			t.Errorf("seed %d: %v", seed, got)
		}
		for _, s := range b.plan.Steps {
			if sent[s.Name] != len(s.Patches) {
				t.Errorf("seed %d: step %s was sent %d times, it has %d patches (%d kills)", seed, s.Name, sent[s.Name], len(s.Patches), kills)
			}
		}
		maps.DeleteFunc(sent, func(step string, _ int) bool { return hasStep(b.plan, step) })
		if len(sent) > 0 {
			t.Errorf("seed %d: steps of no plan: %v", seed, sent)
		}
	}
}

func hasStep(p plan.Plan, name string) bool {
	for _, s := range p.Steps {
		if s.Name == name {
			return true
		}
	}
	return false
}
