package load

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/hermetic"
)

// TestDiamonds: bases that are named twice at each of many levels end with a fault, soon,
// with and without kustomize.
func TestDiamonds(t *testing.T) {
	for name, bottom := range map[string]string{
		"nothing at the bottom":      "namePrefix: x-\n",
		"an object at the bottom":    "configMapGenerator: [{name: a, literals: [a=b]}]\n",
		"built by kustomize":         "namePrefix: x-\nbuildMetadata: [managedByLabel]\n",
		"an object, by kustomize":    "configMapGenerator: [{name: a, literals: [a=b]}]\nbuildMetadata: [managedByLabel]\n",
		"bombs of aliases, together": "resources: [a.yaml]\n",
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"l0/kustomization.yaml": bottom, "l0/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: &a [1, 2, 3, 4, 5, 6, 7, 8, 9], b: *a}\n"}
			for i := 1; i <= 18; i++ {
				for _, side := range []string{"a", "b"} {
					files[fmt.Sprintf("l%d%s/kustomization.yaml", i, side)] = fmt.Sprintf("namePrefix: %s-\nresources: [../l%d]\n", side, i-1)
				}
				files[fmt.Sprintf("l%d/kustomization.yaml", i)] = fmt.Sprintf("resources: [../l%da, ../l%db]\n", i, i)
			}
			root := Files(t, files)
			before, known := hermetic.Spent()
			_, err := Kustomization{Dir: filepath.Join(root, "l18"), Root: root}.Build(t.Context())
			if err == nil || !strings.Contains(err.Error(), "too many files") {
				t.Errorf("got %v", err)
			}
			if after, _ := hermetic.Spent(); known && after-before > 30*time.Second {
				t.Errorf("it took %s of the processor", after-before)
			}
		})
	}
}
