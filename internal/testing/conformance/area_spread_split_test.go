package conformance

import (
	"context"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render"
)

// TestConformanceSpread is about what render makes of the targets. That every pod
// is where Kruise has it after each step, and what Kruise refuses, is tested by the
// replay of the same cases in pkg/plan/simulate.
func TestConformanceSpread(t *testing.T) {
	Area(t, "spread", func(_ *testing.T, c Case) error {
		return SpreadSplit(c, renderSpread)
	})
}

func renderSpread(objects []map[string]any) ([]map[string]any, error) {
	out, err := render.Render(context.Background(), parsed(objects), render.Options{Kruise: kruise.Next, Target: render.Kruise, Expand: []string{"WorkloadSpread"}})
	if err != nil {
		return nil, err
	}
	var list []map[string]any
	for _, r := range out.Resources {
		list = append(list, tree.Value(r.Node()).(map[string]any))
	}
	return list, nil
}
