package rules

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// Created is a pod that a StatefulSet makes.
type Created struct {
	Ordinal int
	// Update is whether it is made at the update revision.
	Update bool
}

// StatefulSetScale is what the first half of a pass does, from low to high
// ordinal (docs/kruise/workloads.md#advanced-statefulset).
type StatefulSetScale struct {
	Create []Created
	// Remove are finished pods, to be recreated, then condemned ones.
	Remove []*cluster.Pod
	// Stop is true when the pass ends here and does not come to the update.
	Stop bool
	// Until is the last ordinal that the walk came to: nobody looks after pods
	// above it when Stop is true.
	Until int
	// Why names the pod that holds it up; it is empty when nothing does.
	Why string
}

// Scale decides which pods are created and removed now. OrderedReady does one
// thing at a time and goes no further while a pod is not available; Parallel
// does everything, within scaleStrategy.maxUnavailable.
func (s *StatefulSet) Scale() StatefulSetScale {
	var out StatefulSetScale
	left := LimitsOfStatefulSet(s.Spec).ScaleMaxUnavailable
	want := s.Ordinals()
	pods := slots(s.Pods, want)
	createsUpdate := s.createsUpdate(pods)
	for i, p := range pods {
		out.Until = want[i]
		if p != nil && !finished(p) && !s.Unavailable(p) {
			continue
		}
		if left <= 0 {
			out.Why = fmt.Sprintf("scaleStrategy.maxUnavailable is used up: %d waits", want[i])
			break
		}
		left--
		s.repair(&out, want[i], p, func() bool { return createsUpdate(i) })
		if !s.parallel() {
			out.Stop = true
			return out
		}
	}
	s.condemn(&out, want)
	return out
}

// repair does what an ordinal needs; a pod that is not available is waited for.
func (s *StatefulSet) repair(out *StatefulSetScale, ordinal int, p *cluster.Pod, createsUpdate func() bool) {
	switch {
	case p == nil:
		out.Create = append(out.Create, Created{ordinal, createsUpdate()})
	case p.Deleting:
		out.Why = fmt.Sprintf("pod %s is terminating", p.Name)
	case finished(p):
		out.Remove = append(out.Remove, p)
	default:
		out.Why = fmt.Sprintf("pod %s is not available", p.Name)
	}
}

func finished(p *cluster.Pod) bool {
	return !p.Deleting && (p.Phase == corev1.PodFailed || p.Phase == corev1.PodSucceeded)
}

// condemn removes the pods whose ordinal shall not exist, highest first; under
// OrderedReady one, and the pass ends.
func (s *StatefulSet) condemn(out *StatefulSetScale, want []int) {
	for _, p := range outside(s.Pods, want) {
		if !p.Deleting {
			out.Remove = append(out.Remove, p)
		}
		if !s.parallel() {
			out.Stop = true
			if p.Deleting {
				out.Why = fmt.Sprintf("pod %s is terminating", p.Name)
			}
			return
		}
	}
}

// createsUpdate answers for the i-th wanted ordinal whether its missing pod is
// made at the update revision: in order, when the partition's worth of ordinals
// is below it; unordered, when enough others in range are still old, those that
// the answers before have made so among them (docs/kruise/workloads.md#advanced-statefulset).
func (s *StatefulSet) createsUpdate(inRange []*cluster.Pod) func(i int) bool {
	partition := LimitsOfStatefulSet(s.Spec).Partition
	switch {
	case s.onDelete():
		return func(int) bool { return true }
	case s.unordered():
		old := count(inRange, func(p *cluster.Pod) bool { return p != nil && !s.updated(p) })
		return func(int) bool {
			if old < partition {
				old++
				return false
			}
			return true
		}
	}
	return func(i int) bool { return i+1 > partition }
}
