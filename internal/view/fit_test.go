package view

import (
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// TestTable_FitsTheTerminal: on a terminal a table is no wider than it; in a pipe nothing is cut.
func TestTable_FitsTheTerminal(t *testing.T) {
	const long = "updated: the controller has not seen generation 12 yet"
	rows := [][]string{{"NAMESPACE", "NAME", "SUBSET OF", "REASON"}, {"shop", "cloneset/web", "-", long}, {"shop", "cloneset/a-name-that-is-rather-long", "-", "-"}}
	for _, c := range []struct {
		st   Style
		want string
	}{
		{Style{}, `NAMESPACE  NAME                                 SUBSET OF  REASON
shop       cloneset/web                         -          updated: the controller has not seen generation 12 yet
shop       cloneset/a-name-that-is-rather-long  -          -
`},
		{Style{Width: 113}, `NAMESPACE  NAME                                 SUBSET OF  REASON
shop       cloneset/web                         -          updated: the controller has not seen generation 12 yet
shop       cloneset/a-name-that-is-rather-long  -          -
`},
		{Style{Width: 102}, `NAMESPACE  NAME                                 REASON
shop       cloneset/web                         updated: the controller has not seen generation 12 yet
shop       cloneset/a-name-that-is-rather-long  -
`},
		{Style{Width: 80}, `NAMESPACE  NAME                                 REASON
shop       cloneset/web                         updated: the controller has not…
shop       cloneset/a-name-that-is-rather-long  -
`},
		{Style{Width: 45}, `NAMESPACE  NAME                    REASON
shop       cloneset/web            updated: …
shop       cloneset/a-name-that-…  -
`},
	} {
		var out strings.Builder
		if err := c.st.table(&out, rows); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, out.String()); diff != "" {
			t.Errorf("%d: %s", c.st.Width, diff)
		}
		for line := range strings.Lines(out.String()) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); c.st.Width > 0 && n > c.st.Width {
				t.Errorf("%d columns in %d", n, c.st.Width)
			}
		}
	}
	for width := 1; width < 120; width++ {
		if err := (Style{Width: width}).table(&strings.Builder{}, rows[:1]); err != nil {
			t.Error(err)
		}
	}
}

// TestRollouts_FitTheTerminal: the lists of rollouts are such tables.
func TestRollouts_FitTheTerminal(t *testing.T) {
	why := plan.Decision{Verb: plan.Wait, Reason: strings.Repeat("not yet ", 20)}
	for name, write := range map[string]func(io.Writer, Style) error{
		"status": func(w io.Writer, st Style) error {
			return StatusLines(w, []RolloutStatus{{Namespace: "shop", Name: "cloneset/web", Plan: plan.Plan{Driver: plan.DriverKruise}, Decision: why}}, st)
		},
		"list": func(w io.Writer, st Style) error {
			return Rollouts(w, []RolloutRow{{Namespace: "shop", Name: "cloneset/web", Driver: "kruise", Status: why.Reason, Holder: "ann@a-machine-of-hers-4711"}}, st)
		},
		"history": func(w io.Writer, st Style) error {
			return History(w, "cloneset/web", []Revision{{Number: 1, Name: "web-1", Cause: why.Reason}}, st)
		},
	} {
		for _, width := range []int{80, 100} {
			var out strings.Builder
			if err := write(&out, Style{Width: width}); err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(out.String()) {
				if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > width {
					t.Errorf("%s: %d columns in %d: %s", name, n, width, line)
				}
			}
		}
		var out strings.Builder
		if err := write(&out, Style{}); err != nil || !strings.Contains(out.String(), why.Reason) {
			t.Errorf("%s: cut in a pipe (%v): %s", name, err, out.String())
		}
	}
}
