package execute

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// TestLeftBy_NamesWhatAPartitionKeeps: a last step below 100 % says which pods keep an earlier template.
func TestLeftBy_NamesWhatAPartitionKeeps(t *testing.T) {
	step := func(updated, kept int, partition string) plan.Step {
		return plan.Step{Updated: updated, Kept: kept, After: []plan.Condition{{Type: plan.HoldsPartition, Value: partition}}}
	}
	for name, c := range map[string]struct {
		steps []plan.Step
		want  string
	}{
		"below":         {[]plan.Step{step(1, 3, "3"), step(2, 2, "2"), {Kind: plan.StepVerify}}, "partition 2 keeps 2 of 4 pods at an earlier template, and later changes do not reach them"},
		"all":           {[]plan.Step{step(1, 3, "3"), step(4, 0, "0")}, ""},
		"own partition": {[]plan.Step{step(4, 0, "0"), step(4, 0, "2")}, ""},
		"no partition":  {[]plan.Step{{Updated: 4}}, ""},
		"no steps":      {nil, ""},
	} {
		if got := leftBy(plan.Plan{Steps: c.steps}); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

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
			d.Factory.Streams.In, d.Factory.Streams.InTTY = strings.NewReader(c.answer), c.terminal
			err := d.Ask(t.Context(), c.yes, "Go?")
			var bad *command.UsageError
			if textIn(err) != c.want || errors.As(err, &bad) != c.usage {
				t.Errorf("%v, want %q", err, c.want)
			}
			asked := d.Factory.Streams.Err.(*bytes.Buffer).String()
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
	d.Factory.Streams.In, d.Factory.Streams.InTTY = in, true
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := d.Ask(ctx, false, "Go?"); !errors.Is(err, command.ErrInterrupted) {
		t.Errorf("%v", err)
	}
}

var errBroken = errors.New("broken")

func TestWorse(t *testing.T) {
	order := []error{command.ErrInterrupted, errBroken, command.ErrFailed, command.ErrTimedOut, command.ErrPaused, nil}
	for i, a := range order {
		for j, b := range order {
			if want := order[min(i, j)]; !errors.Is(Worse(a, b), want) {
				t.Errorf("%v and %v: %v, want %v", a, b, Worse(a, b), want)
			}
		}
	}
}
