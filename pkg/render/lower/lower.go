// Package lower is the stage in which workloads of Kruise become native ones.
package lower

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// Run is the stage.
func Run(c *stage.Context, in []*resource.Resource) ([]*resource.Resource, error) {
	return in, nil
}
