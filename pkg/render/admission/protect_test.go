package admission_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/golden"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/admission"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// TestProtect_EqualsGolden renders testdata/CASE/input.yaml; older- cases are for the oldest
// API server, all- cases ask for all kinds.
func TestProtect_EqualsGolden(t *testing.T) {
	for _, dir := range golden.Cases(t, "testdata/protect/*/input.yaml") {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			in := golden.Read(t, dir, "input.yaml")
			c := protectContext(in)
			if strings.HasPrefix(filepath.Base(dir), "older-") {
				c.Kubernetes = stage.OldestKubernetes
			}
			c.ProtectAll = strings.HasPrefix(filepath.Base(dir), "all-")
			golden.Stage(t, dir, c, in, admission.Protect)
		})
	}
}

// TestRun_IsIdempotent: what a first render added, a second one does not add again.
func TestRun_IsIdempotent(t *testing.T) {
	in := golden.Read(t, "testdata/protect/labels", "input.yaml")
	once, err := admission.Protect(protectContext(in), in)
	if err != nil {
		t.Fatal(err)
	}
	twice, err := admission.Protect(protectContext(once), once)
	if err != nil || len(twice) != len(once) || len(once) == len(in) {
		t.Errorf("%d objects became %d, then %d (%v)", len(in), len(once), len(twice), err)
	}
}

// TestRun_AddsNothingForKruise: with Kruise in the cluster, its own webhook protects.
func TestRun_AddsNothingForKruise(t *testing.T) {
	in := golden.Read(t, "testdata/protect/labels", "input.yaml")
	c := protectContext(in)
	c.Expand = func(string) bool { return false }
	if out, err := admission.Protect(c, in); err != nil || len(out) != len(in) || len(c.Findings.Findings()) != 0 {
		t.Errorf("%d objects, %v, %v", len(out), c.Findings.Findings(), err)
	}
}

func protectContext(in []*resource.Resource) *stage.Context {
	return stage.New(resource.NewFacts(in, nil, "shop"), stage.Options{Expand: stage.ExpandAll})
}
