// Package lower is the stage in which workloads of Kruise become native ones:
// the objects that Kubernetes' own controllers, or this tool as the client
// driver, can run without Kruise. It changes the tree that the user wrote, so
// that templates, comments and unknown fields stay; types are for deciding.
package lower

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// lowerings are the kinds that this stage replaces; no two groups of Kruise share
// a kind.
var lowerings = map[string]func(*stage.Context, *around, *resource.Resource) ([]*resource.Resource, error){
	kruise.KindAdvancedCronJob:      lowerAdvancedCronJob,
	kruise.KindBroadcastJob:         lowerBroadcastJob,
	kruise.KindCloneSet:             lowerCloneSet,
	kruise.KindDaemonSet:            lowerDaemonSet,
	kruise.KindImageListPullJob:     lowerImageListPullJob,
	kruise.KindImagePullJob:         lowerImagePullJob,
	kruise.KindPodProbeMarker:       dropProbeMarker,
	kruise.KindPodUnavailableBudget: lowerBudget,
	kruise.KindStatefulSet:          lowerStatefulSet,
}

// Run replaces every workload of Kruise by its native form where that kind is
// expanded, and reports the Kruise objects that stay although native ones are
// wanted.
func Run(c *stage.Context, in []*resource.Resource) ([]*resource.Resource, error) {
	return Chosen(c, in, func(r *resource.Resource) bool { return c.Expand(r.Kind()) })
}

// Chosen is Run for those of the objects that are chosen.
func Chosen(c *stage.Context, in []*resource.Resource, chosen func(*resource.Resource) bool) ([]*resource.Resource, error) {
	around, err := surroundings(c, in)
	if err != nil {
		return nil, err
	}
	out, err := c.Replace(in, func(r *resource.Resource) ([]*resource.Resource, error) {
		if f, ok := lowerings[r.Kind()]; ok && ours(r) && chosen(r) {
			return f(c, around, r)
		}
		reportKept(c, r)
		return []*resource.Resource{r}, nil
	})
	if err != nil {
		return nil, err
	}
	return out, collisions(c, in, out)
}

// collisions finds made objects whose name another object of the output has.
func collisions(c *stage.Context, in, out []*resource.Resource) error {
	came := make(map[*resource.Resource]bool, len(in))
	for _, r := range in {
		came[r] = true
	}
	count := make(map[resource.ID]int, len(out))
	for _, r := range out {
		count[c.Facts.IDOf(r)]++
	}
	var faults resource.Errors
	for _, r := range out {
		if !came[r] && count[c.Facts.IDOf(r)] > 1 {
			faults.Add(r.Fault("metadata.name", "rename one of the two, or take the other out of the input",
				"a Kruise workload would become a second %s of this name", r.Kind()))
		}
	}
	return faults.Err()
}
