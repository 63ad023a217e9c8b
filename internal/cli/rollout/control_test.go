package rollout

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout/session"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// recordOf is a rollout of ten pods at a step.
func recordOf(step int) plan.Record {
	return plan.Record{
		Plan: plan.Plan{Limits: plan.Limits{Replicas: 10}, Steps: []plan.Step{
			{Name: "update", Title: "write the template", Updated: 1},
			{Name: "pause-1", Title: "wait", Updated: 1},
			{Name: "step-50%", Title: "let 4 more follow", Updated: 5},
			{Name: "pause-50%", Title: "wait", Updated: 5},
			{Name: "step-100%", Title: "let 5 more follow", Updated: 10},
		}},
		Progress: plan.Progress{Step: step},
	}
}

func TestPromotionOf(t *testing.T) {
	for name, c := range map[string]struct {
		full bool
		to   string
		want string
		err  string
	}{
		"the present step":   {want: "promoted past step pause-1"},
		"all":                {full: true, want: "promoted: skips the pauses up to step step-100%"},
		"half":               {to: "50%", want: "promoted: skips the pauses up to step step-50%"},
		"pods":               {to: "3", want: "promoted: skips the pauses up to step step-50%"},
		"more than there is": {to: "100", want: "promoted: skips the pauses up to step step-100%"},
		"both":               {full: true, to: "1", err: "--full and --to exclude each other"},
		"no amount":          {to: "half", err: "--to: "},
	} {
		how, err := promotionOf(c.full, c.to)
		text := ""
		if err != nil {
			text = err.Error()
		}
		if !strings.HasPrefix(text, c.err) || (err == nil) != (c.err == "") {
			t.Errorf("%s: %v, want %q", name, err, c.err)
		}
		if err != nil {
			if _, ok := errors.AsType[*command.UsageError](err); !ok {
				t.Errorf("%s: %v is no error of usage", name, err)
			}
			continue
		}
		r, promote := recordOf(1), session.Action{Act: apply.Act{Transition: plan.TransitionPromote, How: how}}
		if r.Progress, err = promote.Apply(r.Progress, r.Plan, "ann", time.Now()); err != nil || promote.Said(r) != c.want {
			t.Errorf("%s: %q, %v; want %q", name, promote.Said(r), err, c.want)
		}
	}
}

func TestStatusError_FollowsTheDecision(t *testing.T) {
	o := &statusOptions{}
	for verb, fails := range map[plan.Verb]bool{plan.Halt: true, plan.Wait: false, plan.Act: false, plan.Done: false} {
		if err := o.errorOf(plan.Decision{Verb: verb}); (err != nil) != fails {
			t.Errorf("%s: %v", verb, err)
		}
	}
}
