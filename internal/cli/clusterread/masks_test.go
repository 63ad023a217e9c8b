package clusterread

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// TestMasks_AreThoseOfKinds: each mask is that of a kind, each kind has one, and each keeps
// something besides the identity.
func TestMasks_AreThoseOfKinds(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`\bmask: "([^"]+)"`).FindAllSubmatch(text, -1) {
			used[string(m[1])] = true
		}
	}
	for name, m := range masks() {
		if !used[name] || len(m.Keep) == 3 && len(m.Keep["metadata"]) == 2 {
			t.Errorf("%s: used: %v, keeps %v", name, used[name], m.Keep)
		}
		delete(used, name)
	}
	for name := range used {
		t.Errorf("no mask %s", name)
	}
	if _, kept := masks()["copies"].Keep["metadata"]["annotations"][kruise.ResourceDistributedByAnnotation]; !kept {
		t.Error("copies do not keep what says which object they are copies of")
	}
}
