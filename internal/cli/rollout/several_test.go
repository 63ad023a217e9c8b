package rollout

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/ending"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/named"
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
		"one failed":       {ends: []error{nil, ending.ErrFailed, nil}, want: ending.ErrFailed, told: []string{"done", "failed", "not started"}},
		"one paused":       {ends: []error{ending.ErrPaused, nil}, want: ending.ErrPaused, told: []string{"paused", "done"}},
		"paused, then bad": {ends: []error{ending.ErrPaused, ending.ErrTimedOut, nil}, want: ending.ErrTimedOut, told: []string{"paused", "timed out", "not started"}},
		"one in its turn":  {ends: []error{nil, ending.ErrPaused, nil}, want: ending.ErrPaused, told: []string{"done", "paused", "not started"}, inTurn: true},
		"all in turn":      {ends: []error{nil, nil}, told: []string{"done", "done"}, inTurn: true},
		"an error":         {ends: []error{errBroken, nil}, want: errBroken, told: []string{"broken", "not started"}},
		"interrupted":      {ends: []error{ending.ErrInterrupted, nil}, want: ending.ErrInterrupted, told: []string{"left", "not started"}},
	} {
		d := driven(&bytes.Buffer{}, false, nil)
		var names []named.Name
		for i := range c.ends {
			n, err := named.Parse(fmt.Sprintf("cloneset/%d", i))
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, n)
		}
		i := 0
		each := d.several
		if c.inTurn {
			each = d.inTurn
		}
		err := each(names, func(named.Name) error { i++; return c.ends[i-1] })
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
	order := []error{ending.ErrInterrupted, errBroken, ending.ErrFailed, ending.ErrTimedOut, ending.ErrPaused, nil}
	for i, a := range order {
		for j, b := range order {
			if want := order[min(i, j)]; !errors.Is(worse(a, b), want) {
				t.Errorf("%v and %v: %v, want %v", a, b, worse(a, b), want)
			}
		}
	}
}
