package split

import "github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"

// name returns the name of a subset's workload.
func (f form) name(owner, subset string) string {
	return stage.PieceName(owner, subset, f.nameLimit, f.hostnames)
}
