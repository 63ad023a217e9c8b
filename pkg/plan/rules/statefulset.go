package rules

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// StatefulSet is an Advanced StatefulSet with all that its rules look at.
type StatefulSet struct {
	Spec            *kruise.StatefulSetSpec
	Current, Update string
	// Pods are those that it owns, in any order, finished and terminating ones
	// included.
	Pods  []*cluster.Pod
	Gates cluster.Gates
	Now   time.Time
	// Busy tells more reasons why a pod counts as unavailable: an in-place
	// update that is not complete (see [InPlacePending]), a claim that is being
	// resized. nil means none.
	Busy func(*cluster.Pod) bool
}

// StatefulSetLimits are the numbers that the spec comes to.
type StatefulSetLimits struct {
	Replicas int
	// Partition is how many pods stay old.
	Partition int
	// MaxUnavailable is the budget of updates, at least 1.
	MaxUnavailable int
	// ScaleMaxUnavailable limits creation, [Unlimited] when not set.
	ScaleMaxUnavailable int
}

// MaxUpdate is how many pods may carry the update revision.
func (l StatefulSetLimits) MaxUpdate() int { return max(l.Replicas-l.Partition, 0) }

// LimitsOfStatefulSet resolves the numbers of a spec; percentages are rounded
// down, to at least 1 (docs/kruise/workloads.md#percentages-and-defaults).
func LimitsOfStatefulSet(spec *kruise.StatefulSetSpec) StatefulSetLimits {
	replicas := number(spec.Replicas, 1)
	l := StatefulSetLimits{Replicas: replicas, MaxUnavailable: 1, ScaleMaxUnavailable: Unlimited}
	if r := spec.UpdateStrategy.RollingUpdate; r != nil {
		l.Partition = max(number(r.Partition, 0), 0)
		l.MaxUnavailable = atLeastOne(r.MaxUnavailable, replicas)
	}
	if s := spec.ScaleStrategy; s != nil && s.MaxUnavailable != nil {
		l.ScaleMaxUnavailable = atLeastOne(s.MaxUnavailable, replicas)
	}
	return l
}

func atLeastOne(v *intstr.IntOrString, base int) int {
	return max(scaledOr(v, intstr.FromInt32(1), base, false), 1)
}

// Ordinals returns the ordinals that shall exist.
func (s *StatefulSet) Ordinals() []int {
	start := 0
	if s.Gates.StatefulSetStartOrdinal && s.Spec.Ordinals != nil {
		start = int(s.Spec.Ordinals.Start)
	}
	return Ordinals(start, number(s.Spec.Replicas, 1), s.Spec.ReserveOrdinals)
}

// inRange returns the pods whose ordinal shall exist, in the order of
// [StatefulSet.Ordinals]; nil for one that is missing.
func (s *StatefulSet) inRange() []*cluster.Pod { return slots(s.Pods, s.Ordinals()) }

// Unavailable reports whether a pod uses the budget up: it is not healthy, its
// in-place update is not complete, or it has not been ready for long enough.
func (s *StatefulSet) Unavailable(p *cluster.Pod) bool {
	if !healthy(p) || (s.Busy != nil && s.Busy(p)) {
		return true
	}
	return !ReadyFor(p, s.minReady(), s.Now)
}

// healthy is what a StatefulSet asks of a pod: running, ready, staying, and in
// no other lifecycle state than Normal.
func healthy(p *cluster.Pod) bool {
	state := StateOf(p)
	return p.Phase == corev1.PodRunning && podReady(p) && !p.Deleting && (state == StateNone || state == StateNormal)
}

func (s *StatefulSet) minReady() time.Duration {
	if r := s.Spec.UpdateStrategy.RollingUpdate; r != nil {
		return seconds(int32(number(r.MinReadySeconds, 0)))
	}
	return 0
}

// updated compares the whole label: a StatefulSet writes the full name.
func (s *StatefulSet) updated(p *cluster.Pod) bool { return RevisionOf(p) == s.Update }

func (s *StatefulSet) parallel() bool {
	return s.Spec.PodManagementPolicy == appsv1.ParallelPodManagement
}

func (s *StatefulSet) unordered() bool {
	r := s.Spec.UpdateStrategy.RollingUpdate
	return r != nil && r.UnorderedUpdate != nil
}

func (s *StatefulSet) paused() bool {
	r := s.Spec.UpdateStrategy.RollingUpdate
	return r != nil && r.Paused
}

func (s *StatefulSet) onDelete() bool {
	return s.Spec.UpdateStrategy.Type == appsv1.OnDeleteStatefulSetStrategyType
}
