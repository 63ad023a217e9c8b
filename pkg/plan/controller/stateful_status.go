package controller

import (
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// statefulCounts are the numbers of a StatefulSet's status. Terminating pods
// count, but not as current or updated.
type statefulCounts struct {
	replicas, ready, available                       int32
	current, updated, updatedReady, updatedAvailable int32
}

// countStateful counts the pods that there were when the pass began.
func countStateful(list []*cluster.Pod, current, update string, minReady time.Duration, now time.Time) statefulCounts {
	var n statefulCounts
	for _, p := range list {
		revision, ready := rules.RevisionOf(p), int32(0)
		if rules.Ready(p) {
			ready = 1
		}
		available := int32(0)
		if ready == 1 && rules.ReadyFor(p, minReady, now) {
			available = 1
		}
		n.replicas++
		n.ready += ready
		n.available += available
		if revision == current && !p.Deleting {
			n.current++
		}
		if revision == update {
			n.updatedReady += ready
			n.updatedAvailable += available
			if !p.Deleting {
				n.updated++
			}
		}
	}
	return n
}

// complete reports whether every pod that there is carries the update revision
// and is ready; then the current revision moves, whatever is still missing.
func (n statefulCounts) complete() bool { return n.updated == n.replicas && n.ready == n.replicas }
