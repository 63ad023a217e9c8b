package rules

import (
	"fmt"
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// StatefulSetUpdate is what the second half of a pass does.
type StatefulSetUpdate struct {
	// Delete are specified deletes that the budget lets go now.
	Delete []*cluster.Pod
	// Choice are the pods to update, in place or by deletion.
	Choice
}

// UpdateTargets returns the pods that shall carry the update revision, in the
// order in which they are looked at; those that carry it already are among
// them. Ordered: the highest ordinals. Unordered: those that are updated or
// terminating first, the others by priority, cut to what the partition leaves
// (docs/kruise/workloads.md#advanced-statefulset).
func (s *StatefulSet) UpdateTargets() []*cluster.Pod { return s.targets(fromTheTop(s.inRange())) }

// targets takes the pods in range, highest ordinal first.
func (s *StatefulSet) targets(list []*cluster.Pod) []*cluster.Pod {
	if s.unordered() {
		settled := func(p *cluster.Pod) bool { return p.Deleting || s.updated(p) }
		list = append(filter(list, settled), prioritize(filter(list, not(settled)), s.Spec.UpdateStrategy.RollingUpdate.UnorderedUpdate.PriorityStrategy)...)
	}
	return list[:min(LimitsOfStatefulSet(s.Spec).MaxUpdate(), len(list))]
}

// ChooseUpdate decides which pods one pass deletes and updates, provided that
// [StatefulSet.Scale] did not stop it. Every unavailable pod in range uses the
// budget up, below the partition too, and the walk stops at the first pod that
// does not fit (docs/kruise/workloads.md#advanced-statefulset).
func (s *StatefulSet) ChooseUpdate() StatefulSetUpdate {
	var out StatefulSetUpdate
	switch {
	case s.onDelete():
		out.Why = "update strategy OnDelete: pods are updated when they are deleted"
		return out
	case s.paused():
		out.Why = "paused"
		return out
	}
	slots := s.inRange()
	pods := fromTheTop(slots)
	marked, targets := filter(pods, SpecifiedDelete), s.targets(pods)
	outdated := filter(targets, func(p *cluster.Pod) bool { return !s.updated(p) && !p.Deleting })
	if len(marked)+len(outdated) == 0 {
		out.Why = allUpdated
		return out
	}
	left := spending{budget: LimitsOfStatefulSet(s.Spec).MaxUnavailable, missing: len(slots) - len(pods), down: map[*cluster.Pod]bool{}}
	for _, p := range filter(pods, s.Unavailable) {
		left.down[p] = true
	}
	for _, p := range marked {
		if !p.Deleting && left.spend(p) {
			out.Delete = append(out.Delete, p)
		}
	}
	s.walk(&out, &left, outdated)
	return out
}

const allUpdated = "as many pods are updated as the partition asks for"

// spending is the set of unavailable pods, against what it may grow to. A pod
// that is missing, or made in this very pass, is not available either.
type spending struct {
	budget, missing int
	down            map[*cluster.Pod]bool
}

// spend takes a pod, unless the budget forbids it; one that is not available
// costs nothing more.
func (s *spending) spend(p *cluster.Pod) bool {
	if !s.down[p] && s.used() >= s.budget {
		return false
	}
	s.down[p] = true
	return true
}

func (s *spending) used() int { return s.missing + len(s.down) }

// walk takes outdated pods in their order, until the budget ends it.
func (s *StatefulSet) walk(out *StatefulSetUpdate, left *spending, outdated []*cluster.Pod) {
	out.Order = filter(outdated, func(p *cluster.Pod) bool { return !slices.Contains(out.Delete, p) })
	for _, p := range out.Order {
		if !left.spend(p) {
			out.Why = fmt.Sprintf("%d pods are not available, at most %d: %s waits", left.used(), left.budget, p.Name)
			return
		}
		out.Pods = append(out.Pods, p)
	}
	out.Why = "these are all"
	if len(out.Order) == 0 {
		out.Why = allUpdated
	}
}
