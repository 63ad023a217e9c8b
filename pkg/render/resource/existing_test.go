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
	id := resource.ID{Kind: "Service", Namespace: "shop", Name: "web"}
	if got := f.Existing(id); got != inCluster {
		t.Errorf("got %p, want the object of the cluster, not the input's", got)
	}
	id.Namespace = "nowhere"
	if got := f.Existing(id); got != nil {
		t.Errorf("got %v", got.ID())
	}
}
