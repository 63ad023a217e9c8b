package rollout

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/ending"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/usage"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube"
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
		"nobody":           {want: "nobody can be asked: stdin is no terminal", usage: true},
	} {
		t.Run(name, func(t *testing.T) {
			d := driven(&bytes.Buffer{}, false, nil)
			d.factory.Streams.In, d.factory.Streams.InTTY = strings.NewReader(c.answer), c.terminal
			err := d.ask(t.Context(), c.yes, "Go?")
			var bad *usage.Error
			if text(err) != c.want || errors.As(err, &bad) != c.usage {
				t.Errorf("%v, want %q", err, c.want)
			}
			asked := d.factory.Streams.Err.(*bytes.Buffer).String()
			if want := c.terminal && !c.yes; (strings.TrimSpace(asked) == "Go? [y/N]") != want {
				t.Errorf("asked %q", asked)
			}
		})
	}
}

// TestAskInterrupted: whoever presses Ctrl-C at a question is not waited for.
func TestAskInterrupted(t *testing.T) {
	d := driven(&bytes.Buffer{}, false, nil)
	in, keep := io.Pipe()
	defer keep.Close()
	d.factory.Streams.In, d.factory.Streams.InTTY = in, true
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := d.ask(ctx, false, "Go?"); !errors.Is(err, ending.ErrInterrupted) {
		t.Errorf("%v", err)
	}
}

// recordOf is a rollout of ten pods at a step.
func recordOf(step int) kube.Record {
	return kube.Record{
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

func TestFreeUntil(t *testing.T) {
	for name, c := range map[string]struct {
		step int
		full bool
		to   string
		want int
		err  string
	}{
		"the present step":   {step: 1},
		"all":                {step: 1, full: true, want: 5},
		"half":               {step: 1, to: "50%", want: 3},
		"half, seen already": {step: 3, to: "50%", want: 4},
		"pods":               {step: 1, to: "3", want: 3},
		"more than there is": {step: 1, to: "100", want: 5},
		"both":               {full: true, to: "1", err: "--full and --to exclude each other"},
		"no amount":          {to: "half", err: "--to: "},
	} {
		r := recordOf(c.step)
		got, err := freeUntil(&r, c.full, c.to)
		if got != c.want || !strings.HasPrefix(text(err), c.err) || (err == nil) != (c.err == "") {
			t.Errorf("%s: %d, %v; want %d, %q", name, got, err, c.want, c.err)
		}
	}
}

func TestStands(t *testing.T) {
	for name, c := range map[string]struct {
		progress plan.Progress
		stands   string
		running  string
	}{
		"goes on": {plan.Progress{Step: 2}, "step 3 of 5, let 4 more follow", ""},
		"on hold": {plan.Progress{Step: 2, Held: "by ann"}, "step 3 of 5, let 4 more follow; on hold by ann", ""},
		"halted":  {plan.Progress{Step: 2, Halted: "it crashed"}, "halted: it crashed", "it has halted: it crashed"},
		"ends":    {plan.Progress{Step: 5}, "all steps are done", ""},
		"done":    {plan.Progress{Step: 5, Finished: time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)}, "done at 2026-07-01T12:00:00Z", "the rollout is done"},
	} {
		r := recordOf(0)
		r.Progress = c.progress
		if got := stands(r); got != c.stands {
			t.Errorf("%s: %q, want %q", name, got, c.stands)
		}
		if got := text(running(r)); got != c.running {
			t.Errorf("%s: %q, want %q", name, got, c.running)
		}
	}
	if !over(kube.Record{}) || over(recordOf(1)) {
		t.Error("a plan without steps is over, one with steps is not")
	}
}

func TestPromotedText(t *testing.T) {
	r := recordOf(1)
	for free, want := range map[int]string{0: "promoted: step pause-1 is over", 3: "promoted: no pause counts up to step step-50%", 5: "promoted: no pause counts up to step step-100%"} {
		if got := promotedText(&r, free); got != want {
			t.Errorf("%d: %q, want %q", free, got, want)
		}
	}
}

func TestEndOf(t *testing.T) {
	o := &statusOptions{}
	for verb, fails := range map[plan.Verb]bool{plan.Halt: true, plan.Wait: false, plan.Act: false, plan.Done: false} {
		if err := o.endOf(plan.Decision{Verb: verb}); (err != nil) != fails {
			t.Errorf("%s: %v", verb, err)
		}
	}
}

// TestResumed: the time of a step counts from when somebody goes on with it, but it is
// the same step: what it has asked for is not asked for again.
func TestResumed(t *testing.T) {
	began := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	for kind, rests := range map[plan.StepKind]bool{plan.StepRecreateContainers: true, plan.StepUpdate: true, plan.StepPause: false} {
		r := recordOf(0)
		r.Plan.Steps[0].Kind, r.Progress.Started, r.Progress.Held = kind, began, "by ann"
		if _, err := resumed(&r); err != nil || r.Progress.Held != "" || !r.Progress.Started.Equal(began) || r.Progress.Resumed.IsZero() == rests {
			t.Errorf("%s: %v, %+v", kind, err, r.Progress)
		}
	}
}
