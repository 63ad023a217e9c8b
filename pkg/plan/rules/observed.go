package rules

import "github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"

// Observed reports whether the controller has seen the present spec: before it
// has, the status is about an older one.
func Observed(obj any) bool {
	t := cluster.Of(obj)
	return t.ObservedGeneration() >= t.Generation()
}
