package plan_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// TestUnproven tells what a record alone may have done from what changes what runs.
func TestUnproven(t *testing.T) {
	old := clones("")
	next := strings.ReplaceAll(old, "web:1", newer)
	before := snapshot(t, old, 10)
	p := must(plan.Build(read(t, next), before, plan.Policy{Steps: must(plan.ParseSteps("1,50%,100%")), OnFailure: plan.FailPause}))
	if got := outline(p); got != "pull 0/10:0, update 1/9:1, step-50% 5/5:4, step-100% 10/0:5" {
		t.Fatal(got)
	}
	// after is the cluster when the template is written and the record stands at a step.
	after := func(step int) plan.Snapshot {
		s := before
		s.Workload = must(p.Outcome(before.Workload))
		s.Progress = plan.Progress{Step: step}
		return s
	}
	at := func(step int) plan.Snapshot { s := before; s.Progress.Step = step; return s }
	edited := func(edit func(*plan.Plan)) plan.Plan {
		q := p
		q.Steps = slices.Clone(p.Steps)
		edit(&q)
		return q
	}
	evil := must(plan.Build(read(t, strings.ReplaceAll(old, "web:1", "evil:1")), before, plan.Policy{Steps: []plan.PolicyStep{{To: plan.All}}, Pull: plan.PullNever}))
	back := must(plan.Back(p, func() plan.Snapshot { s := after(2); s.Base = before.Workload.Template; return s }(), "it failed"))

	for name, c := range map[string]struct {
		p    plan.Plan
		s    plan.Snapshot
		want string
	}{
		"from the start":             {p, at(0), "step pull pulls the image web:2 to the nodes; step update writes the template or the strategy"},
		"the template is to come":    {p, at(1), "step update writes the template or the strategy"},
		"only partitions are left":   {p, after(2), ""},
		"done":                       {p, after(4), ""},
		"a step that there never is": {p, after(99), ""},
		"a step before the first":    {p, at(-5), "step pull pulls the image web:2 to the nodes; step update writes the template or the strategy"},
		"a plan for another image":   {evil, after(0), "step update writes the template or the strategy"},
		"a Job": {edited(func(q *plan.Plan) {
			q.Steps = append(q.Steps, plan.Step{Name: "v", Kind: plan.StepVerify, Verify: &plan.Verify{Job: map[string]any{"a": "b"}}})
		}), after(2), "step v creates a Job"},
		"a scale": {edited(func(q *plan.Plan) {
			q.Steps = append(q.Steps, plan.Step{Name: "s", Kind: plan.StepScale, Patches: []plan.Patch{{Type: plan.PatchMerge, Body: map[string]any{"spec": map[string]any{"replicas": 0}}}}})
		}), after(2), "step s changes the number of pods"},
		"another image pulled": {edited(func(q *plan.Plan) {
			q.Steps = append(q.Steps, plan.Step{Name: "x", Kind: plan.StepPullImages, Pull: &plan.Pull{Images: []string{newer, "miner:1"}}})
		}), after(2), "step x pulls the image miner:1 to the nodes"},
		"back to a kept revision": {back, after(0), ""},
		"back to no revision":     {back, func() plan.Snapshot { s := after(0); s.Revisions = nil; return s }(), "step update writes the template or the strategy"},
		"called a way back":       {func() plan.Plan { q := evil; q.RollsBack = "x"; return q }(), after(0), "step update writes the template or the strategy"},
		"goes back on failure":    {edited(func(q *plan.Plan) { q.Steps[3].OnFailure = plan.FailRollback }), after(2), ""},
		"goes back to what nobody kept": {
			edited(func(q *plan.Plan) { q.Steps[3].OnFailure = plan.FailRollback }),
			func() plan.Snapshot { s := after(2); s.Revisions = nil; return s }(), "a failed step goes back to a template that no revision of the workload has",
		},
	} {
		if got := strings.Join(c.p.Unproven(c.s), "; "); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if got := p.Unproven(plan.Snapshot{Workload: &cluster.Workload{}}); got != nil {
		t.Errorf("without an object: %q", got)
	}
}

// TestCommands_ListsWhatWouldRun names programs from the step on that the record stands at.
func TestCommands_ListsWhatWouldRun(t *testing.T) {
	p := plan.Plan{Steps: []plan.Step{
		{Name: "v1", Kind: plan.StepVerify, Verify: &plan.Verify{Command: []string{"sh", "-c", "true"}}},
		{Name: "v2", Kind: plan.StepVerify, Verify: &plan.Verify{URL: "https://x"}},
		{Name: "v3", Kind: plan.StepVerify, Verify: &plan.Verify{Command: []string{"curl", "x"}}},
	}}
	if got := p.Commands(-1); !slices.Equal(got, []string{"step v1: sh -c true", "step v3: curl x"}) {
		t.Errorf("%q", got)
	}
	if got := p.Commands(1); !slices.Equal(got, []string{"step v3: curl x"}) {
		t.Errorf("%q", got)
	}
}

// TestStricter: an edited record takes no more pods down at a time than the live object
// allows, and what is stricter on record stays.
func TestStricter(t *testing.T) {
	old := clones("")
	s := snapshot(t, old, 10)
	p := must(plan.Build(read(t, strings.ReplaceAll(old, "web:1", newer)), s, plan.Policy{}))
	live := p.Limits
	if live.MaxUnavailable != 2 {
		t.Fatalf("%+v", live)
	}
	for name, c := range map[string]struct{ record, want plan.Limits }{
		"as it was": {live, live},
		"wider":     {plan.Limits{Replicas: 10, MaxUnavailable: 10, MaxSurge: 7}, plan.Limits{Replicas: 10, MaxUnavailable: 2, MinReady: live.MinReady}},
		"stricter":  {plan.Limits{Replicas: 10, MaxUnavailable: 1, MinReady: time.Hour}, plan.Limits{Replicas: 10, MaxUnavailable: 1, MinReady: time.Hour}},
	} {
		q := p
		q.Limits = c.record
		if got := q.Stricter(s).Limits; got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
	// The client takes pods out of service, as the live template is made for.
	own, now := carried(t, plan.Policy{Steps: []plan.PolicyStep{{To: plan.All}}})
	if own.Drain != plan.DrainLabel {
		t.Fatalf("drains by %q", own.Drain)
	}
	edited := own
	edited.Drain, edited.Limits.MaxUnavailable = plan.DrainNone, 100
	if got := edited.Stricter(now); got.Drain != own.Drain || got.Limits != own.Limits {
		t.Errorf("%q, %+v, want %q, %+v", got.Drain, got.Limits, own.Drain, own.Limits)
	}
	pod := plan.Plan{Target: plan.Target{Kind: "Pod"}, Limits: plan.Limits{MaxUnavailable: 5}}
	if got := pod.Stricter(plan.Snapshot{}).Limits.MaxUnavailable; got != 1 {
		t.Error(got)
	}
}
