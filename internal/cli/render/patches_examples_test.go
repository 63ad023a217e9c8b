package render_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/golden"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/patches"
)

// TestPatches_OfTheExampleAreUpToDate compares examples/patches with what --patches-dir writes for each
// driver.
func TestPatches_OfTheExampleAreUpToDate(t *testing.T) {
	const dir = "../../../examples/patches"
	text := func(name string) string {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for name, c := range map[string]change{
		"kruise": {how: byKruise}, "native": {how: byNative}, "client": {how: byClient, context: text("pods.yaml")},
	} {
		t.Run(name, func(t *testing.T) {
			c.old, c.new = text("old.yaml"), text("new.yaml")
			set := made(t, c)
			set.From, set.To = "old.yaml", "new.yaml"
			files, err := patches.Files(set)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range files {
				path := filepath.Join(dir, name, filepath.FromSlash(f.Name))
				if os.Getenv("UPDATE") != "" {
					if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
						t.Fatal(err)
					}
				}
				golden.Same(t, path, string(f.Body))
			}
		})
	}
}
