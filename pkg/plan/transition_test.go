package plan_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// tenPods is a rollout of ten pods in five steps.
func tenPods() plan.Plan {
	return plan.Plan{
		Target: plan.Target{APIVersion: "apps.kruise.io/v1beta1", Kind: "CloneSet", Namespace: "shop", Name: "web"},
		Limits: plan.Limits{Replicas: 10},
		Steps: []plan.Step{
			{Name: "update", Kind: plan.StepUpdate, Title: "write the template", Updated: 1, Patches: []plan.Patch{{}}, Timeout: plan.Duration(time.Minute)},
			{Name: "pause-1", Kind: plan.StepPause, Title: "wait", Updated: 1, Pause: &plan.Pause{}},
			{Name: "verify-1", Kind: plan.StepVerify, Title: "ask", Updated: 1, Verify: &plan.Verify{Command: []string{"true"}}},
			{Name: "step-50%", Kind: plan.StepPartition, Title: "let 4 more follow", Updated: 5, Patches: []plan.Patch{{}}},
			{Name: "pause-50%", Kind: plan.StepPause, Title: "wait", Updated: 5, Pause: &plan.Pause{}},
			{Name: "step-100%", Kind: plan.StepPartition, Title: "let 5 more follow", Updated: 10, Patches: []plan.Patch{{}}},
		},
	}
}

var (
	eleven = noon.Add(-time.Hour)
	// progresses are all ways to be in each state.
	progresses = map[string]struct {
		progress plan.Progress
		state    plan.State
		describe string
	}{
		"running":          {plan.Progress{Step: 2, Started: eleven}, plan.StateRunning, "progressing at step 3 of 6: ask"},
		"not started":      {plan.Progress{}, plan.StateRunning, "progressing at step 1 of 6: write the template"},
		"held":             {plan.Progress{Step: 2, Started: eleven, PausedBy: "by ann"}, plan.StateHeld, "paused at step 3 of 6 by ann"},
		"halted":           {plan.Progress{Step: 2, Started: eleven, Failed: "it crashed"}, plan.StateHalted, "failed at step 3 of 6: it crashed"},
		"held and halted":  {plan.Progress{Step: 2, Started: eleven, PausedBy: "by ann", Failed: "it crashed"}, plan.StateHalted, "failed at step 3 of 6: it crashed"},
		"done":             {plan.Progress{Step: 6, Started: eleven, Finished: noon}, plan.StateDone, "completed at 2026-07-01T12:00:00Z"},
		"at the end":       {plan.Progress{Step: 6, Started: eleven}, plan.StateDone, "completed"},
		"halted when done": {plan.Progress{Step: 6, Finished: noon, Failed: "aborted by ann"}, plan.StateHalted, "completed at 2026-07-01T12:00:00Z"},
		"of another plan":  {plan.Progress{Step: -7}, plan.StateRunning, "completed"},
	}
)

// refused are the answers of the table; a state that a transition does not name allows it.
var refused = map[plan.Transition]map[plan.State]string{
	plan.TransitionPromote:  {plan.StateHalted: "the rollout has failed: ", plan.StateDone: "the rollout is completed"},
	plan.TransitionPause:    {plan.StateHalted: "the rollout has failed: ", plan.StateDone: "the rollout is completed"},
	plan.TransitionResume:   {plan.StateHalted: "the rollout has failed: ", plan.StateDone: "the rollout is completed"},
	plan.TransitionRetry:    {plan.StateRunning: "the rollout has not failed", plan.StateHeld: "the rollout has not failed", plan.StateDone: "the rollout has not failed"},
	plan.TransitionAbort:    {plan.StateDone: "the rollout is completed"},
	plan.TransitionRollBack: {},
	plan.TransitionUndo:     {plan.StateRunning: "cloneset/web has a rollout already: ", plan.StateHeld: "cloneset/web has a rollout already: "},
	plan.TransitionBegin:    {plan.StateRunning: "cloneset/web has a rollout already: ", plan.StateHeld: "cloneset/web has a rollout already: "},
}

// hinted are the answers with a hint.
var hinted = []plan.State{plan.StateHalted}

// does are the transitions that are methods of a progress.
var does = map[plan.Transition]func(plan.Progress) (plan.Progress, error){
	plan.TransitionPromote:  func(p plan.Progress) (plan.Progress, error) { return p.Promote(tenPods(), plan.Promotion{}, noon) },
	plan.TransitionPause:    func(p plan.Progress) (plan.Progress, error) { return p.Pause(tenPods(), "ben", noon) },
	plan.TransitionResume:   func(p plan.Progress) (plan.Progress, error) { return p.Resume(tenPods(), noon) },
	plan.TransitionRetry:    func(p plan.Progress) (plan.Progress, error) { return p.Retry(tenPods(), noon) },
	plan.TransitionAbort:    func(p plan.Progress) (plan.Progress, error) { return p.Abort(tenPods(), "aborted by ben") },
	plan.TransitionRollBack: func(p plan.Progress) (plan.Progress, error) { return p.RollBack(tenPods(), "aborted by ben") },
}

// TestTransitions_FollowTheTable holds every transition in every state to the table: a refused one
// changes nothing and has a reason, and what is allowed leads to a state in which [plan.Next] does
// what the transition is for.
func TestTransitions_FollowTheTable(t *testing.T) {
	after := map[plan.Transition]map[plan.State]plan.State{
		plan.TransitionPromote:  {plan.StateRunning: plan.StateRunning, plan.StateHeld: plan.StateRunning},
		plan.TransitionPause:    {plan.StateRunning: plan.StateHeld, plan.StateHeld: plan.StateHeld},
		plan.TransitionResume:   {plan.StateRunning: plan.StateRunning, plan.StateHeld: plan.StateRunning},
		plan.TransitionAbort:    {plan.StateRunning: plan.StateHalted, plan.StateHeld: plan.StateHalted, plan.StateHalted: plan.StateHalted},
		plan.TransitionRollBack: {plan.StateRunning: plan.StateHalted, plan.StateHeld: plan.StateHalted, plan.StateHalted: plan.StateHalted, plan.StateDone: plan.StateDone},
	}
	seen := map[plan.State]bool{}
	for name, c := range progresses {
		p := c.progress
		state := p.State(tenPods())
		seen[state] = true
		if got := p.Describe(tenPods()); state != c.state || got != c.describe {
			t.Errorf("%s: %s, %q; want %s, %q", name, state, got, c.state, c.describe)
		}
		for _, tr := range plan.Transitions() {
			row, ok := refused[tr]
			if !ok {
				t.Fatalf("%s has no row", tr)
			}
			err := p.Allows(tr, tenPods())
			checkAnswer(t, name, tr, state, row[state], err)
			if do, ok := does[tr]; ok && name != "of another plan" {
				next, did := do(p)
				if (did == nil) != (err == nil) {
					t.Errorf("%s, %s: the table says %v, the method %v", name, tr, err, did)
				}
				if did != nil && next != p {
					t.Errorf("%s, %s: it was refused, and yet changes %+v", name, tr, next)
				}
				if want := after[tr][state]; did == nil && want != "" && next.State(tenPods()) != want {
					t.Errorf("%s, %s: leads to %s, want %s", name, tr, next.State(tenPods()), want)
				}
			}
		}
	}
	for _, s := range plan.States() {
		if !seen[s] {
			t.Errorf("no progress is %s", s)
		}
	}
	if err := (plan.Progress{}).Allows("dance", tenPods()); err == nil {
		t.Error("there is a transition that is not in the table")
	}
}

func checkAnswer(t *testing.T, name string, tr plan.Transition, state plan.State, want string, err error) {
	t.Helper()
	if want == "" {
		if err != nil {
			t.Errorf("%s, %s: %v", name, tr, err)
		}
		return
	}
	refusal, ok := errors.AsType[*plan.TransitionError](err)
	if !ok || refusal.Transition != tr || refusal.State != state || len(err.Error()) < len(want) || err.Error()[:len(want)] != want {
		t.Errorf("%s, %s: %v, want %q", name, tr, err, want)
		return
	}
	hint, ok := errors.AsType[*tree.Error](err)
	if !ok || hint.Msg != err.Error() || hint.Hint != refusal.Hint {
		t.Errorf("%s, %s: the hint is lost: %+v", name, tr, hint)
	}
	if want := slices.Contains(hinted, state) || tr == plan.TransitionBegin || tr == plan.TransitionUndo || tr == plan.TransitionAbort; (refusal.Hint != "") != want {
		t.Errorf("%s, %s: hint %q", name, tr, refusal.Hint)
	}
}

// TestTransitions_NeverPanic: a record that was written by hand is answered.
func TestTransitions_NeverPanic(t *testing.T) {
	for _, p := range []plan.Progress{{Step: -7}, {Step: 99}, {Step: -7, PausedBy: "by ann"}, {Step: -1, Failed: "x", FirstCountingPause: -3}} {
		for tr, do := range does {
			if next, err := do(p); err == nil {
				_ = next.Describe(tenPods())
			}
			_ = p.Allows(tr, plan.Plan{})
		}
	}
}

// TestPromote_PassesPauses: the current step is done, or pauses up to an amount are skipped; a
// pause by a user ends, and the time in it does not count for the step.
func TestPromote_PassesPauses(t *testing.T) {
	half, three, many := plan.Amount{Value: 50, Percent: true}, plan.Pods(3), plan.Pods(100)
	for name, c := range map[string]struct {
		step int
		how  plan.Promotion
		free int
	}{
		"the present step":                 {step: 1},
		"all":                              {step: 1, how: plan.Promotion{Full: true}, free: 6},
		"half":                             {step: 1, how: plan.Promotion{To: &half}, free: 4},
		"half, seen already":               {step: 4, how: plan.Promotion{To: &half}, free: 5},
		"pods":                             {step: 1, how: plan.Promotion{To: &three}, free: 4},
		"more than there is":               {step: 1, how: plan.Promotion{To: &many}, free: 6},
		"a step ahead":                     {step: 0, how: plan.Promotion{Past: 1}, free: 2},
		"a step that was passed meanwhile": {step: 3, how: plan.Promotion{Past: 1}, free: 2},
	} {
		for _, held := range []string{"", "by ann"} {
			got, err := plan.Progress{Step: c.step, Started: eleven, PausedBy: held}.Promote(tenPods(), c.how, noon)
			want := plan.Progress{Step: c.step, Started: eleven, FirstCountingPause: c.free, Promoted: c.free == 0}
			if held != "" {
				want.Resumed = noon
			}
			if err != nil || got != want {
				t.Errorf("%s: %+v, %v; want %+v", name, got, err, want)
			}
		}
	}
	for held, resumed := range map[string]time.Time{"": {}, "by ann": noon} {
		got, err := plan.Progress{Started: eleven, PausedBy: held}.Promote(tenPods(), plan.Promotion{Full: true}, noon)
		if err != nil || !got.Resumed.Equal(resumed) {
			t.Errorf("on hold %q: %+v, %v", held, got, err)
		}
	}
}

// TestResume_StartsTheTimeLimitAgain: the time of a step counts from when it is continued, but it is the
// same step: what it has asked for is not asked for again.
func TestResume_StartsTheTimeLimitAgain(t *testing.T) {
	for i, s := range tenPods().Steps {
		p := plan.Progress{Step: i, Started: eleven, Sent: 1, PausedBy: "by ann"}
		got, err := p.Resume(tenPods(), noon)
		if err != nil || got.PausedBy != "" || !got.Started.Equal(eleven) || got.Sent != 1 || !got.Resumed.Equal(noon) {
			t.Errorf("%s: %v, %+v", s.Name, err, got)
		}
		if taken := p.TakeOver(tenPods(), noon); taken.PausedBy != "by ann" || taken.Resumed != got.Resumed {
			t.Errorf("%s: who takes over does not resume: %+v", s.Name, taken)
		}
	}
}

func TestProgress_PauseRetryAbort(t *testing.T) {
	p := plan.Progress{Step: 2, Started: eleven, Sent: 1}
	held, err := p.Pause(tenPods(), "ben", noon)
	if err != nil || held.PausedBy != "by ben at 2026-07-01T12:00:00Z" {
		t.Errorf("%+v, %v", held, err)
	}
	aborted, err := held.Abort(tenPods(), "aborted by ben")
	if err != nil || aborted.Failed != "aborted by ben" {
		t.Errorf("%+v, %v", aborted, err)
	}
	if again, err := aborted.Abort(tenPods(), "aborted by carla"); err != nil || again != aborted {
		t.Errorf("the first reason is lost: %+v, %v", again, err)
	}
	retried, err := aborted.Retry(tenPods(), noon)
	want := held
	want.Started = noon
	if err != nil || retried != want {
		t.Errorf("%+v, %v; want %+v", retried, err, want)
	}
}

func TestToggle_ByState(t *testing.T) {
	for name, want := range map[string]plan.Transition{
		"running": plan.TransitionPause, "held": plan.TransitionResume, "halted": plan.TransitionRetry, "held and halted": plan.TransitionRetry,
	} {
		p := progresses[name].progress
		if got := p.Toggle(tenPods()); got != want || p.Allows(got, tenPods()) != nil {
			t.Errorf("%s: %s, %v", name, got, p.Allows(got, tenPods()))
		}
	}
}

// TestConsequenceOf_CountsUntilTheNextPause: a promotion updates what the steps up to the next
// pause update, and names images and revisions.
func TestConsequenceOf_CountsUntilTheNextPause(t *testing.T) {
	p := plan.Plan{
		Limits: plan.Limits{Replicas: 10},
		Change: plan.Change{FromRevision: "web-a", ToRevision: "web-b", Fields: []rules.FieldChange{
			{Path: "spec.containers[0].image", Old: "app:1", New: "app:2", Effect: rules.EffectImage},
			{Path: "metadata.labels.x", Old: "1", New: "2"},
		}},
		Steps: []plan.Step{
			{Name: "20%", Kind: plan.StepUpdate, Updated: 2},
			{Name: "pause-20%", Kind: plan.StepPause, Updated: 2},
			{Name: "50%", Kind: plan.StepPartition, Updated: 5},
			{Name: "pause-50%", Kind: plan.StepPause, Updated: 5},
			{Name: "100%", Kind: plan.StepPartition, Updated: 10},
		},
	}
	images := []plan.ImageChange{{"app:1", "app:2"}}
	for at, want := range map[int]plan.Consequence{
		1: {Step: "pause-20%", At: 2, Pods: 3, Updated: 5, Next: 5},
		3: {Step: "pause-50%", At: 4, Pods: 5, Updated: 10, Next: 10},
		9: {Step: "100%", At: 5, Pods: 0, Updated: 10, Next: 10},
	} {
		want.Transition, want.Steps, want.Total, want.From, want.To, want.Images = plan.TransitionPromote, 5, 10, "web-a", "web-b", images
		if diff := gocmp.Diff(want, plan.ConsequenceOf(plan.TransitionPromote, p, plan.Progress{Step: at})); diff != "" {
			t.Errorf("at step %d (-want +got):\n%s", at, diff)
		}
	}
	p.Steps = slices.Insert(p.Steps[:3:3], 3, plan.Step{Name: "75%", Kind: plan.StepPartition, Updated: 7}, plan.Step{Name: "100%", Kind: plan.StepPartition, Updated: 10})
	if c := plan.ConsequenceOf(plan.TransitionPromote, p, plan.Progress{Step: 1}); c.Next != 5 || c.Updated != 10 || c.Pods != 8 {
		t.Errorf("without a pause ahead: %+v", c)
	}
	if c := plan.ConsequenceOf(plan.TransitionAbort, p, plan.Progress{Step: 1}); c.Pods != 0 || c.Updated != 2 {
		t.Errorf("an abort changes pods: %+v", c)
	}
	if c := plan.ConsequenceOf(plan.TransitionRetry, plan.Plan{}, plan.Progress{}); c.Steps != 0 || c.Step != "" {
		t.Errorf("a plan without steps: %+v", c)
	}
}

// TestConsequenceOfPlan_CountsEachPodOnce: a pod that several steps touch changes once for people.
func TestConsequenceOfPlan_CountsEachPodOnce(t *testing.T) {
	p := plan.Plan{Steps: []plan.Step{
		{Pods: []plan.PodStep{{Name: "a"}, {Name: "b"}}, Updated: 2},
		{Pods: []plan.PodStep{{Name: "b"}, {Name: "c"}}, Updated: 3},
	}}
	if c := plan.ConsequenceOfPlan(p, plan.TransitionRollBack); c.Pods != 3 || c.Updated != 3 || c.Steps != 2 || c.Transition != plan.TransitionRollBack {
		t.Errorf("%+v", c)
	}
}

// TestFailureHint_IsTheSameEverywhere: what others wrote fails a rollout again, so that no hint names retry alone.
func TestFailureHint_IsTheSameEverywhere(t *testing.T) {
	of := tenPods()
	for reason, want := range map[string]string{
		"template: spec.template.x is 1, not 2": "'ABORT --rollback' rolls back; to roll out the template that was written instead: 'RUN -f FILE' with the manifest that has it",
		"partition: partition is 1, not 2":      "set the field back, then 'RETRY'; to roll back: 'ABORT --rollback'",
		"crash web-1: CrashLoopBackOff":         "fix the cause, then 'RETRY'; to roll back: 'ABORT --rollback'",
	} {
		for _, verb := range []string{"abort", "retry", "run"} {
			want = strings.ReplaceAll(want, strings.ToUpper(verb), of.Target.Command(verb))
		}
		halted := plan.Progress{Step: 1, Failed: reason}
		if got := of.FailureHint(reason, of.Target.Command); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
		refused, ok := errors.AsType[*plan.TransitionError](halted.Allows(plan.TransitionPromote, of))
		if !ok || refused.Hint != want {
			t.Errorf("promote: %+v\nwant %s", refused, want)
		}
		if s := halted.Status(of); strings.HasPrefix(reason, plan.GateTemplate) && s.Remedy != want {
			t.Errorf("status: %s\nwant %s", s.Remedy, want)
		}
	}
}
