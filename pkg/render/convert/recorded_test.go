package convert_test

import (
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/conformance"
	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/golden"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/convert"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// TestToKinds_RoundTripsRecordedObjects takes every recorded object that a real cluster
// took and that has a counterpart there and back.
func TestToKinds_RoundTripsRecordedObjects(t *testing.T) {
	conformance.Area(t, "lint", func(t *testing.T, c conformance.Case) error {
		t.Helper()
		for _, file := range []string{"object.yaml", "stored.yaml"} {
			if !c.Has(file) {
				continue
			}
			b, err := c.Read(file)
			if err != nil {
				return err
			}
			text := string(b)
			there, err := convert.ToKinds(t.Context(), golden.Parse(t, text), options(t, "native"))
			if err != nil || there.Converted == 0 || refused(golden.Parse(t, text)[0]) {
				continue // no counterpart, or Kruise refuses it
			}
			comesBack(t, golden.Parse(t, text), there.Resources)
		}
		return nil
	})
}

// TestToKinds_RoundTripsFixtures: native objects of the project's fixtures go to Kruise
// and back.
func TestToKinds_RoundTripsFixtures(t *testing.T) {
	for _, glob := range []string{"../sidecar/testdata/*/input.yaml", "../lower/testdata/*/expected.yaml"} {
		for _, dir := range golden.Cases(t, glob) {
			name := "input.yaml"
			if glob == "../lower/testdata/*/expected.yaml" {
				name = "expected.yaml"
			}
			for _, r := range golden.Read(t, dir, name) {
				alone := []*resource.Resource{r}
				there, err := convert.ToKinds(t.Context(), golden.Parse(t, golden.Text(t, alone)), options(t, "kruise"))
				if err != nil || there.Converted == 0 {
					continue // which Kruise would refuse, or has no counterpart for
				}
				comesBack(t, alone, there.Resources)
			}
		}
	}
}
