package compare_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/distort"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/compare"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
)

// FuzzRun: no two states make it panic, and none differs from itself.
func FuzzRun(f *testing.F) {
	dirs, err := filepath.Glob("testdata/*/new.yaml")
	if err != nil || len(dirs) == 0 {
		f.Fatalf("no seeds: %v", err)
	}
	const end = "\x1e"
	var texts []string
	for _, path := range dirs {
		now, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		old, err := os.ReadFile(filepath.Join(filepath.Dir(path), "old.yaml"))
		if err != nil {
			f.Fatal(err)
		}
		texts = append(texts, string(old)+end+string(now))
	}
	distort.Fuzz(f, texts, func(t *testing.T, both string) {
		t.Helper()
		old, now, _ := strings.Cut(both, end)
		a, err := load.Parse("old.yaml", []byte(old))
		if err != nil || twice(a) {
			return
		}
		b, err := load.Parse("new.yaml", []byte(now))
		if err != nil || twice(b) {
			return
		}
		opt := compare.Options{Gates: cluster.DefaultGates()}
		compare.Run(t.Context(), a, b, opt)
		again, err := load.Parse("again.yaml", []byte("# another\n"+old))
		if err != nil {
			return
		}
		if r := compare.Run(t.Context(), a, again, opt); r.Differs() {
			t.Errorf("differs from itself:\n%s", outline(r))
		}
	})
}
