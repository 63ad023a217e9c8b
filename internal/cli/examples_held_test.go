package cli

import (
	"path/filepath"
	"slices"
	"testing"
)

// TestExamples_PassLintAndRender: what every example gives to the program passes its lint, and can be
// rendered for clusters with Kruise and without.
func TestExamples_PassLintAndRender(t *testing.T) {
	for name, dir := range examples(t) {
		t.Run(name, func(t *testing.T) {
			inputs := sources(t, dir)
			if len(inputs) == 0 {
				t.Fatal("nothing to look at")
			}
			for _, args := range inputs {
				passes(t, append([]string{"lint"}, args...)...)
				for _, target := range []string{"native", "kruise"} {
					passes(t, slices.Concat([]string{"render", "-q", "--allow-empty", "--target", target}, args, facts(t, dir))...)
				}
			}
		})
	}
}

// sources are the inputs in the folder of an example, as flags: kustomizations, or else
// its own files.
func sources(t *testing.T, dir string) (out [][]string) {
	t.Helper()
	for _, pattern := range []string{"kustomization.yaml", "overlays/*/kustomization.yaml"} {
		for _, path := range found(t, dir, pattern) {
			out = append(out, []string{"-k", filepath.Dir(path)})
		}
	}
	if len(out) > 0 {
		return out
	}
	for _, path := range found(t, dir, "*.yaml") {
		if filepath.Base(path) != "with.yaml" {
			out = append(out, []string{"-f", path})
		}
	}
	return out
}

// facts are flags for what an example knows of its cluster.
func facts(t *testing.T, dir string) (out []string) {
	t.Helper()
	for _, path := range found(t, dir, "with.yaml") {
		out = append(out, "--with", path)
	}
	return out
}

func found(t *testing.T, dir, pattern string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

func passes(t *testing.T, args ...string) {
	t.Helper()
	if code, _, said := call(t.Context(), t, "", args...); code != 0 {
		t.Errorf("kubectl kruise %q: exit %d\n%s", args, code, said)
	}
}
