package plan

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// WithPods returns a workload that asks for so many pods; one that has a pod per
// node, or the pods of others, is told so in its status. Fewer than none leave it as
// it is.
func WithPods(w *cluster.Workload, pods int) *cluster.Workload {
	if pods < 0 {
		return w
	}
	return with(w, cluster.Of(w.Object).WithPods(pods))
}

// Reach says how many of its pods a workload lets follow a new template by its
// own partition, pause and strategy, before anybody moves those; total is how many
// there are, as far as the object says. ok is false where pods follow only when
// somebody deletes them.
func Reach(w *cluster.Workload, gates cluster.Gates) (reach, total int, ok bool) {
	b := &builder{desired: w, present: w, snap: Snapshot{Workload: w, Gates: gates}}
	b.sub = b.subject()
	total = b.sub.total
	if b.sub.take == nil {
		return 0, total, false
	}
	if rules.PausedOf(w.Object) {
		return 0, total, true
	}
	if own, has := b.ownPartition(); has {
		return max(0, min(b.sub.allowed(own), total)), total, true
	}
	return total, total, true
}
