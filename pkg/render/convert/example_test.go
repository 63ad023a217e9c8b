package convert_test

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/golden"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/convert"
)

// TestExample_EqualsItsComments: examples/convert is what its first lines say.
func TestExample_EqualsItsComments(t *testing.T) {
	const dir = "../../../examples/convert/"
	native, err := os.ReadFile(dir + "native.yaml")
	if err != nil {
		t.Fatal(err)
	}
	opt := options(t, "kruise")
	opt.Raise.PodUpdatePolicy = kruise.InPlaceIfPossiblePodUpdateStrategyType
	there, err := convert.ToKinds(t.Context(), golden.Parse(t, string(native)), opt)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := convert.ForRelease(there.Resources, convert.Writing{}); err != nil {
		t.Fatal(err)
	}
	golden.Same(t, dir+"kruise.yaml", golden.Text(t, there.Resources))
	opt = options(t, "native")
	opt.Forget = true
	back, err := convert.ToKinds(t.Context(), golden.Read(t, dir, "kruise.yaml"), opt)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(meanings(t, golden.Parse(t, string(native))), meanings(t, back.Resources)); diff != "" {
		t.Errorf("-was +is:\n%s", diff)
	}
}
