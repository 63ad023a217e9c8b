package compare_test

import (
	"path/filepath"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/golden"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/compare"
)

// TestRun_EqualsGolden: each folder holds two states, what exists beside them, and the
// outline of what differs. UPDATE=1 writes the outlines again.
func TestRun_EqualsGolden(t *testing.T) {
	for _, dir := range golden.Cases(t, "testdata/*/new.yaml") {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			r := compare.Run(t.Context(), golden.Read(t, dir, "old.yaml"), golden.Read(t, dir, "new.yaml"), compare.Options{
				Context: golden.Read(t, dir, "with.yaml"), Gates: cluster.DefaultGates(),
			})
			golden.Same(t, filepath.Join(dir, "expected.txt"), outline(r))
		})
	}
}
