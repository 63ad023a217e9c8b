package split_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/golden"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/split"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// TestRun_EqualsGolden renders testdata/CASE/input.yaml; context.yaml, where there is
// one, holds objects of the cluster. Cases that are called whole-… leave targets of
// WorkloadSpreads one workload.
func TestRun_EqualsGolden(t *testing.T) {
	for _, dir := range golden.Cases(t, "testdata/*/input.yaml") {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			in := golden.Read(t, dir, "input.yaml")
			c := newContext(in, golden.Read(t, dir, "context.yaml"))
			if strings.HasPrefix(filepath.Base(dir), "whole-") {
				c.SpreadAs = stage.SpreadConstraints
			}
			golden.Stage(t, dir, c, in, split.Run)
		})
	}
}

func newContext(in, context []*resource.Resource) *stage.Context {
	return stage.New(resource.NewFacts(in, context, "shop"), stage.Options{
		Expand: func(kind string) bool { return kind == "UnitedDeployment" || kind == "WorkloadSpread" },
	})
}
