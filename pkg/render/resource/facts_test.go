package resource_test

import (
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

func TestExisting(t *testing.T) {
	object := func(namespace string) *resource.Resource {
		meta := tree.Map("name", "web")
		if namespace != "" {
			tree.Set(meta, "namespace", tree.String(namespace))
		}
		return resource.Parsed(tree.Map("apiVersion", "v1", "kind", "Service", "metadata", meta), nil, resource.Origin{})
	}
	given, inCluster, elsewhere := object("shop"), object(""), object("far")
	f := resource.NewFacts([]*resource.Resource{given}, []*resource.Resource{inCluster, elsewhere}, "shop")
	for _, r := range []*resource.Resource{given, inCluster} {
		if got := f.Existing(r); got != inCluster {
			t.Errorf("got %p, want the object of the cluster, not the input's", got)
		}
	}
	if got := f.Existing(object("nowhere")); got != nil {
		t.Errorf("got %v", got.ID())
	}
	if got, want := f.IDOf(given), f.IDOf(inCluster); got != want {
		t.Errorf("%v is not %v", got, want)
	}
}
