package rules

import (
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// NativeStatefulSet is a StatefulSet of Kubernetes with all that its rules look
// at. Its partition is a floor: ordinals from it upwards are updated.
type NativeStatefulSet struct {
	Spec   *appsv1.StatefulSetSpec
	Update string
	Pods   []*cluster.Pod
	Now    time.Time
	// MaxUnavailable is the gate MaxUnavailableStatefulSet; without it one pod
	// at a time is updated.
	MaxUnavailable bool
}

// Ordinals returns the ordinals that shall exist.
func (s *NativeStatefulSet) Ordinals() []int {
	return Ordinals(s.start(), number(s.Spec.Replicas, 1), nil)
}

// Descending returns the pods that shall exist in the order in which a falling
// partition reaches them, whatever it is now.
func (s *NativeStatefulSet) Descending() []*cluster.Pod {
	return fromTheTop(slots(s.Pods, s.Ordinals()))
}

func (s *NativeStatefulSet) start() int {
	if s.Spec.Ordinals == nil {
		return 0
	}
	return int(s.Spec.Ordinals.Start)
}

func (s *NativeStatefulSet) partition() int {
	if r := s.Spec.UpdateStrategy.RollingUpdate; r != nil {
		return number(r.Partition, 0)
	}
	return 0
}

// Budget is how many pods may be down by the update: a percentage is rounded
// down, and at least one may be (seen on 1.36 and 1.37, test/e2e/accept).
func (s *NativeStatefulSet) Budget() int {
	r := s.Spec.UpdateStrategy.RollingUpdate
	if !s.MaxUnavailable || r == nil || r.MaxUnavailable == nil {
		return 1
	}
	return atLeastOne(r.MaxUnavailable, number(s.Spec.Replicas, 1))
}

// CreatesUpdate reports whether a missing ordinal is made at the update
// revision.
func (s *NativeStatefulSet) CreatesUpdate(ordinal int) bool {
	if s.Spec.UpdateStrategy.Type == appsv1.OnDeleteStatefulSetStrategyType {
		return true
	}
	return ordinal >= s.start()+s.partition()
}

// ChooseUpdate decides which pods are deleted for the update: outdated ones at
// or above the partition, from the highest ordinal, within the budget. Under
// OrderedReady nothing is updated while a pod in range is missing or not
// available; a broken pod is replaced only when its turn comes.
func (s *NativeStatefulSet) ChooseUpdate() Choice {
	var out Choice
	if s.Spec.UpdateStrategy.Type == appsv1.OnDeleteStatefulSetStrategyType {
		out.Why = "update strategy OnDelete: pods are updated when they are deleted"
		return out
	}
	pods := slots(s.Pods, s.Ordinals())
	if !s.parallel() {
		if why := s.unsettled(pods); why != "" {
			out.Why = why
			return out
		}
	}
	s.walk(&out, pods)
	return out
}

// unsettled names the pod that OrderedReady waits for.
func (s *NativeStatefulSet) unsettled(pods []*cluster.Pod) string {
	for _, p := range pods {
		switch {
		case p == nil:
			return "pods are missing"
		case s.down(p):
			return fmt.Sprintf("pod %s is not available", p.Name)
		}
	}
	return ""
}

// walk goes from the highest ordinal down to the partition. A pod that is missing
// counts as one that is not available.
func (s *NativeStatefulSet) walk(out *Choice, pods []*cluster.Pod) {
	floored := pods[min(max(s.partition(), 0), len(pods)):]
	outdated := func(p *cluster.Pod) bool { return RevisionOf(p) != s.Update && !p.Deleting }
	out.Order = filter(fromTheTop(floored), outdated)
	down, budget := 0, s.Budget()
	for _, p := range slices.Backward(floored) {
		switch {
		case down >= budget && len(out.Order) > len(out.Pods):
			out.Why = fmt.Sprintf("%d pods are not available, at most %d: %s waits", down, budget, out.Order[len(out.Pods)].Name)
			return
		case p == nil:
			down++
		case outdated(p):
			out.Pods = append(out.Pods, p)
			down++
		case s.down(p):
			down++
		}
	}
	out.Why = "these are all"
}

// NativeStatefulSetPending says what a step or, with partition 0, a rollout
// waits for.
func NativeStatefulSetPending(s *appsv1.StatefulSet, kept Kept) Pending {
	r, partition := int32(number(s.Spec.Replicas, 1)), int32(0)
	if ru := s.Spec.UpdateStrategy.RollingUpdate; ru != nil {
		partition = int32(number(ru.Partition, 0))
	}
	var p Pending
	p.seen(s.Status.ObservedGeneration, s.Generation)
	p.atLeast("readyReplicas", s.Status.ReadyReplicas, r)
	if partition > 0 {
		p.atLeast("updatedReplicas", s.Status.UpdatedReplicas, max(r-partition, 0)+kept.Updated)
		return p
	}
	// Going back to the current revision, the two are the same all the time.
	if p.need(s.Status.UpdateRevision == s.Status.CurrentRevision, "currentRevision is still %s", or(s.Status.CurrentRevision, "not set")); len(p) == 0 {
		p.atLeast("updatedReplicas", s.Status.UpdatedReplicas, r)
	}
	return p
}
