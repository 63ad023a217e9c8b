// Package split is the stage in which UnitedDeployment and WorkloadSpread become one workload per subset.
package split

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// Run is the stage.
func Run(c *stage.Context, in []*resource.Resource) ([]*resource.Resource, error) {
	return in, nil
}
