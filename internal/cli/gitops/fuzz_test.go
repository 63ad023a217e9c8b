package gitops

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/distort"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
)

// FuzzWrite: a manifest is refused, or what changed comes into it and all else means what it
// meant before.
func FuzzWrite(f *testing.F) {
	path := filepath.Join(f.TempDir(), "web.yaml")
	distort.Fuzz(f, []string{manifest, listed, oddHead + "      - &m\n        name: main\n        image: &i \"web:1\"\n      - {<<: *m, name: log, image: *i}\n---\n" + service}, func(t *testing.T, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		m, err := FindManifest(path, web)
		if err != nil {
			return
		}
		before, err := load.Parse(path, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		files, err := m.Write(ManifestChange{parsed(t, live), parsed(t, strings.Replace(live, "web:1", "web:2", 1)), nil})
		got, rerr := os.ReadFile(path)
		if rerr != nil || len(files) == 0 && string(got) != text {
			t.Fatalf("%v: %v\n%s", err, rerr, got)
		}
		after, err := load.Parse(path, got)
		if err != nil || len(after) != len(before) {
			t.Fatalf("%v\n%s", err, got)
		}
		for i := range after {
			if i != m.at && !tree.Equal(before[i].Node(), after[i].Node()) {
				t.Errorf("another object changed:\n%s", got)
			}
		}
		for _, part := range [][]string{{"apiVersion"}, {"metadata"}, {"spec", "template", "metadata"}, {"spec", "replicas"}} {
			was := tree.Get(before[m.at].Node(), part...) // what was not there comes in with what is written beside it
			if was != nil && !tree.Equal(was, tree.Get(after[m.at].Node(), part...)) && len(files) > 0 {
				t.Errorf("%q changed:\n%s", part, got)
			}
		}
	})
}
