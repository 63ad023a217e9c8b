package lower_test

import (
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/golden"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/lower"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// TestStatefulSet_MaxUnavailableNeedsTheServerToHaveIt: a StatefulSet gets the field where the server
// has it on.
func TestStatefulSet_MaxUnavailableNeedsTheServerToHaveIt(t *testing.T) {
	for version, want := range map[int]int64{29: 0, 36: 0, 37: 2, 0: 2} {
		in := golden.Parse(t, set("web", "  replicas: 10\n"+claims))
		c := newContext(in, stage.Native)
		c.Kubernetes = version
		out, err := lower.Run(c, in)
		if err != nil {
			t.Fatal(err)
		}
		got, _ := tree.Int(tree.Get(out[0].Node(), "spec", "updateStrategy", "rollingUpdate", "maxUnavailable"))
		said := false
		for _, f := range c.Findings.Findings() {
			said = said || f.ID == "cloneset/max-unavailable-statefulset"
		}
		if got != want || said != (want == 0) {
			t.Errorf("for 1.%d: %d, want %d; said %v", version, got, want, said)
		}
	}
}
