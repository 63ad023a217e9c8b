package controller

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// reconcileNativeStatefulSet makes one pass of a StatefulSet of Kubernetes. With
// OnDelete it is what carries an Advanced StatefulSet where the client updates
// pods: one that carries the update revision's label is as good as updated.
func reconcileNativeStatefulSet(v *View, o *appsv1.StatefulSet) Pass {
	var pass Pass
	update, all := v.syncRevision(&pass, or(o.Status.CollisionCount, 0), "")
	current := currentOf(all, o.Status.CurrentRevision, update.Name)
	set := &rules.NativeStatefulSet{Spec: &o.Spec, Update: update.Name, Pods: v.Pods, Now: v.Now, MaxUnavailable: v.Gates.MaxUnavailableStatefulSet}
	s := &stateful{view: v, selector: o.Spec.Selector, templates: o.Spec.VolumeClaimTemplates, ordinals: set.Ordinals()}
	if p := o.Spec.PersistentVolumeClaimRetentionPolicy; p != nil {
		s.whenDeleted = p.WhenDeleted == appsv1.DeletePersistentVolumeClaimRetentionPolicyType
		s.whenScaled = p.WhenScaled == appsv1.DeletePersistentVolumeClaimRetentionPolicyType
	}
	n := countStateful(v.Pods, current, update.Name, seconds(o.Spec.MinReadySeconds), v.Now)
	n.current -= s.act(&pass, set, current, update.Name)
	pass.Status = changed(&o.Status, nativeStatefulSetStatus(v, o, n, current, update.Name))
	pass.lookAgain(untilAvailable(v.Pods, o.Spec.MinReadySeconds, v.Now))
	v.dropRevisions(&pass, all, o.Spec.RevisionHistoryLimit, current, update.Name)
	return pass
}

// act scales and, unless that ends the pass, deletes the pods to update: there
// is no other way. It returns how many of those were at the current revision.
func (s *stateful) act(pass *Pass, set *rules.NativeStatefulSet, current, update string) int32 {
	scale := set.Scale()
	pass.Why = scale.Why
	s.scaleUp(pass, scale, current, update)
	s.own(pass)
	for _, p := range scale.Remove {
		s.delete(pass, p)
	}
	if scale.Stop {
		return 0
	}
	choice := set.ChooseUpdate()
	if pass.Why == "" {
		pass.Why = choice.Why
	}
	left := int32(0)
	for _, p := range choice.Pods {
		if slices.Contains(scale.Remove, p) {
			continue
		}
		s.delete(pass, p)
		if rules.RevisionOf(p) == current {
			left++
		}
	}
	return left
}

func nativeStatefulSetStatus(v *View, o *appsv1.StatefulSet, n statefulCounts, current, update string) *appsv1.StatefulSetStatus {
	s := o.Status
	s.ObservedGeneration = v.Workload.Generation
	s.Replicas, s.ReadyReplicas, s.AvailableReplicas = n.replicas, n.ready, n.available
	s.CurrentReplicas, s.UpdatedReplicas = n.current, n.updated
	s.CurrentRevision, s.UpdateRevision = current, update
	if o.Spec.UpdateStrategy.Type != appsv1.OnDeleteStatefulSetStrategyType && n.complete() {
		s.CurrentReplicas, s.CurrentRevision = n.updated, update
	}
	if s.CollisionCount == nil {
		s.CollisionCount = new(int32)
	}
	return &s
}

// currentOf returns the revision that a status names as current, the update
// revision when there is none, or none any more.
func currentOf(all []cluster.Revision, current, update string) string {
	if slices.ContainsFunc(all, func(r cluster.Revision) bool { return r.Name == current }) {
		return current
	}
	return update
}
