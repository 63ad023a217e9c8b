package rules

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// CloneSetScale is what one pass does about the number of pods. At most one of
// the groups is filled, and a pass that has any does not update
// (docs/kruise/workloads.md#one-reconcile).
type CloneSetScale struct {
	// Undo are pods in PreparingDelete that return to PreparingNormal.
	Undo []*cluster.Pod
	// CreateOld and CreateNew are how many pods are made at the current and at
	// the update revision.
	CreateOld, CreateNew int
	// Held are missing pods that scaleStrategy.maxUnavailable does not let be
	// created yet.
	Held int
	// Delete are pods to go now; a preDelete hook may hold each of them first,
	// see [StateToDelete].
	Delete []*cluster.Pod
	// Any are pods that Kruise does not sort, because all of them go in the end:
	// those of them that are in Delete may be exchanged for any other.
	Any []*cluster.Pod
	// Why explains what is done, or what holds it up; it is empty when there is
	// nothing to do.
	Why string
}

// Acts reports whether the pass changes anything.
func (s CloneSetScale) Acts() bool {
	return len(s.Undo)+len(s.Delete)+s.CreateOld+s.CreateNew > 0
}

// Scale decides what one pass does about the number of pods, in the order of
// the controller: take back deletions, create, delete what a hook released,
// delete what was marked, scale down.
func (c *CloneSet) Scale() CloneSetScale {
	l, n := LimitsOfCloneSet(c.Spec), c.Count(true)
	held, marked := n.Old.PreparingDelete+n.New.PreparingDelete, n.Old.Marked+n.New.Marked
	if undo := c.undo(l.Replicas-(n.Old.Active+n.New.Active)+held+marked, held); len(undo) > 0 {
		return CloneSetScale{Undo: undo, Why: fmt.Sprintf("%d held deletions are not needed any more", len(undo))}
	}
	d := l.Diff(n)
	if d.ScaleUp > 0 {
		return created(d)
	}
	if released := c.released(held); len(released) > 0 {
		return CloneSetScale{Delete: released, Why: fmt.Sprintf("preDelete hook released %s", released[0].Name)}
	}
	if marked > 0 {
		return c.deleteMarked(d)
	}
	if d.ScaleDown == 0 {
		return CloneSetScale{}
	}
	return c.scaleDown(d)
}

func created(d CloneSetDiff) CloneSetScale {
	s := CloneSetScale{CreateOld: d.CreateOld, CreateNew: d.CreateNew, Why: fmt.Sprintf("%d pods are missing", d.ScaleUp)}
	if n := d.CreateOld + d.CreateNew; n < d.ScaleUp {
		s.Held = d.ScaleUp - n
		s.Why = fmt.Sprintf("%d pods are missing, scaleStrategy.maxUnavailable lets %d be created now", d.ScaleUp, n)
	}
	return s
}

// undo returns up to n of the held deletions, which the number of replicas does
// not ask for any more; held is how many there are. A hook that makes pods not
// ready, be it for updates, makes a held deletion final.
func (c *CloneSet) undo(n, held int) []*cluster.Pod {
	if held == 0 || n <= 0 || c.deletesForGood() {
		return nil
	}
	list := filter(c.active(), func(p *cluster.Pod) bool { return preparingDelete(p) && !c.marked(p) })
	return inOrder(list)[:upTo(n, len(list))]
}

func (c *CloneSet) deletesForGood() bool {
	l := c.Spec.Lifecycle
	return MarksNotReady(StatePreparingDelete, l) || MarksNotReady(StatePreparingUpdate, l)
}

// released returns the held deletions that no hook holds any more.
func (c *CloneSet) released(held int) []*cluster.Pod {
	if held == 0 {
		return nil
	}
	return filter(c.active(), func(p *cluster.Pod) bool {
		return preparingDelete(p) && (c.Spec.Lifecycle == nil || !Hooked(c.Spec.Lifecycle.PreDelete, p))
	})
}

func (c *CloneSet) deleteMarked(d CloneSetDiff) CloneSetScale {
	marked := filter(c.active(), func(p *cluster.Pod) bool { return c.marked(p) && !preparingDelete(p) })
	s := c.deleteWithin(inOrder(marked), d, "marked for deletion")
	s.Any = marked
	return s
}

// scaleDown takes surplus pods, but never while others are on their way out.
func (c *CloneSet) scaleDown(d CloneSetDiff) CloneSetScale {
	active := c.active()
	if held := filter(active, preparingDelete); len(held) > 0 {
		return CloneSetScale{Why: fmt.Sprintf("%d pods too many; waiting for %s, which its preDelete hook holds", d.ScaleDown, held[0].Name)}
	}
	s := c.deleteWithin(c.Victims(d.ScaleDown, d.DownOld), d, "too many")
	s.Any = c.unsorted(active, d)
	return s
}

// unsorted returns the pods of a side that goes as a whole (recorded in 088).
func (c *CloneSet) unsorted(active []*cluster.Pod, d CloneSetDiff) []*cluster.Pod {
	var out []*cluster.Pod
	fromOld := min(d.ScaleDown, d.DownOld)
	if old := filter(active, not(c.updated)); fromOld == len(old) {
		out = append(out, old...)
	}
	if updated := filter(active, c.updated); d.ScaleDown-fromOld == len(updated) {
		out = append(out, updated...)
	}
	return out
}

// deleteWithin keeps what the budget allows: pods that are not available even
// without minReadySeconds always, the others as far as the limit goes.
func (c *CloneSet) deleteWithin(list []*cluster.Pod, d CloneSetDiff, because string) CloneSetScale {
	var s CloneSetScale
	left := d.DeleteReadyLimit
	for _, p := range list {
		if Available(p, 0, c.Now) {
			if left <= 0 {
				continue
			}
			left--
		}
		s.Delete = append(s.Delete, p)
	}
	s.Why = fmt.Sprintf("%d pods %s", len(list), because)
	if n := len(list) - len(s.Delete); n > 0 {
		s.Why += fmt.Sprintf(", %d of them wait: maxUnavailable lets %d available pods go now", n, d.DeleteReadyLimit)
	}
	return s
}

func preparingDelete(p *cluster.Pod) bool { return StateOf(p) == StatePreparingDelete }

// phaseRank orders phases: Pending before Unknown before Running.
func phaseRank(phase corev1.PodPhase) int {
	switch phase {
	case corev1.PodPending:
		return 0
	case corev1.PodUnknown:
		return 1
	case corev1.PodRunning:
		return 2
	}
	return 0
}
