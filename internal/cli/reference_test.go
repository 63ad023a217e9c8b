package cli

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestReference_IsUpToDate: the pages in the repository are those of the commands that there are.
func TestReference_IsUpToDate(t *testing.T) {
	dir := t.TempDir()
	if code, _, said := call(t.Context(), t, "", "generate-docs", "--directory", dir); code != 0 {
		t.Fatalf("exit code %d: %s", code, said)
	}
	have, want := pages(t, "../../docs/reference"), pages(t, dir)
	for name, text := range want {
		if diff := cmp.Diff(have[name], text); diff != "" {
			t.Errorf("docs/reference/%s is out of date (-is +should be); \"make reference\" writes it:\n%s", name, diff)
		}
	}
	for name := range have {
		if _, ok := want[name]; !ok {
			t.Errorf("docs/reference/%s is of no command; \"make reference\" takes it away", name)
		}
	}
	if len(want) != len(tasks)+2 || !strings.Contains(want["roll-out.md"], "\n### kubectl kruise rollout undo\n") {
		t.Errorf("%d pages", len(want))
	}
	text := strings.Join(slices.Collect(maps.Values(want)), "")
	for _, c := range whole().Commands() {
		if heading := "\n## kubectl kruise " + c.Name() + "\n"; c.IsAvailableCommand() && strings.Count(text, heading) != 1 {
			t.Errorf("%d headings %q", strings.Count(text, heading), heading)
		}
	}
}

// requests are those of man that pages have.
var requests = []string{`.\"`, ".TH", ".SH", ".SS", ".B", ".BR", ".PP", ".TP", ".nf", ".fi"}

// TestManPages_AreValid: every page is one that man takes for one.
func TestManPages_AreValid(t *testing.T) {
	dir := t.TempDir()
	if code, _, said := call(t.Context(), t, "", "generate-docs", "--format", "man", "--directory", dir); code != 0 {
		t.Fatalf("exit code %d: %s", code, said)
	}
	for name, text := range pages(t, dir) {
		for _, want := range []string{"\n.TH KUBECTL\\-KRUISE\\-", "\n.SH NAME\nkubectl\\-kruise\\-", "\n.SH SYNOPSIS\n.B kubectl kruise "} {
			if !strings.Contains(text, want) {
				t.Errorf("%s lacks %q:\n%.300s", name, want, text)
			}
		}
		for line := range strings.Lines(text) {
			if word, _, _ := strings.Cut(strings.TrimSpace(line), " "); strings.HasPrefix(word, ".") && !slices.Contains(requests, word) {
				t.Errorf("%s: %q is no request", name, line)
			}
		}
	}
}

func pages(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		out[e.Name()] = string(b)
	}
	return out
}
