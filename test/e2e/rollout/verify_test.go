package rollout

import (
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// job is a batch/v1 Job whose pod ends with an exit code.
func job(code string) map[string]any {
	return map[string]any{
		"apiVersion": "batch/v1", "kind": "Job",
		"spec": map[string]any{
			"backoffLimit": int64(0),
			"template": map[string]any{
				"metadata": map[string]any{"annotations": map[string]any{"lab.test/run": "50ms", "lab.test/exit-code": code}},
				"spec": map[string]any{
					"restartPolicy": "Never",
					"containers":    []any{map[string]any{"name": "ask", "image": "registry.example.com/ask:1"}},
				},
			},
		},
	}
}

// TestVerify_JobDecidesTheRollout: a rollout continues or ends by the result of a Job; commands: internal/cli/rollout.
func TestVerify_JobDecidesTheRollout(t *testing.T) {
	for name, c := range map[string]struct {
		verify  plan.Verify
		outcome event.Outcome
		reason  string
	}{
		"a Job that succeeds": {plan.Verify{Job: job("0")}, event.Completed, ""},
		"a Job that fails":    {plan.Verify{Job: job("1")}, event.Failed, "failed: BackoffLimitExceeded"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t, kruiseKind("CloneSet", "clonesets", "updateStrategy: {rollingUpdate: {podUpdatePolicy: InPlaceIfPossible}}"))
			k := b.open(t)
			p := b.plan(t, k, plan.Policy{Steps: steps(t, "1"), Verify: []plan.Verify{c.verify}, Pull: plan.PullNever})
			res := b.run(t.Context(), t, k, p, apply.Options{})
			if res.Outcome != c.outcome || !strings.Contains(res.Reason, c.reason) {
				t.Errorf("%s: %s", res.Outcome, res.Reason)
			}
		})
	}
}
