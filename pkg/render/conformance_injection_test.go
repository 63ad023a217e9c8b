package render_test

import (
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/conformance"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render"
)

func TestConformanceInjection(t *testing.T) {
	conformance.Area(t, "injection", func(c conformance.Case) error {
		return conformance.Injection(c, renderPods)
	})
}

func renderPods(stream, context []map[string]any) ([]map[string]any, error) {
	out, err := render.Render(parsed(stream), render.Options{
		Target: render.Kruise, Expand: []string{"SidecarSet"}, Context: parsed(context),
	})
	if err != nil {
		return nil, err
	}
	var docs []map[string]any
	for _, r := range out.Resources {
		docs = append(docs, tree.Value(r.Node()).(map[string]any))
	}
	return docs, nil
}
