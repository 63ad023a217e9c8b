package rollout

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
)

var errBroken = errors.New("broken")

func TestSeveral(t *testing.T) {
	for name, c := range map[string]struct {
		ends   []error
		want   error
		told   []string
		inTurn bool
	}{
		"all well":         {ends: []error{nil, nil}, want: nil, told: []string{"done", "done"}},
		"one failed":       {ends: []error{nil, command.ErrFailed, nil}, want: command.ErrFailed, told: []string{"done", "failed", "not started"}},
		"one paused":       {ends: []error{command.ErrPaused, nil}, want: command.ErrPaused, told: []string{"paused", "done"}},
		"paused, then bad": {ends: []error{command.ErrPaused, command.ErrTimedOut, nil}, want: command.ErrTimedOut, told: []string{"paused", "timed out", "not started"}},
		"one in its turn":  {ends: []error{nil, command.ErrPaused, nil}, want: command.ErrPaused, told: []string{"done", "paused", "not started"}, inTurn: true},
		"all in turn":      {ends: []error{nil, nil}, told: []string{"done", "done"}, inTurn: true},
		"an error":         {ends: []error{errBroken, nil}, want: errBroken, told: []string{"broken", "not started"}},
		"interrupted":      {ends: []error{command.ErrInterrupted, nil}, want: command.ErrInterrupted, told: []string{"left", "not started"}},
	} {
		d := driven(&bytes.Buffer{}, false, nil)
		var names []resourcearg.Name
		for i := range c.ends {
			n, err := resourcearg.Parse(fmt.Sprintf("cloneset/%d", i))
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, n)
		}
		i := 0
		each := d.several
		if c.inTurn {
			each = d.inSequence
		}
		err := each(names, func(resourcearg.Name) error { i++; return c.ends[i-1] })
		if !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
		var told []string
		for line := range strings.SplitSeq(d.factory.Streams.Err.(*bytes.Buffer).String(), "\n") {
			if rest, ok := strings.CutPrefix(line, "cloneset/"); ok {
				told = append(told, strings.TrimSpace(rest[1:]))
			}
		}
		if diff := cmp.Diff(c.told, told); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

func TestWorse(t *testing.T) {
	order := []error{command.ErrInterrupted, errBroken, command.ErrFailed, command.ErrTimedOut, command.ErrPaused, nil}
	for i, a := range order {
		for j, b := range order {
			if want := order[min(i, j)]; !errors.Is(worse(a, b), want) {
				t.Errorf("%v and %v: %v, want %v", a, b, worse(a, b), want)
			}
		}
	}
}
