package command_test

import (
	"errors"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
)

func TestCheckFlags_ReportsContradictions(t *testing.T) {
	for name, c := range map[string]struct {
		err       error
		say, hint string
	}{
		"legal":        {command.OneOf("output", "json", "text", "json"), "", ""},
		"not legal":    {command.OneOf("output", "xml", "text", "json"), `--output: unknown value "xml"`, "one of: text, json"},
		"empty":        {command.OneOf("output", "", "text", "json"), `--output: unknown value ""`, "one of: text, json"},
		"no stdin":     {command.OneStdin("a.yaml", "b.yaml"), "", ""},
		"one stdin":    {command.OneStdin("a.yaml", "-"), "", ""},
		"two of stdin": {command.OneStdin("-", "a.yaml", "-"), "standard input can be read once only", "name a file for the others"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.err == nil {
				if c.say != "" {
					t.Fatalf("no error, want %q", c.say)
				}
				return
			}
			e, ok := errors.AsType[*command.UsageError](c.err)
			if !ok || e.Error() != c.say || e.Hint != c.hint {
				t.Errorf("%v; want %q with the hint %q", c.err, c.say, c.hint)
			}
		})
	}
}
