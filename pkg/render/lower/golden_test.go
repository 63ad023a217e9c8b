package lower_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/golden"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/lower"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// TestRun_EqualsGolden renders testdata/CASE/input.yaml. Cases whose name begins with
// client- are rendered for the client driver, older- for the oldest API server; context.yaml, where there is
// one, holds objects of the cluster, base.yaml those of the state before.
func TestRun_EqualsGolden(t *testing.T) {
	for _, dir := range golden.Cases(t, "testdata/*/input.yaml") {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			in := golden.Read(t, dir, "input.yaml")
			c := newContext(in, driverOf(dir))
			if strings.HasPrefix(filepath.Base(dir), "older-") {
				c.Kubernetes = stage.OldestKubernetes
			}
			c.Facts = resource.NewFacts(in, golden.Read(t, dir, "context.yaml"), "shop")
			if before := golden.Read(t, dir, "base.yaml"); len(before) > 0 {
				c.Before = resource.NewFacts(before, nil, "shop")
			}
			golden.Stage(t, dir, c, in, lower.Run)
		})
	}
}

func driverOf(dir string) stage.Driver {
	if strings.HasPrefix(filepath.Base(dir), "client-") {
		return stage.Client
	}
	return stage.Native
}

func newContext(in []*resource.Resource, driver stage.Driver) *stage.Context {
	return stage.New(resource.NewFacts(in, nil, "shop"), stage.Options{Driver: driver, Expand: stage.ExpandAll})
}
