package lower

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// around is what the other objects say about CloneSets. It is gathered once
// and only read afterwards.
type around struct {
	// autoscaled are the CloneSets whose replicas an autoscaler owns.
	autoscaled map[resource.ID]bool
	// services are all Services by identity, the input's before the context's.
	services map[resource.ID]*resource.Resource
	// given are the Services of the input.
	given map[*resource.Resource]bool
}

func surroundings(c *stage.Context, in []*resource.Resource) *around {
	a := &around{autoscaled: map[resource.ID]bool{}, services: map[resource.ID]*resource.Resource{}, given: map[*resource.Resource]bool{}}
	for _, r := range c.Facts.Context("", "Service") {
		a.services[identity(c, r)] = r
	}
	for _, r := range in {
		if r.Is("", "Service") {
			a.services[identity(c, r)] = r
			a.given[r] = true
		}
		a.scaler(c, r)
	}
	for _, kind := range [][2]string{{"autoscaling", "HorizontalPodAutoscaler"}, {"keda.sh", "ScaledObject"}} {
		for _, r := range c.Facts.Context(kind[0], kind[1]) {
			a.scaler(c, r)
		}
	}
	return a
}

// scaler notes the target of an autoscaler. A target that was split before is
// followed to its parts.
func (a *around) scaler(c *stage.Context, r *resource.Resource) {
	if !r.Is("autoscaling", "HorizontalPodAutoscaler") && !r.Is("keda.sh", "ScaledObject") {
		return
	}
	ref := tree.Get(r.Node(), "spec", "scaleTargetRef")
	id := resource.ID{
		Group: resource.GroupOf(tree.StrAt(ref, "apiVersion")), Kind: tree.StrAt(ref, "kind"),
		Namespace: r.Namespace(), Name: tree.StrAt(ref, "name"),
	}
	targets, followed := c.Lineage.Resolve(id)
	if !followed {
		targets = []stage.Target{{APIVersion: tree.StrAt(ref, "apiVersion"), Kind: id.Kind, Name: id.Name}}
	}
	for _, t := range targets {
		a.autoscaled[resource.ID{Group: resource.GroupOf(t.APIVersion), Kind: t.Kind, Namespace: c.Facts.NamespaceOf(r), Name: t.Name}] = true
	}
}
