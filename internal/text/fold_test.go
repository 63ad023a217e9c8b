package text_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/internal/text"
)

// TestFolding: a line that is longer than the terminal is broken between words and continues below its text; what is
// copied stays in one line.
func TestFolding(t *testing.T) {
	red := func(s string) string { return text.Paint("31", s) }
	for name, c := range map[string]struct{ in, want string }{
		"short":      {"all pods are up to date\n", "all pods are up to date\n"},
		"exactly":    {strings.Repeat("x", 29) + " " + strings.Repeat("y", 10) + "\n", strings.Repeat("x", 29) + " " + strings.Repeat("y", 10) + "\n"},
		"prose":      {"a container that restarts drops its connections and keeps its name\n", "a container that restarts drops its\n  connections and keeps its name\n"},
		"hint":       {"hint: name it with --approved, as 'rollout run' has printed it\n", "hint: name it with --approved, as\n      'rollout run' has printed it\n"},
		"item":       {"  - up to two of six pods are unavailable at a time\n", "  - up to two of six pods are\n    unavailable at a time\n"},
		"number":     {"12. up to two of six pods are unavailable at a time\n", "12. up to two of six pods are\n    unavailable at a time\n"},
		"columns":    {"ok    rights   each of them is there, in every namespace\n", "ok    rights   each of them is there, in\n               every namespace\n"},
		"too late":   {"a name that takes most of the line   and the text\n", "a name that takes most of the line   and\n  the text\n"},
		"quoted":     {"hint: 'kubectl kruise rollout promote cloneset/web -n default' approves\n", "hint: 'kubectl kruise rollout promote cloneset/web -n default'\n      approves\n"},
		"after text": {"waits, and 'kubectl kruise rollout promote cloneset/web -n shop' approves\n", "waits, and\n  'kubectl kruise rollout promote cloneset/web -n shop'\n  approves\n"},
		"bare":       {"  sends: kubectl patch cloneset/web -p 'a b c d e f g h i j k l m n'\n", "  sends: kubectl patch cloneset/web -p 'a b c d e f g h i j k l m n'\n"},
		"command":    {"kubectl kruise rollout promote cloneset/web -n default\n", "kubectl kruise rollout promote cloneset/web -n default\n"},
		"long word":  {"the file " + strings.Repeat("x", 50) + " is missing\n", "the file\n  " + strings.Repeat("x", 50) + "\n  is missing\n"},
		"whole":      {text.Whole("  key: a value that is longer than the terminal\n") + "a line that is broken again after the other\n", "  key: a value that is longer than the terminal\na line that is broken again after the\n  other\n"},
		"painted":    {red("  ! restarts: up to two of six pods are not available") + "\n", "\x1b[31m  ! restarts: up to two of six pods are\n    not available\x1b[0m\n"},
		"wide":       {"変更された テンプレート 変更された テンプレート\n", "変更された テンプレート 変更された\n  テンプレート\n"},
		"tab":        {"a\tline of columns that its reader aligns by tabs\n", "a\tline of columns that its reader aligns by tabs\n"},
		"prompt":     {"Carry out this plan with your rights in namespace shop? [y/N] ", "Carry out this plan with your rights in\n  namespace shop? [y/N] "},
	} {
		var out bytes.Buffer
		if _, err := fmt.Fprint(text.Folding(&out, 40), c.in); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, out.String()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		out.Reset()
		plain := strings.ReplaceAll(c.in, text.Whole(""), "")
		if _, err := fmt.Fprint(text.Folding(&out, 0), c.in); err != nil || !strings.Contains(plain, text.Unpainted) && out.String() != plain {
			t.Errorf("%s: without a terminal: %q, %v", name, out.String(), err)
		}
	}
}

// TestFolding_LeavesTheRestOfALine: what follows a prompt stays behind it.
func TestFolding_LeavesTheRestOfALine(t *testing.T) {
	var out bytes.Buffer
	w := text.Folding(&out, 40)
	for _, s := range []string{"Sure? ", "a rest that is longer than the terminal it is on\n", "and a line that is longer than the terminal\n"} {
		_, _ = fmt.Fprint(w, s)
	}
	if want := "Sure? a rest that is longer than the terminal it is on\nand a line that is longer than the\n  terminal\n"; out.String() != want {
		t.Errorf("%q", out.String())
	}
	if text.Columns(w) != 40 || text.Columns(text.Buffered(w)) != 40 || text.Columns(&out) != 0 || text.Columns(text.Folding(&out, 5)) != 0 {
		t.Error("the width is not that of the terminal")
	}
}

// TestBuffered_WritesWholeLines: a line that is written in parts is broken as one.
func TestBuffered_WritesWholeLines(t *testing.T) {
	var out, plain bytes.Buffer
	w, same := text.Buffered(text.Folding(&out, 80)), text.Buffered(&plain)
	var in strings.Builder
	for i := range 1000 {
		line := fmt.Sprintf("line %d has words that no other line has, and is longer than the terminal that it is on\n", i)
		in.WriteString(line)
		for _, part := range []string{line[:10], line[10:]} {
			_, _ = w.Write([]byte(part))
			_, _ = same.Write([]byte(part))
		}
	}
	_, _ = w.Write([]byte("end"))
	if err := w.Flush(); err != nil || !strings.HasSuffix(out.String(), "\nend") {
		t.Errorf("%v: %q", err, out.String()[out.Len()-20:])
	}
	for line := range strings.Lines(out.String()) {
		if len(line) > 81 {
			t.Errorf("%q", line)
		}
	}
	if err := same.Flush(); err != nil || plain.String() != in.String() {
		t.Errorf("%v: a pipe has other bytes", err)
	}
}
