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
		ends []error
		want error
		told []string
	}{
		"all well":         {[]error{nil, nil}, nil, []string{"done", "done"}},
		"one failed":       {[]error{nil, ending.ErrFailed, nil}, ending.ErrFailed, []string{"done", "failed", "not begun"}},
		"one paused":       {[]error{ending.ErrPaused, nil}, ending.ErrPaused, []string{"paused", "done"}},
		"paused, then bad": {[]error{ending.ErrPaused, ending.ErrTimedOut, nil}, ending.ErrTimedOut, []string{"paused", "timed out", "not begun"}},
		"an error":         {[]error{errBroken, nil}, errBroken, []string{"broken", "not begun"}},
		"interrupted":      {[]error{ending.ErrInterrupted, nil}, ending.ErrInterrupted, []string{"left", "not begun"}},
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
		err := d.several(names, func(named.Name) error { i++; return c.ends[i-1] })
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
