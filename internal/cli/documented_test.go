package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
)

// leastDocumented is how many objects of Kruise's there are at least.
const leastDocumented = 40

// TestKruiseDocumentation_ExamplesAreRendered: objects with the fields that the examples of Kruise's documentation show, all
// of which its main branch takes, have no errors and can be rendered for clusters with Kruise
// and without.
func TestKruiseDocumentation_ExamplesAreRendered(t *testing.T) {
	objects, kinds := 0, map[string]bool{}
	for _, path := range found(t, filepath.Join("testdata", "documented"), "*.yaml") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		list, err := load.Parse(path, text)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range list {
			if r.Group() == kruise.Group || r.Group() == kruise.PolicyGroup {
				objects++
				kinds[r.Kind()] = true
			}
		}
		t.Run(filepath.Base(path), func(t *testing.T) {
			facts := filepath.Join("testdata", "documented", "facts", "cluster.yaml")
			passes(t, "lint", "-f", path, "--with", facts)
			for _, target := range []string{"native", "kruise"} {
				passes(t, "render", "-q", "-f", path, "--with", facts, "--target", target)
			}
		})
	}
	if objects < leastDocumented {
		t.Errorf("%d objects, want %d", objects, leastDocumented)
	}
	for _, k := range kruise.Kinds() {
		if !kinds[k.Kind] && k.Kind != kruise.KindNodePodProbe { // which users do not write
			t.Errorf("no %s", k.Kind)
		}
	}
}
