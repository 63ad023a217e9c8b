package clusterread

import (
	"errors"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// Populate is [simulate.Populate] of objects from files: errors name theirs.
func Populate(target *resource.Resource, others []*resource.Resource, p simulate.Population) (plan.Snapshot, error) {
	nodes := make([]*tree.Node, len(others))
	for i, r := range others {
		nodes[i] = r.Node()
	}
	s, err := simulate.Populate(target.Node(), nodes, p)
	if other, ok := errors.AsType[*simulate.OtherError](err); ok {
		return s, others[other.Index].Wrap(other.Err, "")
	}
	return s, target.Wrap(err, "")
}
