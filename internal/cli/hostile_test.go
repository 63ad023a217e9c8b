package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// hostileText would act on a terminal, in the log of a CI job and in Markdown.
const hostileText = "a\x1b]0;own\x07\u202e\u200b</summary> @admins https://evil.example [x](y) ##[error]x"

// acts finds what no output for people may hold.
var acts = regexp.MustCompile(`[\x00-\x08\x0b-\x1f\x7f-\x{9f}\x{200b}\x{202e}]|(?m:^\s*::stop)|##\[`)

// TestOutput_EscapesControlCharactersOfInputs drives outputs for people with strings that act: in names and
// namespaces, with newlines too, in labels, images and names of containers and files.
func TestOutput_EscapesControlCharactersOfInputs(t *testing.T) {
	newline := hostileText + "\n::stop-commands::x\n# head"
	for name, in := range map[string]struct{ object, inside string }{
		"everywhere": {newline, newline}, "name": {hostileText, "main"}, "inside": {"web", newline},
	} {
		dir := t.TempDir()
		old, now := filepath.Join(dir, "old.yaml"), filepath.Join(dir, "new\x1b[2J.yaml")
		hostileFile(t, old, in.object, in.inside, "a:1")
		hostileFile(t, now, in.object, in.inside, "a:2"+in.inside)
		for _, args := range [][]string{
			{"lint", "-f", now},
			{"lint", "-f", now, "-o", "github"},
			{"lint", "-f", now, "-o", "json"},
			{"lint", "-f", now, "-o", "sarif"},
			{"render", "-f", now},
			{"render", "-f", now, "-o", "json"},
			{"plan", "-f", now},
			{"plan", "-f", now, "-o", "json"},
			{"plan", "-f", now, "-o", "markdown"},
			{"plan", "-f", now, "-o", "svg"},
			{"simulate", now},
			{"simulate", now, "-o", "table"},
			{"simulate", now, "-o", "json"},
			{"simulate", now, "-o", "svg"},
			{"simulate", now, "-o", "summary"},
			{"diff", old, now},
			{"diff", old, now, "-o", "markdown"},
			{"diff", old, now, "-o", "json"},
			{"explain", "inplace", old, now},
			{"explain", "inplace", old, now, "-o", "json"},
			{"convert", "-f", now, "--to", "native"},
			{"convert", "-f", now, "--to", "native", "-o", "json"},
			{"inventory", "-f", now},
			{"inventory", "-f", now, "-o", "json"},
			{"lint", "-f", filepath.Join(dir, "none\x1b[2J\n::stop-commands::x")},
		} {
			t.Run(name+" "+strings.Join(args[:1], " ")+" "+args[len(args)-1][:2], func(t *testing.T) {
				code, out, errOut := call(t.Context(), t, "", args...)
				if out+errOut == "" || code == exitUsage && args[0] != "diff" {
					t.Fatalf("exit %d, which tries nothing\n%s", code, errOut)
				}
				if slices.Contains([]string{"render", "convert", "inventory"}, args[0]) && args[len(args)-1] != "json" { // YAML, for programs: stderr alone is for people
					out = ""
				}
				if at := acts.FindString(out + errOut); at != "" {
					t.Errorf("%q acts:\n%q\n%q", at, out, errOut)
				}
				if args[len(args)-1] == "markdown" && regexp.MustCompile(`</summary>[^\n]*</summary>|(?m:^# head)`).MatchString(out) {
					t.Errorf("Markdown has structure of an input:\n%s", out)
				}
			})
		}
	}
}

func hostileFile(t *testing.T, path, object, inside, image string) {
	t.Helper()
	b, err := json.Marshal(map[string]any{
		"apiVersion": "apps.kruise.io/v1alpha1", "kind": "CloneSet",
		"metadata": map[string]any{"name": object, "namespace": object, "labels": map[string]any{inside: inside}},
		"spec": map[string]any{"replicas": 2, "selector": map[string]any{"matchLabels": map[string]any{"a": "b"}}, "template": map[string]any{
			"metadata": map[string]any{"labels": map[string]any{"a": inside}},
			"spec":     map[string]any{"containers": []any{map[string]any{"name": inside, "image": image}}},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}
