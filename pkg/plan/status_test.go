package plan_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// statusPlan has a step of each sort that a rollout stops at.
func statusPlan() plan.Plan {
	return plan.Plan{
		Target: plan.Target{APIVersion: "apps.kruise.io/v1beta1", Kind: "CloneSet", Namespace: "shop", Name: "web"},
		Steps: []plan.Step{
			{Name: "update", Kind: plan.StepUpdate, Title: "update the template and 1 of 10 pods"},
			{Name: "pause-10%", Kind: plan.StepPause, Title: "wait for approval", Pause: &plan.Pause{}},
			{Name: "step-100%", Kind: plan.StepPartition, Title: "update 9 more pods: 10 of 10"},
		},
	}
}

// TestStatus_Sentences shows the status of a rollout in all its states side by side: the state of
// the record alone, what the pods add, and what to do.
func TestStatus_Sentences(t *testing.T) {
	const held = "by ann@laptop at 2026-07-01T12:00:00Z"
	crash := plan.Blocker{Gate: plan.GateCrash, Pod: "web-3", Why: "CrashLoopBackOff: container app, image web:2"}
	decide := func(v plan.Verb, step int, list ...plan.Blocker) plan.Decision {
		d := plan.Decision{Verb: v, Step: step, Blockers: list}
		if len(list) > 0 {
			d.Reason = list[0].String()
		}
		return d
	}
	act := decide(plan.Act, 0)
	act.Reason = "update the template and 1 of 10 pods"
	var table strings.Builder
	for _, c := range []struct {
		name     string
		progress plan.Progress
		decision plan.Decision
		back     string
	}{
		{"starting", plan.Progress{}, act, ""},
		{"updating", plan.Progress{}, decide(plan.Wait, 0, plan.Blocker{Gate: plan.GateUpdated, Why: "updatedAvailableReplicas is 0 of 1"}), ""},
		{"a controller behind", plan.Progress{Step: 2}, decide(plan.Wait, 2, plan.Blocker{Gate: plan.GateUpdated, Why: "expectedUpdatedReplicas is 10 of 5"}), ""},
		{"a pod that crashes", plan.Progress{Step: 2}, decide(plan.Wait, 2, crash), ""},
		{"at a pause of the plan", plan.Progress{Step: 1}, decide(plan.Wait, 1, plan.Blocker{Gate: plan.GatePromote, Why: "waiting for approval"}), ""},
		{"paused", plan.Progress{Step: 2, PausedBy: held}, decide(plan.Wait, 2, plan.Blocker{Gate: plan.GateHeld, Why: held}), ""},
		{"paused after the step", plan.Progress{PausedBy: held, PausedFrom: 1}, act, ""},
		{"failed", plan.Progress{Step: 2, Failed: crash.String()}, decide(plan.Halt, 2, crash), ""},
		{"failed before", plan.Progress{Step: 2, Failed: crash.String()}, plan.Decision{Verb: plan.Halt, Step: 2, Reason: crash.String()}, ""},
		{"aborted", plan.Progress{Step: 2, Failed: "aborted by ann@laptop", Aborted: true}, plan.Decision{Verb: plan.Halt, Step: 2, Reason: "aborted by ann@laptop"}, ""},
		{"completed", plan.Progress{Step: 3, Finished: time.Date(2026, 7, 1, 12, 30, 0, 0, time.UTC)}, decide(plan.Done, 3), ""},
		{"rolled back", plan.Progress{Step: 3, Finished: time.Date(2026, 7, 1, 12, 30, 0, 0, time.UTC)}, decide(plan.Done, 3), "CrashLoopBackOff: container app in pod web-3; image web:2"},
	} {
		of := statusPlan()
		of.RollbackReason = c.back
		s := plan.StatusOf(&of, c.progress, c.decision, true)
		fmt.Fprintf(&table, "%s\n  record  %s\n  status  %s\n", c.name, c.progress.Describe(of), s)
		if s.Remedy != "" {
			fmt.Fprintf(&table, "  remedy  %s\n", s.Remedy)
		}
		if without := plan.StatusOf(&of, c.progress, c.decision, false); without.Step != 0 || without.Remedy != "" {
			t.Errorf("%s: a workload without a rollout has a step or a remedy: %+v", c.name, without)
		}
	}
	want := `starting
  record  progressing at step 1 of 3: update the template and 1 of 10 pods
  status  progressing at step 1 of 3: update the template and 1 of 10 pods
updating
  record  progressing at step 1 of 3: update the template and 1 of 10 pods
  status  progressing at step 1 of 3: 0 of 1 updated pod is available
a controller behind
  record  progressing at step 3 of 3: update 9 more pods: 10 of 10
  status  progressing at step 3 of 3: Kruise still aims for 10 updated pods; this step wants 5
a pod that crashes
  record  progressing at step 3 of 3: update 9 more pods: 10 of 10
  status  progressing at step 3 of 3: CrashLoopBackOff: container app in pod web-3; image web:2
at a pause of the plan
  record  waiting for approval at step 2 of 3
  status  waiting for approval at step 2 of 3
  remedy  kubectl kruise rollout promote cloneset/web -n shop
paused
  record  paused at step 3 of 3 by ann@laptop at 2026-07-01T12:00:00Z
  status  paused at step 3 of 3 by ann@laptop at 2026-07-01T12:00:00Z
  remedy  kubectl kruise rollout resume cloneset/web -n shop
paused after the step
  record  progressing at step 1 of 3: update the template and 1 of 10 pods; paused after this step by ann@laptop at 2026-07-01T12:00:00Z
  status  progressing at step 1 of 3: update the template and 1 of 10 pods
failed
  record  failed at step 3 of 3: CrashLoopBackOff: container app in pod web-3; image web:2
  status  failed at step 3 of 3: CrashLoopBackOff: container app in pod web-3; image web:2
  remedy  kubectl kruise rollout retry cloneset/web -n shop
failed before
  record  failed at step 3 of 3: CrashLoopBackOff: container app in pod web-3; image web:2
  status  failed at step 3 of 3: CrashLoopBackOff: container app in pod web-3; image web:2
  remedy  kubectl kruise rollout retry cloneset/web -n shop
aborted
  record  aborted at step 3 of 3 by ann@laptop
  status  aborted at step 3 of 3 by ann@laptop
  remedy  'kubectl kruise rollout abort cloneset/web -n shop --rollback' rolls it back, 'kubectl kruise rollout retry cloneset/web -n shop' continues it
completed
  record  completed at 2026-07-01T12:30:00Z
  status  completed at 2026-07-01T12:30:00Z
rolled back
  record  rolled back: CrashLoopBackOff: container app in pod web-3; image web:2
  status  rolled back: CrashLoopBackOff: container app in pod web-3; image web:2
`
	if diff := cmp.Diff(want, table.String()); diff != "" {
		t.Error(diff)
	}
}

// TestInWords_HasNoGatesAndFields: reasons are sentences for users.
func TestInWords_HasNoGatesAndFields(t *testing.T) {
	for _, c := range []struct{ reason, want string }{
		{"promote: waiting for approval", "waiting for approval"},
		{"deadline: step a is not done after 5s; updated: updatedReplicas is 3 of 4", "step a is not done after 5s; 3 of 4 pods are updated"},
		{"crash web-1: CrashLoopBackOff: container app, image web:2", "CrashLoopBackOff: container app in pod web-1; image web:2"},
		{"aborted by ann@host", "aborted by ann@host"},
		{"", ""},
	} {
		if got := plan.InWords(c.reason); got != c.want {
			t.Errorf("%q: %q, want %q", c.reason, got, c.want)
		}
	}
}

// TestAuditEntry_SummaryHasWordsForAllTransitions: a history has no names of transitions.
func TestAuditEntry_SummaryHasWordsForAllTransitions(t *testing.T) {
	for _, tr := range plan.Transitions() {
		e := plan.AuditEntry{What: string(tr), By: "ann"}
		if got := e.Summary(); got == string(tr)+" by ann" || !strings.HasSuffix(got, " by ann") {
			t.Errorf("%s: %q", tr, got)
		}
	}
}

// TestParseBlocker_ReadsWhatStringWrites: a recorded reason keeps its gate and pod; any other
// text is kept whole.
func TestParseBlocker_ReadsWhatStringWrites(t *testing.T) {
	for _, b := range []plan.Blocker{
		{Gate: plan.GateCrash, Pod: "web-3", Why: "CrashLoopBackOff: container app, image web:2"},
		{Gate: plan.GateDeadline, Why: "step update is not done after 1m0s"},
		{Gate: plan.GateProgress, Why: "aborted by ann@laptop: enough"},
	} {
		if b.Gate == plan.GateProgress {
			if got := plan.ParseBlocker(b.Why); got != b {
				t.Errorf("%+v, want %+v", got, b)
			}
			continue
		}
		if got := plan.ParseBlocker(b.String()); got != b {
			t.Errorf("%+v, want %+v", got, b)
		}
	}
}
