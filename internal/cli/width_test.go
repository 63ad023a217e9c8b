package cli

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
)

// narrow calls the command line on a terminal of 80 columns.
func narrow(t *testing.T, args ...string) (out, errOut string) {
	t.Helper()
	var o, e bytes.Buffer
	defer forget()
	s := factory.Streams{In: strings.NewReader(""), Out: &o, Err: &e, OutTTY: true, ErrTTY: true, InTTY: true, Width: 80, ErrWidth: 80, Environ: collector}
	Main(t.Context(), append([]string{"kubectl-kruise", "--color=never"}, args...), s)
	return o.String(), e.String()
}

// longest is the line of a text that takes most columns.
func longest(s string) (line string, columns int) {
	for l := range strings.Lines(s) {
		if l = strings.TrimSuffix(l, "\n"); utf8.RuneCountInString(l) > columns {
			line, columns = l, utf8.RuneCountInString(l)
		}
	}
	return line, columns
}

// TestWidth_OfHelp: no line of any help is broken by a terminal of 80 columns, and an example can still be copied.
func TestWidth_OfHelp(t *testing.T) {
	each(whole(), func(c *cobra.Command) {
		out, _ := narrow(t, append(strings.Fields(c.CommandPath())[2:], "--help-all")...)
		for line := range strings.Lines(out) {
			if line = strings.TrimSuffix(line, "\n"); utf8.RuneCountInString(line) > 80 && !longWord.MatchString(line) {
				t.Errorf("%s: %s", c.CommandPath(), line)
			}
		}
	})
	out, _ := narrow(t, "rollout", "run", "--help")
	if !strings.Contains(out, "\n  kubectl kruise rollout run -f web.yaml --steps 1,50%,100% --pause-after 1 \\\n      --yes\n") ||
		!strings.Contains(out, "\n\nSeveral workloads, given with -l or in the files of -f, are planned,\nsimulated and confirmed together, and") {
		t.Errorf("an example or a paragraph is broken:\n%s", out)
	}
}

// TestWidth_OfProse: errors, hints, findings and tables fit a terminal of 80 columns; in a pipe they are in one line.
func TestWidth_OfProse(t *testing.T) {
	path := file(t, strings.ReplaceAll(lossy, "{partition: 2}", "{partition: 2, maxUnavailable: many}")+"---\n"+lossy)
	for name, args := range map[string][]string{
		"lint": {"lint", "-f", path}, "rules": {"lint", "--rules"}, "error": {"render", "-f", path}, "findings": {"render", "-v", "-f", file(t, lossy)},
		"usage": {"rollout", "run", "cloneset/web", "--steps", "1,2,3", "--pause-after", "no-such-stop", "-f", "a-file-that-is-not-there.yaml", "--against", "x"},
	} {
		out, errs := narrow(t, args...)
		if name == "findings" {
			out = ""
		}
		pipedCode, piped, pipedErrs := call(t.Context(), t, "", args...)
		for line := range strings.Lines(out + errs) {
			if line = strings.TrimSuffix(line, "\n"); utf8.RuneCountInString(line) > 80 && !longWord.MatchString(line) {
				t.Errorf("%s: %s", name, line)
			}
		}
		if line, n := longest(piped + pipedErrs); n <= 80 {
			t.Errorf("%s: nothing to break (exit %d): %s", name, pipedCode, line)
		}
	}
}

// TestWidth_OfWhatIsCopied: manifests and values are not broken on a terminal either.
func TestWidth_OfWhatIsCopied(t *testing.T) {
	words := strings.Repeat("word ", 20) + "end"
	old := file(t, strings.ReplaceAll(lossy, "metadata: {name: web}", "metadata: {name: web, annotations: {note: 'before'}}"))
	changed := file(t, strings.ReplaceAll(lossy, "metadata: {name: web}", "metadata: {name: web, annotations: {note: '"+words+"'}}"))
	for name, args := range map[string][]string{
		"render": {"render", "-f", changed}, "convert": {"convert", "-f", changed, "--to", "Deployment"}, "diff -v": {"diff", "-v", old, changed},
		"json": {"diff", "-o", "json", old, changed}, "markdown": {"diff", "-o", "markdown", old, changed},
	} {
		if out, errs := narrow(t, args...); !strings.Contains(out, words) {
			t.Errorf("%s:\n%s%s", name, out, errs)
		}
	}
	out, _ := narrow(t, "diff", old, changed)
	if !strings.Contains(out, "…\n") || strings.Contains(out, words) {
		t.Errorf("a value is not cut:\n%s", out)
	}
}
