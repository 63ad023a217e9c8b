package split

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// distinct refuses workloads that are called like another object: NAME-SUBSET
// is not unique when names hold dashes (web-a with b, web with a-b).
func distinct(c *stage.Context, in, out []*resource.Resource) error {
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
			errs.Add(clash(given, r, other))
		}
	}
	return errs.Err()
}

func clash(given map[*resource.Resource]bool, r, other *resource.Resource) error {
	if given[r] {
		r, other = other, r
	}
	err := r.Fault("", "rename the subset, or the object that has it", "the workload of a subset would be called like another object (%s)", other.Origin)
	return err
}
