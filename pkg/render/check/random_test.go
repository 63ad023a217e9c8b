package check_test

import (
	"slices"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/conformance"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/check"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// taken reports whether the check takes a random object in a release, and why it does not.
func taken(release kruise.Release) func(conformance.Random) (ok bool, why string) {
	return func(r conformance.Random) (ok bool, why string) {
		in, err := load.Parse("object.yaml", r.Object)
		if err != nil {
			return false, err.Error()
		}
		c := newContext(in, []*resource.Resource{configuration()})
		c.Kruise = release
		faults := check.Object(c, check.Request{Operation: check.Create, Object: in[0], Known: true})
		faults = slices.DeleteFunc(faults, func(f check.Fault) bool { return f.Accepted })
		if len(faults) > 0 {
			return false, all(faults).Error()
		}
		return true, "it is taken"
	}
}

// TestConformanceRandom: random objects are taken and refused as by Kruise master.
func TestConformanceRandom(t *testing.T) {
	passed, failed := conformance.Share(t, "lint-random", "objects.jsonl", taken(kruise.Next))
	conformance.Report(t, "lint-random", passed, failed, 1)
}

// TestConformanceReleases: the same for released versions.
func TestConformanceReleases(t *testing.T) {
	passed, failed := 0, 0
	for release, share := range map[string]float64{"1.5": 1, "1.8": 1, "1.9": 1} {
		r, err := kruise.ParseRelease(release)
		if err != nil {
			t.Fatal(err)
		}
		p, f := conformance.Share(t, "releases", release+".jsonl", taken(r))
		conformance.Report(t, "releases "+release, p, f, share)
		passed, failed = passed+p, failed+f
	}
	conformance.Report(t, "releases", passed, failed, 0)
}
