package admission_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/golden"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/admission"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/finding"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// TestGolden renders testdata/CASE/input.yaml; beta- cases are for Kubernetes 1.34,
// alpha- cases for 1.32, with APIs permitted that are off by default.
func TestGolden(t *testing.T) {
	for _, dir := range golden.Cases(t, "testdata/*/input.yaml") {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			in := golden.Read(t, dir, "input.yaml")
			c := newContext(in)
			for prefix, minor := range map[string]int{"alpha-": 32, "beta-": 34} {
				if strings.HasPrefix(filepath.Base(dir), prefix) {
					c.Kubernetes, c.PreviewAPIs = minor, true
				}
			}
			golden.Stage(t, dir, c, in, admission.Run)
		})
	}
}

func newContext(in []*resource.Resource) *stage.Context {
	return &stage.Context{
		Facts:        resource.NewFacts(in, nil, "shop"),
		Findings:     &finding.Reporter{},
		Lineage:      stage.NewLineage(),
		SidecarSetAs: stage.Admission,
		Expand:       func(string) bool { return true },
	}
}
