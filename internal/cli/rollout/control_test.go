package rollout

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

func TestAsk(t *testing.T) {
	for name, c := range map[string]struct {
		yes, terminal bool
		answer        string
		want          string
		usage         bool
	}{
		"--yes":            {yes: true},
		"yes":              {terminal: true, answer: "Yes\n"},
		"y":                {terminal: true, answer: " y \n"},
		"no":               {terminal: true, answer: "n\n", want: "nothing was changed"},
		"only return":      {terminal: true, answer: "\n", want: "nothing was changed"},
		"the end of file":  {terminal: true, want: "nothing was changed"},
		"a yes at its end": {terminal: true, answer: "y"},
		"no terminal":      {want: "cannot ask for confirmation: stdin is not a terminal", usage: true},
	} {
		t.Run(name, func(t *testing.T) {
			d := driven(&bytes.Buffer{}, false, nil)
			d.factory.Streams.In, d.factory.Streams.InTTY = strings.NewReader(c.answer), c.terminal
			err := d.ask(t.Context(), c.yes, "Go?")
			var bad *command.UsageError
			if textIn(err) != c.want || errors.As(err, &bad) != c.usage {
				t.Errorf("%v, want %q", err, c.want)
			}
			asked := d.factory.Streams.Err.(*bytes.Buffer).String()
			if want := c.terminal && !c.yes; (strings.TrimSpace(asked) == "Go? [y/N]") != want {
				t.Errorf("asked %q", asked)
			}
		})
	}
}

// TestAsk_IsInterrupted: Ctrl-C at a question ends the wait for an answer.
func TestAsk_IsInterrupted(t *testing.T) {
	d := driven(&bytes.Buffer{}, false, nil)
	in, keep := io.Pipe()
	defer keep.Close()
	d.factory.Streams.In, d.factory.Streams.InTTY = in, true
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := d.ask(ctx, false, "Go?"); !errors.Is(err, command.ErrInterrupted) {
		t.Errorf("%v", err)
	}
}

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
		if !strings.HasPrefix(textIn(err), c.err) || (err == nil) != (c.err == "") {
			t.Errorf("%s: %v, want %q", name, err, c.err)
		}
		if err != nil {
			if _, ok := errors.AsType[*command.UsageError](err); !ok {
				t.Errorf("%s: %v is no error of usage", name, err)
			}
			continue
		}
		r, promote := recordOf(1), action{apply.Act{Transition: plan.TransitionPromote, How: how}}
		if r.Progress, err = promote.Apply(r.Progress, r.Plan, "ann", time.Now()); err != nil || promote.said(r) != c.want {
			t.Errorf("%s: %q, %v; want %q", name, promote.said(r), err, c.want)
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
