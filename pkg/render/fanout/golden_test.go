package fanout_test

import (
	"path/filepath"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/golden"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/fanout"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// TestRun_EqualsGolden fans testdata/CASE/input.yaml out; context.yaml, where there is
// one, holds objects of the cluster.
func TestRun_EqualsGolden(t *testing.T) {
	for _, dir := range golden.Cases(t, "testdata/*/input.yaml") {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			in := golden.Read(t, dir, "input.yaml")
			golden.Stage(t, dir, newContext(in, golden.Read(t, dir, "context.yaml")), in, fanout.Run)
		})
	}
}

func newContext(in, context []*resource.Resource) *stage.Context {
	return stage.New(resource.NewFacts(in, context, ""), stage.Options{
		Kruise: kruise.Next,
		Expand: func(kind string) bool { return kind == "ResourceDistribution" },
	})
}
