package load

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/hermetic"
)

// TestKustomize_BuildsDiamonds: bases that are named twice at each of many levels end with a fault, soon,
// with and without kustomize.
func TestKustomize_BuildsDiamonds(t *testing.T) {
	most := 30 * time.Second
	if hermetic.Race {
		most *= 10
	}
	for name, c := range map[string]struct {
		bottom string
		levels int
		// sides are the bases of a level. Kustomize takes ten milliseconds for each folder, so
		// there are more sides and fewer levels where it builds.
		sides string
	}{
		"nothing at the bottom":      {"namePrefix: x-\n", 18, "ab"},
		"an object at the bottom":    {"configMapGenerator: [{name: a, literals: [a=b]}]\n", 18, "ab"},
		"built by kustomize":         {"namePrefix: x-\nbuildMetadata: [managedByLabel]\n", 6, "abcdefgh"},
		"an object, by kustomize":    {"configMapGenerator: [{name: a, literals: [a=b]}]\nbuildMetadata: [managedByLabel]\n", 6, "abcdefgh"},
		"bombs of aliases, together": {"resources: [a.yaml]\n", 18, "ab"},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"l0/kustomization.yaml": c.bottom, "l0/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: &a [1, 2, 3, 4, 5, 6, 7, 8, 9], b: *a}\n"}
			for i := range c.levels {
				bases := ""
				for _, side := range c.sides {
					files[fmt.Sprintf("l%d%c/kustomization.yaml", i+1, side)] = fmt.Sprintf("namePrefix: %c-\nresources: [../l%d]\n", side, i)
					bases += fmt.Sprintf("../l%d%c, ", i+1, side)
				}
				files[fmt.Sprintf("l%d/kustomization.yaml", i+1)] = "resources: [" + bases + "]\n"
			}
			root := Files(t, files)
			before, known := hermetic.Spent()
			_, err := kustomizationDir{Dir: filepath.Join(root, fmt.Sprint("l", c.levels)), Root: root}.Build(t.Context())
			if err == nil || !strings.Contains(err.Error(), "too many files") {
				t.Errorf("got %v", err)
			}
			if after, _ := hermetic.Spent(); known && after-before > most {
				t.Errorf("it took %s of the processor", after-before)
			}
		})
	}
}
