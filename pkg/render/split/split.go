// Package split is the stage in which a UnitedDeployment, and the target of a
// WorkloadSpread, become one workload per subset: as Kruise's controller would
// write them, or with the pods that Kruise's webhook would make. It knows
// allocation and pod templates; what a workload of a Kruise kind becomes
// afterwards is the matter of later stages.
package split

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

const kind = kruise.KindUnitedDeployment

// Run is the stage.
func Run(c *stage.Context, in []*resource.Resource) ([]*resource.Resource, error) {
	out, err := unite(c, in)
	if err != nil {
		return nil, err
	}
	if out, err = spreadAll(c, out); err != nil {
		return nil, err
	}
	return out, distinct(c, in, out)
}

// unite replaces every UnitedDeployment by its workloads.
func unite(c *stage.Context, in []*resource.Resource) ([]*resource.Resource, error) {
	if !c.Expand(kind) || len(c.Facts.Stream(kruise.Group, kind)) == 0 {
		return in, nil
	}
	seen := observe(c)
	return c.Replace(in, func(r *resource.Resource) ([]*resource.Resource, error) {
		if !r.Is(kruise.Group, kind) {
			return []*resource.Resource{r}, nil
		}
		return expand(c, seen, r)
	})
}
