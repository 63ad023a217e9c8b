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

func TestForRelease_WritesAVersion(t *testing.T) {
	in := golden.Parse(t, older+"---\n"+others)
	written, err := convert.ForRelease(in, convert.Writing{Version: kruise.V1beta1, Release: kruise.Next})
	if err != nil || len(written.Lost) != 0 || len(written.Skipped) != 1 || written.Skipped[0].Kind() != "EphemeralJob" {
		t.Fatal(written, err)
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

// TestForRelease_RoundTrips: what was there comes back.
func TestForRelease_RoundTrips(t *testing.T) {
	in := golden.Parse(t, older)
	before := text(t, golden.Parse(t, older))
	for _, version := range []string{kruise.V1beta1, kruise.V1alpha1} {
		if written, err := convert.ForRelease(in, convert.Writing{Version: version, Release: kruise.Next}); err != nil || len(written.Lost) != 0 {
			t.Fatal(written, err)
		}
	}
	if diff := cmp.Diff(before, text(t, in)); diff != "" {
		t.Error(diff)
	}
}

func TestForRelease_ReportsLosses(t *testing.T) {
	written, err := convert.ForRelease(golden.Parse(t, newer), convert.Writing{Version: kruise.V1alpha1, Release: kruise.Next})
	if err != nil || len(written.Lost) != 1 {
		t.Fatal(written, err)
	}
	if l := written.Lost[0]; l.Path != "spec.reserveOrdinals" || l.Line != 6 || l.Object.Name != "db" || l.Why == "" {
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
