package check_test

import (
	"slices"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/conformance"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/check"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// taken reports whether the check takes a random object, and why it does not.
func taken(r conformance.Random) (ok bool, why string) {
	in, err := load.Parse("object.yaml", r.Object)
	if err != nil {
		return false, err.Error()
	}
	faults := check.Object(newContext(in, []*resource.Resource{configuration()}), check.Request{Operation: check.Create, Object: in[0], Known: true})
	faults = slices.DeleteFunc(faults, func(f check.Fault) bool { return f.Accepted })
	if len(faults) > 0 {
		return false, all(faults).Error()
	}
	return true, "it is taken"
}

// TestConformanceRandom: random objects are taken and refused as by Kruise master. The share
// rises with the rules; it never falls.
func TestConformanceRandom(t *testing.T) {
	passed, failed := conformance.Share(t, "lint-random", "objects.jsonl", taken)
	conformance.Report(t, "lint-random", passed, failed, 0.99)
}

// TestConformanceReleases: the same for released versions, whose own rules the check does
// not know yet.
func TestConformanceReleases(t *testing.T) {
	passed, failed := 0, 0
	for release, share := range map[string]float64{"1.5": 0.93, "1.8": 0.96, "1.9": 0.96} {
		p, f := conformance.Share(t, "releases", release+".jsonl", taken)
		conformance.Report(t, "releases "+release, p, f, share)
		passed, failed = passed+p, failed+f
	}
	conformance.Report(t, "releases", passed, failed, 0)
}
