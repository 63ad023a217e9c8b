package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestReference: every command has its place on a page.
func TestReference(t *testing.T) {
	dir := t.TempDir()
	if code, _, said := call(t.Context(), t, "", "generate-docs", "--directory", dir); code != 0 {
		t.Fatalf("exit code %d: %s", code, said)
	}
	have := pages(t, dir)
	if len(have) < 30 || !strings.Contains(have["rollout.md"], "## kubectl kruise rollout undo\n") || !strings.Contains(have["README.md"], "[render](render.md)") {
		t.Errorf("%d pages", len(have))
	}
}

// requests are those of man that pages have.
var requests = []string{`.\"`, ".TH", ".SH", ".SS", ".B", ".BR", ".PP", ".TP", ".nf", ".fi"}

// TestMan: every page is one that man takes for one.
func TestMan(t *testing.T) {
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
