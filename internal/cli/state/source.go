package state

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// Source rebuilds the Kruise workload that a native one was rendered from; faults
// are placed in its file.
func Source(carrier *resource.Resource, kind, name string) (*cluster.Workload, error) {
	w, err := cluster.ReadSource(carrier.Node(), kind, name)
	return w, carrier.Wrap(err, "")
}
