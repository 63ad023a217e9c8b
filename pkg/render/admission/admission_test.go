package admission_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/golden"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/admission"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// TestRun_EqualsGolden renders testdata/CASE/input.yaml; beta- cases are for Kubernetes 1.34,
// alpha- cases for 1.32, with APIs permitted that are off by default.
func TestRun_EqualsGolden(t *testing.T) {
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
	return stage.New(resource.NewFacts(in, nil, "shop"), stage.Options{SidecarSetAs: stage.Admission, Expand: stage.ExpandAll})
}

// TestRun_NeedsTheOption: without the option, and where SidecarSets stay, nothing happens.
func TestRun_NeedsTheOption(t *testing.T) {
	for name, change := range map[string]func(*stage.Context){
		"injection": func(c *stage.Context) { c.SidecarSetAs = stage.Injection },
		"kept":      func(c *stage.Context) { c.Expand = func(string) bool { return false } },
	} {
		in := golden.Read(t, "testdata/basic", "input.yaml")
		c := newContext(in)
		change(c)
		out, err := admission.Run(c, in)
		if err != nil || len(out) != 1 || out[0] != in[0] || c.Admitted != nil || len(c.Findings.Findings()) > 0 {
			t.Errorf("%s: %v, %v, %v", name, out, c.Admitted, err)
		}
	}
}

// TestUnserved: a server without the API is an error with a hint.
func TestUnserved(t *testing.T) {
	for minor, preview := range map[int]bool{35: false, 31: true} {
		in := golden.Read(t, "testdata/several", "input.yaml")
		c := newContext(in)
		c.Kubernetes, c.PreviewAPIs = minor, preview
		_, err := admission.Run(c, in)
		if err == nil || strings.Count(err.Error(), "serves no MutatingAdmissionPolicy") != 2 {
			t.Errorf("1.%d: %v", minor, err)
		}
		if out, err := admission.Run(c, nil); err != nil || len(out) != 0 {
			t.Errorf("1.%d without sets: %v, %v", minor, out, err)
		}
	}
}

// TestRun_WritesNoSetOfTheContext: a set that exists counts as a policy that exists, and is neither
// written nor reported.
func TestRun_WritesNoSetOfTheContext(t *testing.T) {
	all := golden.Read(t, "testdata/several", "input.yaml")
	in, context := all[:1], all[1:]
	c := newContext(in)
	c.Facts = resource.NewFacts(in, context, "shop")
	out, err := admission.Run(c, in)
	if err != nil || len(out) != 2 {
		t.Fatalf("%d objects, %v", len(out), err)
	}
	if c.Admitted["alpha"] == nil || c.Admitted["beta"] == nil {
		t.Errorf("admitted: %v", c.Admitted)
	}
	for _, f := range c.Findings.Findings() {
		if f.Object.Name != "alpha" {
			t.Errorf("finding about %s", f.Object)
		}
	}
}

// TestRun_RefusesSetThatRefusesEveryPod: a set for which every pod would be refused is an error, not a policy
// that refuses them.
func TestRun_RefusesSetThatRefusesEveryPod(t *testing.T) {
	in := golden.Read(t, "testdata/hot-upgrade", "input.yaml")
	cool := tree.Items(tree.Get(in[0].Edit(), "spec", "containers"))[1]
	tree.DeleteAt(cool, "upgradeStrategy", "hotUpgradeEmptyImage")
	if _, err := admission.Run(newContext(in), in); err == nil || !strings.Contains(err.Error(), "every pod would be refused") {
		t.Errorf("want an error: %v", err)
	}
}
