package controller

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// statefulSet is one pass of an Advanced StatefulSet.
type statefulSet struct {
	stateful
	*kruise.StatefulSet
	set     *rules.StatefulSet
	current string
	updates updates
	// left is how many pods of the current revision this pass deletes or updates.
	left int32
}

// reconcileStatefulSet makes one pass of an Advanced StatefulSet, in the order of
// its controller: create and look after pods from the lowest ordinal upwards,
// remove what is too many, then marked pods and the update
// (docs/kruise/workloads.md#advanced-statefulset, One pass).
func reconcileStatefulSet(v *View, o *kruise.StatefulSet) Pass {
	var pass Pass
	update, all := v.syncRevision(&pass, or(o.Status.CollisionCount, 0), "")
	s := &statefulSet{StatefulSet: o, current: currentOf(all, o.Status.CurrentRevision, update.Name)}
	s.set = &rules.StatefulSet{Spec: &o.Spec, Current: s.current, Update: update.Name, Pods: v.Pods, Gates: v.Gates, Now: v.Now, Busy: v, Answers: v.Answers}
	s.set.Arranged = s.set.Arrange()
	s.stateful = stateful{view: v, selector: o.Spec.Selector, templates: o.Spec.VolumeClaimTemplates, ordinals: s.set.Arranged.Ordinals()}
	s.firstState = rules.StateNormal
	if l := o.Spec.Lifecycle; l != nil && l.PreNormal != nil { // a hook has to let it
		s.firstState = rules.StatePreparingNormal
	}
	if p := o.Spec.PersistentVolumeClaimRetentionPolicy; p != nil {
		s.whenDeleted = p.WhenDeleted == appsv1.DeletePersistentVolumeClaimRetentionPolicyType
		s.whenScaled = p.WhenScaled == appsv1.DeletePersistentVolumeClaimRetentionPolicyType
	}
	s.countClaims()
	s.updates = updates{
		view: v, all: all, update: update, policy: rules.PolicyOf(o), grace: graceOf(o), revision: update.Name,
		labels: map[string]string{appsv1.ControllerRevisionHashLabelKey: update.Name},
	}
	s.act(&pass)
	pass.Status = moved(&o.Status, s.status(update.Name))
	pass.requeueAfter(untilAvailable(s.set.Unsettled(), s.minReadySeconds(), v.Now))
	v.dropRevisions(&pass, all, o.Spec.RevisionHistoryLimit, s.current, update.Name)
	return pass
}

func graceOf(o *kruise.StatefulSet) int32 {
	if r := o.Spec.UpdateStrategy.RollingUpdate; r != nil && r.InPlaceUpdateStrategy != nil {
		return r.InPlaceUpdateStrategy.GracePeriodSeconds
	}
	return 0
}

func (s *statefulSet) minReadySeconds() int32 {
	if r := s.Spec.UpdateStrategy.RollingUpdate; r != nil {
		return or(r.MinReadySeconds, 0)
	}
	return 0
}

func (s *statefulSet) act(pass *Pass) {
	scale := s.set.Scale()
	pass.Why = scale.Why
	s.scaleUp(pass, scale, s.current, s.set.Update)
	// Bring in-place updates and lifecycle states forward, of the pods that the walk came to when it ends the pass. It
	// reports whether a pod has changed its state, which ends the pass as well.
	moved := false
	for _, p := range s.set.Restless() {
		ordinal := rules.OrdinalOf(p)
		if !s.wants(ordinal) || !rules.Active(p) || scale.Stop && ordinal > scale.Until {
			continue
		}
		var c cluster.PodChange
		pass.requeueAfter(s.view.refreshInPlace(&c, p))
		if next := s.nextState(p); next != rules.StateOf(p) {
			enterState(&c, p, next, s.Spec.Lifecycle, s.view.Now)
			moved = true
		}
		if !c.Empty() {
			pass.act(PatchPod{Pod: p, Change: c})
		}
	}

	s.own(pass)
	for _, p := range scale.Remove {
		s.remove(pass, p)
	}
	if scale.Stop || moved {
		return
	}
	choice := s.set.NextUpdate()
	if pass.Why == "" || len(choice.Pods) > 0 {
		pass.Why = choice.Why
	}
	gone := slices.Clone(scale.Remove)
	for _, p := range choice.Delete {
		s.remove(pass, p)
		gone = append(gone, p)
	}
	for _, p := range choice.Pods {
		if !slices.Contains(gone, p) && !s.updatePod(pass, p) {
			return
		}
	}
}

func (s *statefulSet) nextState(p *cluster.Pod) rules.LifecycleState {
	return rules.NextState(p, rules.Refresh{
		Lifecycle: s.Spec.Lifecycle, AtUpdate: rules.RevisionOf(p) == s.set.Update,
		InPlaceDone: rules.StateOf(p) == rules.StateUpdating && s.view.inPlaceDone(p),
	})
}

// remove deletes a pod, or has its preDelete hook hold it first.
func (s *statefulSet) remove(pass *Pass, p *cluster.Pod) {
	to, remove := rules.StateToDelete(p, s.Spec.Lifecycle)
	switch {
	case remove:
		s.delete(pass, p)
		s.leaves(p)
	case to != rules.StateOf(p):
		var c cluster.PodChange
		enterState(&c, p, to, s.Spec.Lifecycle, s.view.Now)
		pass.act(PatchPod{Pod: p, Change: c})
	}
}

// leaves counts a pod that is at the current revision no more.
func (s *statefulSet) leaves(p *cluster.Pod) {
	if rules.RevisionOf(p) == s.current {
		s.left++
	}
}

// updatePod updates a pod in place, or deletes it. It reports whether the pass
// goes on: a pod that can be updated in neither way ends it.
func (s *statefulSet) updatePod(pass *Pass, p *cluster.Pod) bool {
	mode, why, update := s.updates.of(p)
	switch {
	case mode == rules.ModeNotAllowed:
		return s.fail(pass, p, why)
	case update == nil:
		s.remove(pass, p)
		return true
	}
	to, err := rules.StateToUpdate(p, s.Spec.Lifecycle)
	if err != nil {
		return s.fail(pass, p, err.Error())
	}
	if to == rules.StatePreparingUpdate {
		var c cluster.PodChange
		if to != rules.StateOf(p) {
			enterState(&c, p, to, s.Spec.Lifecycle, s.view.Now)
			pass.act(PatchPod{Pod: p, Change: c})
		}
		return true
	}
	c := update.start(p, s.view.Now)
	if rules.StateOf(p) != rules.StateNone {
		enterState(&c, p, to, s.Spec.Lifecycle, s.view.Now)
	}
	pass.act(PatchPod{Pod: p, Change: c, Permit: !update.spec.NotReady})
	pass.act(Event{Type: corev1.EventTypeNormal, Reason: "SuccessfulUpdatePodInPlace", Message: fmt.Sprintf(
		"successfully update pod %s in-place(revision %s)", p.Name, s.set.Update)})
	s.leaves(p)
	return true
}

// fail ends the pass with an error, after which the controller tries again.
func (s *statefulSet) fail(pass *Pass, p *cluster.Pod, why string) bool {
	pass.Why = fmt.Sprintf("pod %s: %s", p.Name, why)
	pass.requeueAfter(Retry)
	return false
}

// status counts the pods that there were when the pass began; those that it has
// taken from the current revision are not there any more
// (docs/kruise/workloads.md#advanced-statefulset, Status).
func (s *statefulSet) status(update string) *kruise.StatefulSetStatus {
	n := s.set.Counts()
	out := s.Status
	out.ObservedGeneration = s.view.Workload.Generation
	out.Replicas, out.ReadyReplicas, out.AvailableReplicas = n.Replicas, n.Ready, n.Available
	out.CurrentReplicas, out.UpdatedReplicas = max(n.Current-s.left, 0), n.Updated
	out.UpdatedReadyReplicas, out.UpdatedAvailableReplicas = n.UpdatedReady, n.UpdatedAvailable
	out.CurrentRevision, out.UpdateRevision = s.current, update
	if s.Spec.UpdateStrategy.Type != appsv1.OnDeleteStatefulSetStrategyType && n.Complete() {
		out.CurrentReplicas, out.CurrentRevision = n.Updated, update
	}
	if out.CollisionCount == nil {
		out.CollisionCount = new(int32)
	}
	out.LabelSelector = metav1.FormatLabelSelector(s.Spec.Selector)
	out.VolumeClaims = s.claimStatus()
	return &out
}

// moved is [changed] as the controller sees it: it does not look whether the counts that
// only v1beta1 has differ, so that those which a write as v1alpha1 drops stay away until
// something else changes (docs/kruise/versions.md).
func moved(old, now *kruise.StatefulSetStatus) any {
	seen := *now
	seen.UpdatedReadyReplicas, seen.UpdatedAvailableReplicas = old.UpdatedReadyReplicas, old.UpdatedAvailableReplicas
	if changed(old, &seen) == nil {
		return nil
	}
	return now
}

// claimStatus counts, per claim template, the claims of the ordinals that should
// exist. Sizes are not looked at: claims are what their templates ask for.
func (s *statefulSet) claimStatus() []kruise.VolumeClaimStatus {
	if len(s.templates) == 0 {
		return nil
	}
	out := make([]kruise.VolumeClaimStatus, len(s.templates))
	for i := range s.templates {
		n := s.claims.existing[i]
		out[i] = kruise.VolumeClaimStatus{VolumeClaimName: s.templates[i].Name, CompatibleReplicas: n, CompatibleReadyReplicas: n}
	}
	return out
}

// reconcileNativeStatefulSet makes one pass of a StatefulSet of Kubernetes. With
// OnDelete it is what carries an Advanced StatefulSet where the client updates
// pods: one that carries the update revision's label is as good as updated.
func reconcileNativeStatefulSet(v *View, o *appsv1.StatefulSet) Pass {
	var pass Pass
	update, all := v.syncRevision(&pass, or(o.Status.CollisionCount, 0), "")
	current := currentOf(all, o.Status.CurrentRevision, update.Name)
	set := &rules.NativeStatefulSet{Spec: &o.Spec, Current: current, Update: update.Name, Pods: v.Pods, Now: v.Now, MaxUnavailable: v.Gates.MaxUnavailableStatefulSet, Answers: v.Answers}
	set.Arranged = set.Arrange()
	s := &stateful{view: v, selector: o.Spec.Selector, templates: o.Spec.VolumeClaimTemplates, ordinals: set.Arranged.Ordinals()}
	if p := o.Spec.PersistentVolumeClaimRetentionPolicy; p != nil {
		s.whenDeleted = p.WhenDeleted == appsv1.DeletePersistentVolumeClaimRetentionPolicyType
		s.whenScaled = p.WhenScaled == appsv1.DeletePersistentVolumeClaimRetentionPolicyType
	}
	s.countClaims()
	n := set.Counts()
	n.Current -= s.act(&pass, set, current, update.Name)
	pass.Status = changed(&o.Status, nativeStatefulSetStatus(v, o, n, current, update.Name))
	pass.requeueAfter(untilAvailable(set.Unsettled(), o.Spec.MinReadySeconds, v.Now))
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
	choice := set.NextUpdate()
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

func nativeStatefulSetStatus(v *View, o *appsv1.StatefulSet, n rules.OrdinalCounts, current, update string) *appsv1.StatefulSetStatus {
	s := o.Status
	s.ObservedGeneration = v.Workload.Generation
	s.Replicas, s.ReadyReplicas, s.AvailableReplicas = n.Replicas, n.Ready, n.Available
	s.CurrentReplicas, s.UpdatedReplicas = n.Current, n.Updated
	s.CurrentRevision, s.UpdateRevision = current, update
	if o.Spec.UpdateStrategy.Type != appsv1.OnDeleteStatefulSetStrategyType && n.Complete() {
		s.CurrentReplicas, s.CurrentRevision = n.Updated, update
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
