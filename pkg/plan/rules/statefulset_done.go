package rules

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// StatefulSetStepPending says what a partition step of an Advanced StatefulSet
// waits for (docs/kruise/workloads.md#advanced-statefulset, Done).
func StatefulSetStepPending(s *kruise.StatefulSet, kept Kept) Pending {
	want := int32(LimitsOfStatefulSet(&s.Spec).MaxUpdate())
	var p Pending
	p.seen(s.Status.ObservedGeneration, s.Generation)
	p.atLeast("updatedReplicas", s.Status.UpdatedReplicas, want+kept.Updated)
	p.atLeast("updatedAvailableReplicas", updatedAvailable(&s.Status), want+kept.Ready)
	return p
}

// updatedAvailable is how many updated pods are available, at least: a write as v1alpha1
// drops the count, and the controller leaves it away until a pod moves
// (docs/kruise/versions.md). Of all pods, those that are updated and those that are
// available overlap by that much in any case.
func updatedAvailable(s *kruise.StatefulSetStatus) int32 {
	return max(s.UpdatedAvailableReplicas, s.UpdatedReplicas+s.AvailableReplicas-s.Replicas)
}

// Kept are pods that the partition of an ordered set keeps as they are, and that carry
// the update revision nevertheless, as after an undo: a status counts them among those
// that the partition lets follow. Ready are those of them that are.
type Kept struct{ Updated, Ready int32 }

func keptOf(list []*cluster.Pod, updated func(*cluster.Pod) bool) (k Kept) {
	for _, p := range list {
		if p == nil || p.Deleting || !updated(p) {
			continue
		}
		k.Updated++
		if Ready(p) {
			k.Ready++
		}
	}
	return k
}

// Kept returns those that the present partition keeps.
func (s *StatefulSet) Kept() Kept {
	if s.unordered() {
		return Kept{}
	}
	list := fromTheTop(s.inRange())
	return keptOf(list[min(LimitsOfStatefulSet(s.Spec).MaxUpdate(), len(list)):], s.updated)
}

// Kept returns those that the present partition keeps.
func (s *NativeStatefulSet) Kept() Kept {
	list := slots(s.Pods, s.Ordinals())
	return keptOf(list[:upTo(s.partition(), len(list))], func(p *cluster.Pod) bool { return RevisionOf(p) == s.Update })
}

// StatefulSetPending says what a whole rollout waits for.
func StatefulSetPending(s *kruise.StatefulSet) Pending {
	r := int32(number(s.Spec.Replicas, 1))
	var p Pending
	p.seen(s.Status.ObservedGeneration, s.Generation)
	p.count("replicas", s.Status.Replicas, r)
	p.count("updatedAvailableReplicas", updatedAvailable(&s.Status), r)
	p.need(s.Status.CurrentRevision == s.Status.UpdateRevision, "currentRevision is still %s", or(s.Status.CurrentRevision, "not set"))
	return p
}
