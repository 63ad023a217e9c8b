// Package split is the stage in which a UnitedDeployment becomes one workload
// per subset, as Kruise's controller would write it. It knows allocation and
// pod templates; what a workload of a Kruise kind becomes afterwards is the
// matter of later stages.
package split

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

const kind = "UnitedDeployment"

// Run is the stage.
func Run(c *stage.Context, in []*resource.Resource) ([]*resource.Resource, error) {
	if !c.Expand(kind) || len(c.Facts.Stream(kruise.Group, kind)) == 0 {
		return in, nil
	}
	seen := observe(c)
	out, err := c.Replace(in, func(r *resource.Resource) ([]*resource.Resource, error) {
		if !r.Is(kruise.Group, kind) {
			return []*resource.Resource{r}, nil
		}
		return expand(c, seen, r)
	})
	if err != nil {
		return nil, err
	}
	return out, distinct(c, in, out)
}
