package rules

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// Scale decides which pods a StatefulSet of Kubernetes creates and removes now.
// OrderedReady does one thing at a time from the lowest ordinal and, once all
// are available, removes the highest that is too many; Parallel does everything.
func (s *NativeStatefulSet) Scale() StatefulSetScale {
	var out StatefulSetScale
	want := s.Ordinals()
	for i, p := range slots(s.Pods, want) {
		if s.repair(&out, want[i], p) && !s.parallel() {
			out.Stop = true
			return out
		}
	}
	s.condemn(&out, want)
	return out
}

// repair does what an ordinal needs, and reports whether OrderedReady waits for
// it. A finished pod goes first and is recreated when it is gone.
func (s *NativeStatefulSet) repair(out *StatefulSetScale, ordinal int, p *cluster.Pod) bool {
	switch {
	case p == nil:
		out.Create = append(out.Create, Created{ordinal, s.CreatesUpdate(ordinal)})
		return true
	case finished(p):
		out.Remove = append(out.Remove, p)
		return true
	case p.Deleting:
		out.Why = fmt.Sprintf("pod %s is terminating", p.Name)
		return true
	case s.down(p):
		out.Why = fmt.Sprintf("pod %s is not available", p.Name)
		return true
	}
	return false
}

// condemn removes pods out of range, highest first. OrderedReady takes one,
// and leaves a broken one alone while a lower one out of range is broken too.
func (s *NativeStatefulSet) condemn(out *StatefulSetScale, want []int) {
	condemned := outside(s.Pods, want)
	if s.parallel() {
		out.Remove = append(out.Remove, filter(condemned, func(p *cluster.Pod) bool { return !p.Deleting })...)
		return
	}
	if len(condemned) == 0 {
		return
	}
	out.Stop = true
	broken := filter(condemned, s.down)
	switch first := condemned[0]; {
	case first.Deleting:
		out.Why = fmt.Sprintf("pod %s is terminating", first.Name)
	case len(broken) > 0 && broken[len(broken)-1] != first && s.down(first):
		out.Why = fmt.Sprintf("pod %s is not available", broken[len(broken)-1].Name)
	default:
		out.Remove = append(out.Remove, first)
	}
}

func (s *NativeStatefulSet) parallel() bool {
	return s.Spec.PodManagementPolicy == appsv1.ParallelPodManagement
}

// down reports whether a pod is not running and available, or is on its way out.
func (s *NativeStatefulSet) down(p *cluster.Pod) bool {
	return p.Deleting || p.Phase != corev1.PodRunning || !podReady(p) || !ReadyFor(p, seconds(s.Spec.MinReadySeconds), s.Now)
}
