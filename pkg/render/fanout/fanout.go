// Package fanout is the stage in which ResourceDistributions become one copy
// per target namespace. First a plan says which namespaces get which copy,
// with all ResourceDistributions in view; then the copies are made.
package fanout

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

const kind = kruise.KindResourceDistribution

// Run is the stage. The copies of a ResourceDistribution stand where it stood,
// sorted by namespace.
func Run(c *stage.Context, in []*resource.Resource) ([]*resource.Resource, error) {
	if !c.Expand(kind) {
		return in, nil
	}
	p, err := newPlan(c, in)
	if err != nil || len(p.copies) == 0 {
		return in, err
	}
	return c.Replace(in, func(r *resource.Resource) ([]*resource.Resource, error) {
		switch d := p.copies[r]; {
		case d != nil:
			return d.render(), nil
		case p.replaced[r]:
			return nil, nil
		default:
			return []*resource.Resource{r}, nil
		}
	})
}
