package stage

import (
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

func TestWritten(t *testing.T) {
	spec := tree.Map("no", false, "zero", 0, "percent", "0%", "empty", "", "null", tree.Null(),
		"yes", true, "one", 1, "list", tree.Seq(), "map", tree.Map())
	for field, want := range map[string]bool{
		"no": false, "zero": false, "percent": false, "empty": false, "null": false, "missing": false, "yes.deeper": false,
		"yes": true, "one": true, "list": true, "map": true,
	} {
		if got := Written(tree.Map("spec", spec), "spec."+field); got != want {
			t.Errorf("%s: %v", field, got)
		}
	}
}
