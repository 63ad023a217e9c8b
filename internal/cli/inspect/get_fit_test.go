package inspect

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestFitting: on a terminal, every column of a table of kubectl's is there; what is no table, or fits, is
// as kubectl writes it.
func TestFitting(t *testing.T) {
	const table = `NAME   STATUS        CANARY STEP   MESSAGE                                                       AGE
web    Progressing   1             Rollout is in step(1/4), and you need manually confirm here   5d2h
db     Healthy                     Rollout has been completed                                    5d2h
`
	const fitted = `NAME  STATUS       CANARY STEP  MESSAGE                 AGE
web   Progressing  1            Rollout is in step(1/…  5d2h
db    Healthy                   Rollout has been comp…  5d2h
`
	const names = `NAME                                      UPDATED_AVAILABLE   NODE        AGE
a-name-that-is-copied-from-76ccdfc59-x7   1                   node-0123   5d
`
	const whole = `NAME                                     UPDAT…  NODE    AGE
a-name-that-is-copied-from-76ccdfc59-x7  1       node-…  5d
`
	const odd = "NAME   STATUS\nsentences that are no row of a table, and longer than the terminal\n"
	for name, c := range map[string]struct{ in, want string }{
		"wide":       {table, fitted},
		"names":      {names, whole},
		"titled":     {"\nrollouts:\n" + table + "\nclonesets:\nNAME   AGE\nweb    5d\n", "\nrollouts:\n" + fitted + "\nclonesets:\nNAME   AGE\nweb    5d\n"},
		"no table":   {odd, odd},
		"no newline": {strings.TrimSuffix(odd, "\n"), strings.TrimSuffix(odd, "\n")},
		"nothing":    {"", ""},
	} {
		var out strings.Builder
		f := &tableFitter{to: &out, columns: 60}
		_, _ = f.WriteString(c.in) // into memory
		if err := f.flush(); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, out.String()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
