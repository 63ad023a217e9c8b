package state

import (
	"slices"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// HasPods reports whether there are pods among the objects.
func HasPods(list []*resource.Resource) bool {
	return slices.ContainsFunc(list, func(r *resource.Resource) bool { return r.Is("", "Pod") })
}

// After is the time of a state that was recorded: an hour after the last thing that
// happened to any pod, so that nobody waits for what was recorded.
func After(pods []*cluster.Pod) time.Time {
	var at time.Time
	for _, p := range pods {
		for _, c := range p.Conditions {
			if c.Since.After(at) {
				at = c.Since
			}
		}
		if p.Created.After(at) {
			at = p.Created
		}
	}
	return at.Add(time.Hour)
}
