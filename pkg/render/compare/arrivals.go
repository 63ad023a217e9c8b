package compare

import (
	"fmt"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// added says what a new object brings.
func (c *comparison) added(ch *Change, r *resource.Resource) {
	switch w, err := workloadOf(r); {
	case err != nil:
		ch.refuse(err)
	case w != nil:
		if n := c.crowd(r, w); n > 0 && w.Kind != kruise.KindSidecarSet {
			ch.add(Note, "", pods(n)+" are created")
		}
	}
	for _, p := range c.now.parts(unitedDeployment(r)) {
		ch.Subsets = append(ch.Subsets, Subset{Verb: Added, Name: p.name, Workload: p.r.ID(), To: wanted(p.r)})
	}
	unknown(ch, form{}, formOf(r, true))
}

// departures are what goes with objects of some kinds.
var departures = map[string]string{
	"/Namespace":             "everything in the namespace is deleted with it",
	"/PersistentVolumeClaim": "the claim and, as most storage classes have it, the data in it are deleted",
	"apiextensions.k8s.io/CustomResourceDefinition": "all objects of the kind are deleted with it",
}

// removed says what goes with an object, should whoever applies the new state
// delete what is not in it.
func (c *comparison) removed(ch *Change, r *resource.Resource) {
	if text := departures[kindOf(r)]; text != "" {
		ch.add(Loss, "", text)
	}
	if r.Is("", "PersistentVolume") && tree.StrAt(r.Node(), "spec", "persistentVolumeReclaimPolicy") == "Delete" {
		ch.add(Loss, "", "the data in it is deleted")
	}
	c.gone(ch, r, "")
	for _, p := range c.old.parts(unitedDeployment(r)) {
		ch.Subsets = append(ch.Subsets, Subset{Verb: Removed, Name: p.name, Workload: p.r.ID(), From: wanted(p.r)})
		c.gone(ch, p.r, "subset "+p.name+": ")
	}
}

// gone says what goes with a workload; whose names it when it is part of another.
func (c *comparison) gone(ch *Change, r *resource.Resource, whose string) {
	w, err := workloadOf(r)
	if err != nil || w == nil || w.Kind == kruise.KindSidecarSet {
		return
	}
	n := c.crowd(r, w)
	if n != 0 {
		ch.add(Loss, "", whose+pods(n)+" "+goes(n)+", and nothing comes in their place")
	}
	switch had := claimsOf(w.Object); {
	case !had.any():
	case had.whenDeleted:
		ch.add(Loss, "", fmt.Sprintf("%sthe claims (%s) are deleted with it, and the data in them", whose, had))
	default:
		ch.add(Note, "", fmt.Sprintf("%sthe claims (%s) stay", whose, had))
	}
}

func goes(n int) string {
	if n == 1 {
		return "goes"
	}
	return "go"
}

// workloadOf reads a workload; nil for any other kind.
func workloadOf(r *resource.Resource) (*cluster.Workload, error) {
	if !cluster.IsWorkload(r.Group(), r.Kind()) {
		return nil, nil //nolint:nilnil // another kind is no error
	}
	return cluster.ReadWorkload(r.Node())
}

// unitedDeployment returns r if it is one, else nil.
func unitedDeployment(r *resource.Resource) *resource.Resource {
	if r.Is(kruise.Group, kruise.KindUnitedDeployment) {
		return r
	}
	return nil
}
