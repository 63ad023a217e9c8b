package conformance

import (
	"context"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

func TestConformanceDistribution(t *testing.T) {
	Area(t, "distribution", func(_ *testing.T, c Case) error {
		return Distribution(c, renderDistribution)
	})
}

func renderDistribution(stream, around []map[string]any) (*Rendering, error) {
	in := parsed(stream)
	out, err := render.Render(context.Background(), in, render.Options{
		Kruise: kruise.Next,
		Target: render.Kruise, Expand: []string{"ResourceDistribution"}, Context: parsed(around),
	})
	if err != nil {
		return nil, err
	}
	given := map[*resource.Resource]bool{}
	for _, r := range in {
		given[r] = true
	}
	got := &Rendering{Findings: map[string][]string{}}
	for _, r := range out.Resources {
		if !given[r] {
			got.Copies = append(got.Copies, tree.Value(r.Node()).(map[string]any))
		}
	}
	for _, f := range out.Findings {
		if rule, ok := strings.CutPrefix(f.ID, "resourcedistribution/"); ok {
			got.Findings[rule] = append(got.Findings[rule], f.Message)
		}
	}
	return got, nil
}

func parsed(docs []map[string]any) []*resource.Resource {
	out := make([]*resource.Resource, len(docs))
	for i, d := range docs {
		out[i] = resource.Parsed(tree.FromValue(d), nil, resource.Origin{Seq: i})
	}
	return out
}
