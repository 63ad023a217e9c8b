package rules

import "github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"

// StatefulSetStepPending says what a partition step of an Advanced StatefulSet
// waits for (semantics workloads 3, Done).
func StatefulSetStepPending(s *kruise.StatefulSet) Pending {
	want := int32(LimitsOfStatefulSet(&s.Spec).MaxUpdate())
	var p Pending
	p.seen(s.Status.ObservedGeneration, s.Generation)
	p.atLeast("updatedReplicas", s.Status.UpdatedReplicas, want)
	p.atLeast("updatedAvailableReplicas", s.Status.UpdatedAvailableReplicas, want)
	return p
}

// StatefulSetPending says what a whole rollout waits for.
func StatefulSetPending(s *kruise.StatefulSet) Pending {
	r := int32(number(s.Spec.Replicas, 1))
	var p Pending
	p.seen(s.Status.ObservedGeneration, s.Generation)
	p.count("replicas", s.Status.Replicas, r)
	p.count("updatedAvailableReplicas", s.Status.UpdatedAvailableReplicas, r)
	p.need(s.Status.CurrentRevision == s.Status.UpdateRevision, "currentRevision is still %s", or(s.Status.CurrentRevision, "not set"))
	return p
}
