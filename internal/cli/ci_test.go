package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// calls finds calls of the program in text, to the end of what is its own.
var calls = regexp.MustCompile(`kubectl-kruise (lint|diff|render|doctor)\b[^|>&\n]*`)

// TestCIPlugins_UseExistingCommandsAndFlags: the jobs and hooks of plugins/ci are YAML, and call commands and flags
// that there are.
func TestCIPlugins_UseExistingCommandsAndFlags(t *testing.T) {
	files, err := filepath.Glob("../../plugins/ci/*.yaml")
	if err != nil || len(files) < 3 {
		t.Fatal(files, err)
	}
	for _, file := range append(files, "../../.pre-commit-hooks.yaml") {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var document any
		if err := yaml.Unmarshal(b, &document); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		if diffs, added := strings.Count(string(b), "git diff --exit-code"), strings.Count(string(b), "git add --intent-to-add"); diffs != added {
			t.Errorf("%s: git diff ignores files that were not added: %d comparisons, %d times added", file, diffs, added)
		}
		found := calls.FindAllString(string(b), -1)
		if len(found) == 0 {
			t.Errorf("%s calls nothing", file)
		}
		for _, text := range found {
			if strings.HasSuffix(text, " --") {
				continue // the mark of a comment
			}
			args := strings.Fields(strings.ReplaceAll(text, `"`, ""))[1:]
			if code, _, said := call(t.Context(), t, "", append(args, "--help")...); code != 0 {
				t.Errorf("%s: %s: exit code %d\n%s", file, text, code, said)
			}
		}
	}
}
