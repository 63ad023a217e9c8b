package rules

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// DaemonSetUpdate is what one pass of an update may do. Which of the candidates
// come first is random in Kruise: Room of them, any.
type DaemonSetUpdate struct {
	// Broken are old pods that are not available; they are replaced outside
	// the budget.
	Broken []*cluster.Pod
	// Candidates are old pods that are available, of which Room go now: updated
	// in place or deleted, or, under maxSurge, joined by a new pod.
	Candidates []*cluster.Pod
	Room       int
	// Surge is true when a new pod is created beside the old one, for Broken
	// and Candidates alike.
	Surge bool
	// Finished are old pods whose new neighbour is available; they go.
	Finished []*cluster.Pod
	// Why says what decides.
	Why string
}

// ChooseUpdate decides what a pass of the update does
// (docs/kruise/workloads.md#advanced-daemonset).
func (d *DaemonSet) ChooseUpdate() DaemonSetUpdate {
	switch {
	case d.Spec.UpdateStrategy.Type == appsv1.OnDeleteDaemonSetStrategyType:
		return DaemonSetUpdate{Why: "update strategy OnDelete: pods are updated when they are deleted"}
	case d.paused():
		return DaemonSetUpdate{Why: "paused"}
	}
	l := d.Limits()
	out := DaemonSetUpdate{Surge: l.MaxSurge > 0, Room: l.MaxUnavailable}
	busy := d.busyInPlace
	list, counted := d.eligible()
	if out.Surge { // which a pod that is missing uses none of
		out.Room, busy, counted = l.MaxSurge, d.busySurging, 0
	}
	for _, node := range list {
		on := d.onNode(node)
		if busy(on) {
			counted++
		}
		d.sortOut(&out, on)
	}
	out.Room = upTo(out.Room-counted, len(out.Candidates))
	out.explain(counted)
	return out
}

// sortOut puts the old pod of a node where it belongs.
func (d *DaemonSet) sortOut(out *DaemonSetUpdate, on daemons) {
	switch {
	case on.old == nil || preparingDelete(on.old):
	case on.new != nil:
		if out.Surge && d.available(on.new) {
			out.Finished = append(out.Finished, on.old)
		}
	case !d.available(on.old):
		out.Broken = append(out.Broken, on.old)
	default:
		out.Candidates = append(out.Candidates, on.old)
	}
}

// busyInPlace reports whether a node uses maxUnavailable up. An old pod that its
// preDelete hook holds is on its way out and counts.
func (d *DaemonSet) busyInPlace(on daemons) bool {
	switch {
	case on.surplus, on.old != nil && on.new != nil, on.old == nil && on.new == nil:
		return true
	case on.new != nil:
		return !d.available(on.new) || preparingDelete(on.new)
	}
	return preparingDelete(on.old)
}

// busySurging reports whether a node uses maxSurge up.
func (d *DaemonSet) busySurging(on daemons) bool {
	return on.old != nil && on.new != nil && !d.available(on.new)
}

func (u *DaemonSetUpdate) explain(counted int) {
	switch {
	case len(u.Candidates)+len(u.Broken) == 0:
		u.Why = "no eligible node has an old pod"
	case u.Room == len(u.Candidates):
		u.Why = "these are all"
	default:
		u.Why = fmt.Sprintf("%d eligible nodes are busy: any %d of %d go now", counted, u.Room, len(u.Candidates))
	}
}
