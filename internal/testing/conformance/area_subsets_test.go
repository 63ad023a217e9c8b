package conformance

import (
	"context"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render"
)

func TestConformanceSubsets(t *testing.T) {
	Area(t, "subsets", func(_ *testing.T, c Case) error {
		return Subsets(c, renderSubsets)
	})
}

func renderSubsets(ud map[string]any, around []map[string]any) ([]map[string]any, error) {
	out, err := render.Render(context.Background(), parsed([]map[string]any{ud}), render.Options{
		Kruise: kruise.Next,
		Target: render.Kruise, Expand: []string{"UnitedDeployment"}, Context: parsed(around),
	})
	if err != nil {
		return nil, err
	}
	var workloads []map[string]any
	for _, r := range out.Resources {
		workloads = append(workloads, tree.Value(r.Node()).(map[string]any))
	}
	return workloads, nil
}
