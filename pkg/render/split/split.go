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
	out, err := expandUnitedDeployments(c, in)
	if err != nil {
		return nil, err
	}
	if out, err = spreadAll(c, out); err != nil {
		return nil, err
	}
	return out, checkNames(c, in, out)
}

// expandUnitedDeployments replaces every UnitedDeployment by its workloads.
func expandUnitedDeployments(c *stage.Context, in []*resource.Resource) ([]*resource.Resource, error) {
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

// checkNames refuses workloads that are called like another object: NAME-SUBSET
// is not unique when names hold dashes (web-a with b, web with a-b).
func checkNames(c *stage.Context, in, out []*resource.Resource) error {
	given := make(map[*resource.Resource]bool, len(in))
	for _, r := range in {
		given[r] = true
	}
	made := map[resource.ID]*resource.Resource{}
	for _, r := range out {
		if !given[r] {
			made[c.Facts.IDOf(r)] = nil
		}
	}
	if len(made) == 0 {
		return nil
	}
	var errs resource.Errors
	for _, r := range out {
		key := c.Facts.IDOf(r)
		other, contested := made[key]
		switch {
		case !contested:
		case other == nil:
			made[key] = r
		default:
			errs.Add(nameClash(given, r, other))
		}
	}
	return errs.Err()
}

func nameClash(given map[*resource.Resource]bool, r, other *resource.Resource) error {
	if given[r] {
		r, other = other, r
	}
	err := r.Fault("", "rename the subset, or the object that has it", "the workload of a subset would have the name of another object (%s)", other.Origin)
	return err
}
