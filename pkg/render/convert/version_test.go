package convert_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/golden"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/convert"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/emit"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

const older = `# the shop's web
apiVersion: apps.kruise.io/v1alpha1
kind: CloneSet
metadata: {name: web}
spec:
  replicas: 3 # one per zone
  selector: {matchLabels: {app: web}}
  updateStrategy:
    type: InPlaceIfPossible # images only
    partition: 1
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: "example.com/c:1"}]}
`

const newer = `apiVersion: apps.kruise.io/v1beta1
kind: StatefulSet
metadata: {name: db}
spec:
  selector: {matchLabels: {app: db}}
  reserveOrdinals: [1]
  template:
    metadata: {labels: {app: db}}
    spec: {containers: [{name: c, image: "example.com/c:1"}]}
`

const others = `apiVersion: apps/v1
kind:   Deployment   # odd spaces stay
metadata: {name: plain}
---
apiVersion: apps.kruise.io/v1alpha1
kind: EphemeralJob
metadata: {name: alpha-only}
spec: {}
`

func TestToVersion(t *testing.T) {
	in := golden.Parse(t, older+"---\n"+others)
	lost, skipped, err := convert.ToVersion(in, kruise.V1beta1)
	if err != nil || len(lost) != 0 || len(skipped) != 1 || skipped[0].Kind() != "EphemeralJob" {
		t.Fatal(lost, skipped, err)
	}
	got := text(t, in)
	for _, want := range []string{
		"# the shop's web\napiVersion: apps.kruise.io/v1beta1\n", "replicas: 3 # one per zone",
		"podUpdatePolicy: InPlaceIfPossible # images only", "kind:   Deployment   # odd spaces stay",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
}

// TestToVersion_RoundTrips: what was there comes back.
func TestToVersion_RoundTrips(t *testing.T) {
	in := golden.Parse(t, older)
	before := text(t, golden.Parse(t, older))
	for _, version := range []string{kruise.V1beta1, kruise.V1alpha1} {
		if lost, _, err := convert.ToVersion(in, version); err != nil || len(lost) != 0 {
			t.Fatal(lost, err)
		}
	}
	if diff := cmp.Diff(before, text(t, in)); diff != "" {
		t.Error(diff)
	}
}

func TestToVersion_ReportsLosses(t *testing.T) {
	lost, _, err := convert.ToVersion(golden.Parse(t, newer), kruise.V1alpha1)
	if err != nil || len(lost) != 1 {
		t.Fatal(lost, err)
	}
	if l := lost[0]; l.Path != "spec.reserveOrdinals" || l.Line != 6 || l.Object.Name != "db" || l.Why == "" {
		t.Errorf("got %+v", l)
	}
}

func text(t *testing.T, list []*resource.Resource) string {
	t.Helper()
	var b bytes.Buffer
	if err := emit.Stream(&b, list, stage.Limits{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
