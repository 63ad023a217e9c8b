package split

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// observed is what the facts hold about workloads and pods of subsets, by
// namespace; what exists in the cluster stands before what is in the input.
type observed struct {
	// labelled workloads name a subset, the others can be known by their name.
	labelled map[string][]candidate
	named    map[resource.ID]*candidate
	pods     map[string][]*resource.Resource
}

// candidate is a workload that may belong to a UnitedDeployment.
type candidate struct {
	r      *resource.Resource
	id     resource.ID
	labels map[string]string
	// owner is what controls it, the zero ID when nothing does.
	owner resource.ID
}

// kinds that a subset's workload can have: those of the template, and what a
// CloneSet is lowered to.
var kinds = []struct{ group, kind string }{
	{kruise.Group, kruise.KindCloneSet},
	{kruise.Group, kruise.KindStatefulSet},
	{"apps", kruise.KindDeployment},
	{"apps", kruise.KindStatefulSet},
	{"apps", kruise.KindReplicaSet},
}

func observe(c *stage.Context) *observed {
	o := &observed{labelled: map[string][]candidate{}, named: map[resource.ID]*candidate{}, pods: map[string][]*resource.Resource{}}
	for _, k := range kinds {
		for _, r := range append(c.Facts.Context(k.group, k.kind), c.Facts.Stream(k.group, k.kind)...) {
			o.workload(candidate{r: r, id: c.Facts.IDOf(r), labels: r.Labels(), owner: controller(r.Node())})
		}
	}
	for _, r := range c.Facts.Context("", "Pod") {
		if r.Label(kruise.SubsetNameLabel) != "" {
			ns := c.Facts.NamespaceOf(r)
			o.pods[ns] = append(o.pods[ns], r)
		}
	}
	return o
}

func (o *observed) workload(w candidate) {
	if w.labels[kruise.SubsetNameLabel] != "" {
		o.labelled[w.id.Namespace] = append(o.labelled[w.id.Namespace], w)
	}
	if _, twice := o.named[w.id]; !twice {
		o.named[w.id] = &w
	}
}

// controller returns what controls the object; its namespace is left out.
func controller(n *tree.Node) resource.ID {
	for _, ref := range tree.Items(tree.Get(n, "metadata", "ownerReferences")) {
		if tree.Bool(tree.Get(ref, "controller")) {
			return resource.ID{Group: resource.GroupOf(tree.StrAt(ref, "apiVersion")), Kind: tree.StrAt(ref, "kind"), Name: tree.StrAt(ref, "name")}
		}
	}
	return resource.ID{}
}
