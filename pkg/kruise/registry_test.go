package kruise_test

import (
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// TestKinds: each kind of the table has a type, and the definitions that lie
// beside the project have the same scope.
func TestKinds(t *testing.T) {
	all := map[string]kruise.Registered{}
	for _, k := range kruise.Kinds() {
		all[k.Kind] = k
		if !kruise.Serves(k.Group, k.Kind, k.Newest()) || k.Type.Name() != k.Kind {
			t.Errorf("%+v", k)
		}
	}
	if len(all) != len(objects) {
		t.Errorf("%d kinds, %d types", len(all), len(objects))
	}
	for _, c := range crds(t) {
		if k := all[c.Spec.Names.Kind]; k.ClusterScoped != (c.Spec.Scope == "Cluster") || len(k.Versions) != len(c.Spec.Versions) {
			t.Errorf("%s: %+v, %s", c.Spec.Names.Kind, k, c.Spec.Scope)
		}
	}
}
