package apply_test

import (
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

// TestWatch_ReportsAFailureOfAnUnattendedRollout: the template was changed in the middle of a rollout
// that no process drives. Who watches sees why it halts, and that it ended.
func TestWatch_ReportsAFailureOfAnUnattendedRollout(t *testing.T) {
	b := newBed(t, cloneSet, simulate.DefaultOptions(), plan.Policy{Pull: plan.PullNever})
	must(t, b.Begin(t.Context(), b.ref, b.plan))
	s, err := b.Snapshot(b.ref)
	must(t, err)
	d := plan.Next(b.plan, s, b.Now())
	must(t, b.Record(t.Context(), b.ref, s.Version, d.Progress))
	must(t, b.Do(t.Context(), b.ref, d.Actions[0]))
	must(t, b.Apply(node(t, strings.ReplaceAll(cloneSet, "web:1", "web:3"))))
	began := b.Now()
	halts := 0
	res, err := apply.Watch(t.Context(), b, b.ref, b.plan, apply.Options{Until: began.Add(time.Hour), Emit: func(e event.Event) {
		if e.Type == event.Halted {
			halts++
		}
	}})
	must(t, err)
	if res.Outcome != event.Failed || !strings.Contains(res.Reason, "template") || halts != 1 {
		t.Errorf("ended as %s: %s, after %d halts", res.Outcome, res.Reason, halts)
	}
	if took := b.Now().Sub(began); took > time.Minute {
		t.Errorf("took %s", took)
	}
}

// TestWatchSpec_FollowsTheWorkloadAfterAnEarlierRollout: a rollout that was completed says nothing
// about a template, a partition or a pod that others have changed since. Who watches waits for
// every pod that the spec lets be updated.
func TestWatchSpec_FollowsTheWorkloadAfterAnEarlierRollout(t *testing.T) {
	two := strings.ReplaceAll(cloneSet, "web:1", "web:2")
	three := strings.ReplaceAll(cloneSet, "web:1", "web:3")
	held := func(doc, partition string) string {
		return strings.Replace(doc, "maxUnavailable: 2", "maxUnavailable: 2, partition: "+partition, 1)
	}
	for name, c := range map[string]struct {
		then    []string
		current bool
		images  map[string]int
	}{
		"nothing":                               {nil, true, map[string]int{"web:2": 6}},
		"another template":                      {[]string{three}, false, map[string]int{"web:3": 6}},
		"another template, held back":           {[]string{held(three, "4")}, false, map[string]int{"web:2": 4, "web:3": 2}},
		"another template, then let go":         {[]string{held(three, "4"), three}, false, map[string]int{"web:3": 6}},
		"another template, then held back more": {[]string{held(three, "4"), held(three, "2")}, false, map[string]int{"web:2": 2, "web:3": 4}},
		"more pods of the same":                 {[]string{strings.Replace(two, "replicas: 6", "replicas: 8", 1)}, false, map[string]int{"web:2": 8}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t, cloneSet, simulate.DefaultOptions(), plan.Policy{Pull: plan.PullNever})
			must(t, b.Begin(t.Context(), b.ref, b.plan))
			if res := b.run(t, t.Context(), b, apply.Options{}); res.Outcome != event.Completed {
				t.Fatalf("%s: %s", res.Outcome, res.Reason)
			}
			s, err := b.Snapshot(b.ref)
			must(t, err)
			rec := plan.Record{Ref: b.ref, Plan: b.plan, Begun: b.Now(), Progress: s.Progress}
			if rec.State() != plan.StateDone {
				t.Fatalf("the record is %s", rec.Describe())
			}
			for _, doc := range c.then {
				must(t, b.Apply(node(t, doc)))
			}
			s, err = b.Snapshot(b.ref)
			must(t, err)
			if got := rec.IsCurrent(s, b.Now()); got != c.current {
				t.Errorf("the record counts: %t, want %t", got, c.current)
			}
			res, err := apply.WatchSpec(t.Context(), b, b.ref, apply.Options{Until: b.Now().Add(time.Hour)})
			must(t, err)
			if got := b.images(t); res.Outcome != event.Completed || !maps.Equal(got, c.images) {
				t.Errorf("%s: %s; %v, want %v", res.Outcome, res.Reason, got, c.images)
			}
			if s, err = b.Snapshot(b.ref); err != nil || !s.Observed() {
				t.Errorf("it ended before the controller has seen the spec: %v", err)
			}
		})
	}
}

// TestWatchSpec_FailsAfterItsLimit: a pod that never becomes ready is waited for as long as a step of a rollout would,
// whatever else happens; the end names the step and the limit. Without a limit nothing but the caller's time ends it.
func TestWatchSpec_FailsAfterItsLimit(t *testing.T) {
	o := simulate.DefaultOptions()
	o.Agent.Override = func(p *cluster.Pod) simulate.Override {
		return simulate.Override{Unready: p.Containers[0].Image == "web:2"}
	}
	b := newBed(t, cloneSet, o, plan.Policy{Pull: plan.PullNever})
	must(t, b.Apply(node(t, strings.ReplaceAll(cloneSet, "web:1", "web:2"))))
	s, err := b.Snapshot(b.ref)
	must(t, err)
	// Six pods, two at a time: ten minutes, and one for each round.
	limit := plan.SpecTimeout(s, plan.Policy{})
	if want := 13 * time.Minute; limit != want {
		t.Errorf("the limit is %s, want %s", limit, want)
	}
	if own := plan.SpecTimeout(s, plan.Policy{Timeout: plan.Duration(time.Minute)}); own != time.Minute {
		t.Errorf("the limit is %s where a minute is given", own)
	}
	for name, c := range map[string]struct {
		limit, until, took time.Duration
		outcome            event.Outcome
		reason             string
	}{
		"a limit":         {4 * time.Minute, time.Hour, 4 * time.Minute, event.Failed, "step update is not done after 4m0s"},
		"a later limit":   {2 * time.Hour, time.Hour, time.Hour, event.TimedOut, ""},
		"no limit at all": {0, 3 * time.Hour, 3 * time.Hour, event.TimedOut, ""},
	} {
		t.Run(name, func(t *testing.T) {
			began := b.Now()
			res, err := apply.WatchSpec(t.Context(), b, b.ref, apply.Options{Until: began.Add(c.until), Limit: c.limit})
			must(t, err)
			if took := b.Now().Sub(began); res.Outcome != c.outcome || !strings.Contains(res.Reason, c.reason) || took != c.took {
				t.Errorf("%s after %s: %s, want %s after %s: %s", res.Outcome, took, res.Reason, c.outcome, c.took, c.reason)
			}
		})
	}
}

// TestWatchSpec_FollowsASpecThatChangesMeanwhile: the last spec counts, whichever was there when the
// watch began.
func TestWatchSpec_FollowsASpecThatChangesMeanwhile(t *testing.T) {
	b := newBed(t, cloneSet, simulate.DefaultOptions(), plan.Policy{Pull: plan.PullNever})
	must(t, b.Apply(node(t, strings.ReplaceAll(cloneSet, "web:1", "web:2"))))
	changed := false
	res, err := apply.WatchSpec(t.Context(), b, b.ref, apply.Options{Until: b.Now().Add(time.Hour), Emit: func(e event.Event) {
		if !changed && e.Type == event.Pods {
			changed = true
			must(t, b.Apply(node(t, strings.ReplaceAll(cloneSet, "web:1", "web:3"))))
		}
	}})
	must(t, err)
	if got := b.images(t); !changed || res.Outcome != event.Completed || got["web:3"] != 6 {
		t.Errorf("%s: %s; %v", res.Outcome, res.Reason, got)
	}
}
