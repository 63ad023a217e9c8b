package plan_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// TestTransitionBetween_NamesTheTransition: each transition by a user adds an entry of its name,
// and the executor adds one only when the rollout ends.
func TestTransitionBetween_NamesTheTransition(t *testing.T) {
	now := time.Date(2026, 11, 23, 3, 0, 0, 0, time.UTC)
	of := plan.Plan{Steps: []plan.Step{{Name: "pause-1", Kind: plan.StepPause}, {Name: "half", Kind: plan.StepPartition}, {Name: "rest", Kind: plan.StepPartition}}}
	running := plan.Progress{Step: 1, Started: now}
	held := plan.Progress{Step: 1, PausedBy: "by ann"}
	halted := plan.Progress{Step: 1, Failed: "a pod fails"}
	do := func(p plan.Progress, err error) plan.Progress {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	for name, c := range map[string]struct {
		before, after plan.Progress
		driven        bool
		want          string
	}{
		"promote":             {running, do(running.Promote(of, plan.Promotion{}, now)), false, "promote: step half"},
		"promote from a hold": {held, do(held.Promote(of, plan.Promotion{}, now)), false, "promote: step half"},
		"promote in full":     {running, do(running.Promote(of, plan.Promotion{Full: true}, now)), false, "promote: step half, and on to step 3 of 3"},
		"pause":               {running, do(running.Pause(of, "ann", now)), false, "pause: step half"},
		"resume":              {held, do(held.Resume(of, now)), false, "resume: step half"},
		"resume an orphan":    {running, do(running.Resume(of, now)), false, "resume: step half"},
		"retry":               {halted, do(halted.Retry(of, now)), false, "retry: step half"},
		"abort":               {running, do(running.Abort(of, "aborted by ann")), false, "abort: step half"},
		"halt":                {running, halted, true, "halt: a pod fails"},
		"finish":              {running, plan.Progress{Step: 3, Finished: now}, true, "finish: "},
		"a further step":      {running, plan.Progress{Step: 2, Started: now}, true, ": "},
		"a promoted step":     {do(running.Promote(of, plan.Promotion{}, now)), plan.Progress{Step: 2}, true, ": "},
		"nothing":             {running, running, false, ": "},
	} {
		what, detail := plan.TransitionBetween(c.before, c.after, of, c.driven)
		if got := what + ": " + detail; got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestAudit_IsBounded: however often a rollout is paused, its first entry and the newest
// are kept, and no text makes it large.
func TestAudit_IsBounded(t *testing.T) {
	var h plan.Audit
	for i := range 500 {
		h = h.With(plan.AuditEntry{By: "ann", What: "pause", Detail: fmt.Sprint(i) + " " + strings.Repeat("ü", 10_000)})
	}
	if len(h.Entries) != 50 || h.Dropped != 450 {
		t.Fatalf("%d kept, %d dropped", len(h.Entries), h.Dropped)
	}
	first, last := h.Entries[0].Detail, h.Entries[49].Detail
	if !strings.HasPrefix(first, "0 ") || !strings.HasPrefix(h.Entries[1].Detail, "451 ") || !strings.HasPrefix(last, "499 ") || len(last) > 210 {
		t.Errorf("%q, %q", first, last)
	}
}

// recorded is a rollout of three steps that has come to its second.
func recorded(begun time.Time) plan.Record {
	p := plan.Plan{
		Change: plan.Change{Fields: []rules.FieldChange{{Path: "spec.containers[0].image", Old: "web:1", New: "web:2"}, {Path: "spec.priority", Old: 1, New: 2}}},
		Steps:  []plan.Step{{Name: "update", Kind: plan.StepUpdate, Title: "1 of 4"}, {Name: "pause-1", Kind: plan.StepPause}, {Name: "step-100%", Kind: plan.StepPartition}},
	}
	r := plan.Record{Plan: p, Begun: begun, By: "ci@build", Progress: plan.Progress{Step: 1, Started: begun.Add(30 * time.Second)}}
	r.Times = map[string]time.Time{"update": begun, "pause-1": begun.Add(30 * time.Second)}
	what, detail := plan.BeginEntry(p)
	r.Audit = r.With(plan.AuditEntry{At: begun, By: "ci@build", What: what, Detail: detail})
	return r
}

// TestSummary_OfARecord: the stored summary of a rollout has who started it and decided, how long
// its steps took, and its result.
func TestSummary_OfARecord(t *testing.T) {
	begun := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	r := recorded(begun)
	p, err := r.Progress.Promote(r.Plan, plan.Promotion{}, begun.Add(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	r = r.Decide(p, "kim@desk", "kubectl-kruise 1", false, begun.Add(time.Minute))
	if got := r.Summary(); got.Result != plan.RolloutRunning || !got.Ended.IsZero() || got.By != "ci@build" || got.Change != "web:1 → web:2" {
		t.Errorf("%+v", got)
	}
	p.Step, p.Promoted, p.Started = 3, false, begun.Add(3*time.Minute)
	p.Finished = begun.Add(4 * time.Minute)
	r.Times["step-100%"] = begun.Add(time.Minute)
	r = r.Decide(p, "ci@build", "", true, begun.Add(4*time.Minute))
	got := r.Summary()
	if got.Result != plan.RolloutCompleted || got.Took(begun.Add(time.Hour)) != 4*time.Minute {
		t.Errorf("%s after %s", got.Result, got.Took(begun))
	}
	var steps []string
	for _, s := range got.Steps {
		steps = append(steps, fmt.Sprint(s.Name, " ", s.Took, " ", s.Done))
	}
	if diff := cmp.Diff([]string{"update 30s true", "pause-1 30s true", "step-100% 3m0s true"}, steps); diff != "" {
		t.Error(diff)
	}
	var who []string
	for _, d := range got.Decisions {
		who = append(who, d.What+" by "+d.By)
	}
	if diff := cmp.Diff([]string{"begin by ci@build", "promote by kim@desk", "finish by ci@build"}, who); diff != "" {
		t.Error(diff)
	}
}

// TestSummary_Results: aborted by a person is not failed, and both have an end.
func TestSummary_Results(t *testing.T) {
	begun := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	r := recorded(begun)
	p, err := r.Progress.Abort(r.Plan, "aborted by kim")
	if err != nil {
		t.Fatal(err)
	}
	aborted := r.Decide(p, "kim", "", false, begun.Add(time.Minute)).Summary()
	if aborted.Result != plan.RolloutAborted || aborted.Reason != "aborted by kim" || !aborted.Ended.Equal(begun.Add(time.Minute)) {
		t.Errorf("%+v", aborted)
	}
	p = r.Progress
	p.Failed = "crash web-1"
	failed := r.Decide(p, "ci", "", true, begun.Add(2*time.Minute)).Summary()
	if failed.Result != plan.RolloutFailed || !failed.Ended.Equal(begun.Add(2*time.Minute)) {
		t.Errorf("%+v", failed)
	}
}

// TestRemember_KeepsRecentRollouts: the last rollouts are kept, no more than ten of them, and decisions of one
// are not those of another.
func TestRemember_KeepsRecentRollouts(t *testing.T) {
	begun := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	r := recorded(begun)
	for i := range 30 {
		at := begun.Add(time.Duration(i+1) * time.Hour)
		next := recorded(at)
		next.Past = r.Remember(at)
		next.Audit = r.With(plan.AuditEntry{At: at, By: fmt.Sprint("ci-", i), What: "begin"})
		r = next
	}
	list := r.Rollouts()
	if len(list) != 11 || list[0].By != "ci-29" || list[1].By != "ci-28" || len(list[1].Decisions) != 1 {
		t.Errorf("%d: %+v", len(list), list[:2])
	}
	if list[1].Ended.IsZero() {
		t.Error("a rollout whose place another has taken goes on")
	}
}

// TestBounded_CutsLongTexts: whatever is written into a record, what is read of it is small, and in
// results that this version knows.
func TestBounded_CutsLongTexts(t *testing.T) {
	evil := plan.PastRollout{Result: "<script>", By: strings.Repeat("x", 1<<20), Left: -7}
	for range 5000 {
		evil.Steps = append(evil.Steps, plan.PastStep{Name: strings.Repeat("n", 1000), Took: -time.Hour})
		evil.Decisions = append(evil.Decisions, plan.AuditEntry{By: strings.Repeat("b", 1000)})
	}
	got := plan.Recent(make([]plan.PastRollout, 1000))
	if len(got) != 10 {
		t.Errorf("%d rollouts are kept", len(got))
	}
	one := evil.Bounded()
	text, err := json.Marshal(one)
	if err != nil || len(text) > 20<<10 {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	if one.Result != plan.RolloutUnknown || one.Left < 0 || one.Steps[0].Took != 0 {
		t.Errorf("%s %d %s", one.Result, one.Left, one.Steps[0].Took)
	}
	var back plan.PastRollout
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(one, back); diff != "" {
		t.Error(diff)
	}
}

// TestRecord_IsCurrent: a rollout that failed counts while the template is the one that it wrote or,
// before it wrote any, started from; one that failed since others changed the workload counts until
// a user ends it.
func TestRecord_IsCurrent(t *testing.T) {
	old, next, other := clones(""), strings.ReplaceAll(clones(""), "web:1", "web:2"), strings.ReplaceAll(clones(""), "web:1", "web:3")
	p := must(plan.Build(read(t, next), snapshot(t, old, 10), plan.Policy{Pull: plan.PullNever}))
	for name, c := range map[string]struct {
		progress plan.Progress
		live     string
		want     bool
	}{
		"in flight":                         {plan.Progress{Step: 1}, other, true},
		"paused":                            {plan.Progress{Step: 1, PausedBy: "by ann"}, other, true},
		"failed before it wrote":            {plan.Progress{Failed: "no"}, old, true},
		"failed before it wrote, other":     {plan.Progress{Failed: "no"}, other, false},
		"failed":                            {plan.Progress{Step: 1, Failed: "crash: no"}, next, true},
		"failed, and another":               {plan.Progress{Step: 1, Failed: "crash: no"}, other, false},
		"failed, and the old one again":     {plan.Progress{Step: 1, Failed: "crash: no"}, old, false},
		"failed by the change":              {plan.Progress{Step: 1, Failed: "template: template is a, not b"}, other, true},
		"failed by the change, and aborted": {plan.Progress{Step: 1, Failed: "template: template is a, not b", Aborted: true}, other, false},
		"aborted":                           {plan.Progress{Step: 1, Failed: "aborted by ann", Aborted: true}, next, true},
		"aborted, and another":              {plan.Progress{Step: 1, Failed: "aborted by ann", Aborted: true}, other, false},
		"completed, and another":            {plan.Progress{Step: len(p.Steps), Finished: noon}, other, false},
	} {
		r := plan.Record{Plan: p, Begun: noon, Progress: c.progress}
		if got := r.IsCurrent(snapshot(t, c.live, 10), noon); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
	if (plan.Record{}).IsCurrent(snapshot(t, old, 10), noon) {
		t.Error("no record counts")
	}
}

// TestRecord_IsDelivered: a record that says that a rollout is done proves nothing; what the workload has does.
func TestRecord_IsDelivered(t *testing.T) {
	old, next := clones(""), strings.ReplaceAll(clones(""), "web:1", "web:2")
	p := must(plan.Build(read(t, next), snapshot(t, old, 10), plan.Policy{Pull: plan.PullNever}))
	kept := must(plan.Build(read(t, next), snapshot(t, old, 10), plan.Policy{Pull: plan.PullNever, Steps: []plan.PolicyStep{{To: plan.Amount{Value: 4}}}}))
	partly := snapshot(t, next, 10)
	partly.Revisions = slices.Concat(snapshot(t, old, 10).Revisions, []cluster.Revision{{Name: "web-new", Number: 2, Template: partly.Workload.Template}})
	partly.Pods = append(pods(4, "new"), partly.Pods[4:]...)
	for name, c := range map[string]struct {
		plan plan.Plan
		live plan.Snapshot
		want bool
	}{
		"the template and all pods":   {p, snapshot(t, next, 10), true},
		"nothing was written":         {p, snapshot(t, old, 10), false},
		"pods have another template":  {p, partly, false},
		"as many as it keeps do":      {kept, partly, true},
		"the workload is gone":        {p, plan.Snapshot{}, false},
		"another template came since": {p, snapshot(t, strings.ReplaceAll(next, "web:2", "web:3"), 10), false},
	} {
		r := plan.Record{Plan: c.plan, Begun: noon, Progress: plan.Progress{Step: len(c.plan.Steps), Finished: noon}}
		if got := r.IsDelivered(c.live); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
}
