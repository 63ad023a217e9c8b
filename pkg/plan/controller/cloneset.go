package controller

import (
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// cloneSet is a CloneSet in one pass.
type cloneSet struct {
	*kruise.CloneSet
	view *View
	pass Pass
	// update and current are the revisions between which it is, revisions
	// all that it has.
	update, current string
	revisions       []cluster.Revision
	rule            rules.CloneSet
	// counts are those of the pods that there were when the pass began.
	counts rules.CloneSetCounts
	// claims are those that there were when the pass began.
	claims instanceClaims
	// failed is why the update stopped, as the condition FailedUpdate has it, and
	// failedScale why scaling did.
	failed, failedScale string
}

// reconcileCloneSet makes one pass of a CloneSet, in the order of
// docs/kruise/workloads.md#one-reconcile.
func reconcileCloneSet(v *View, o *kruise.CloneSet) Pass {
	s := &cloneSet{CloneSet: o, view: v}
	// Find the revision of the template and the one that the status names, which is the same until there has been another
	// (docs/kruise/workloads.md#revisions).
	hash := ""
	if len(s.Spec.VolumeClaimTemplates) > 0 {
		hash = hashOf(s.Spec.VolumeClaimTemplates)
	}
	var update cluster.Revision
	update, s.revisions = s.view.syncRevision(&s.pass, or(s.Status.CollisionCount, 0), hash)
	s.update, s.current = update.Name, update.Name
	for _, r := range s.revisions {
		if r.Name == s.Status.CurrentRevision {
			s.current = r.Name
		}
	}
	s.rule = rules.CloneSet{
		Spec: &o.Spec, Current: s.current, Update: s.update,
		Pods: v.Pods, Nodes: v.Nodes, Gates: v.Gates, Now: v.Now, Answers: v.Answers,
	}
	s.counts = s.rule.Count(false)
	s.readClaims()
	s.tidyClaims()
	if s.scale() {
		s.pass.scaling = s
	} else {
		s.updatePods()
	}
	s.finish()
	return s.pass
}

// finish is what every pass ends with.
func (s *cloneSet) finish() {
	// Report what the pass saw: not what it did, which the next one sees (docs/kruise/workloads.md#cloneset-status).
	status := new(s.Status)
	status.Conditions = slices.Clone(s.Status.Conditions)
	limits := rules.LimitsOfCloneSet(&s.Spec)
	status.ObservedGeneration = s.view.Workload.Generation
	status.UpdateRevision = s.update
	status.ExpectedUpdatedReplicas = int32(limits.MaxUpdate())
	status.CollisionCount = new(or(s.Status.CollisionCount, 0))
	if s.Spec.Selector != nil {
		status.LabelSelector = metav1.FormatLabelSelector(s.Spec.Selector)
	}
	n := s.counts
	status.Replicas = int32(n.Old.Active + n.New.Active)
	status.ReadyReplicas = int32(n.Old.Ready + n.New.Ready)
	status.AvailableReplicas = int32(n.Old.Available + n.New.Available)
	status.UpdatedReplicas, status.UpdatedReadyReplicas, status.UpdatedAvailableReplicas = int32(n.New.Active), int32(n.New.Ready), int32(n.New.Available)
	status.CurrentRevision = rules.CloneSetCurrent(s.current, s.update, int(status.UpdatedReplicas), int(status.Replicas), limits.Replicas)
	// Note why scaling or the update stopped. The conditions are never taken away again, and one that is there hides
	// another reason (recorded in 003 and 091).
	for _, c := range []kruise.CloneSetCondition{{Type: "FailedScale", Message: s.failedScale}, {Type: "FailedUpdate", Message: s.failed}} {
		if c.Message == "" || slices.ContainsFunc(status.Conditions, func(have kruise.CloneSetCondition) bool { return have.Type == c.Type }) {
			continue
		}
		c.Status, c.LastTransitionTime = corev1.ConditionTrue, metav1.NewTime(wholeSeconds(s.view.Now))
		status.Conditions = append(status.Conditions, c)
	}
	s.progress(status)
	s.pass.Status = changed(&s.Status, status)
	s.forgetDeleted()
	s.view.dropRevisions(&s.pass, s.revisions, s.Spec.RevisionHistoryLimit, s.current, s.update)
	s.pass.requeueAfter(untilAvailable(s.rule.PodsBecomingAvailable(), s.Spec.MinReadySeconds, s.view.Now))
}

// refused continues when scaling could not create or delete a pod. If it was the
// first then nothing has changed, and updates are looked after all the same: else
// a budget that waits for new pods to be ready would wait forever.
func (s *cloneSet) refused(done int, why error) Pass {
	changed := slices.ContainsFunc(s.pass.Actions[:done], func(a Action) bool {
		switch a.(type) {
		case CreatePod, DeletePod, PatchPod:
			return true
		}
		return false
	})
	s.pass, s.failedScale = Pass{}, why.Error()
	if !changed {
		s.updatePods()
	}
	s.finish()
	return s.pass
}

// rolling is the rolling update strategy, an empty one when there is none.
func (s *cloneSet) rolling() kruise.RollingUpdateCloneSetStrategy {
	return or(s.Spec.UpdateStrategy.RollingUpdate, kruise.RollingUpdateCloneSetStrategy{})
}

// setMessage sets the message of the pass, unless it has one.
func (s *cloneSet) setMessage(text string) {
	if s.pass.Why == "" {
		s.pass.Why = text
	}
}

// forgetDeleted takes names out of podsToDelete that no pod has any more. That
// is a change of the spec, so the generation rises
// (docs/kruise/workloads.md#named-pods-and-claims).
func (s *cloneSet) forgetDeleted() {
	left, fewer := s.rule.PodsLeftToDelete()
	if !fewer {
		return
	}
	var value any // null removes the field
	if len(left) > 0 {
		list := make([]any, len(left))
		for i, name := range left {
			list[i] = name
		}
		value = list
	}
	s.pass.act(PatchWorkload{Patch: map[string]any{"spec": map[string]any{"scaleStrategy": map[string]any{"podsToDelete": value}}}})
}

// event reports something that was done to a pod.
func (s *cloneSet) event(reason, message string) {
	s.pass.act(Event{Type: "Normal", Reason: reason, Message: message})
}

// grace is how long a pod is out of service before its images change.
func (s *cloneSet) grace() int32 {
	if in := s.rolling().InPlaceUpdateStrategy; in != nil {
		return in.GracePeriodSeconds
	}
	return 0
}

// updatePods continues updates in progress and, unless a lifecycle state changed, takes
// the next pods (docs/kruise/workloads.md#one-reconcile, step 7).
func (s *cloneSet) updatePods() {
	// Bring the in-place updates and lifecycle states of all pods forward, and report whether a state changed.
	moved := false
	for _, p := range s.rule.PodsInTransition() {
		var c cluster.PodChange
		s.pass.requeueAfter(s.view.refreshInPlace(&c, p))
		if to := s.nextState(p); to != rules.StateOf(p) {
			enterState(&c, p, to, s.Spec.Lifecycle, s.view.Now)
			moved = true
		}
		if !c.Empty() {
			s.pass.act(PatchPod{Pod: p, Change: c})
		}
	}
	if moved {
		s.setMessage("lifecycle states change")
		return
	}
	choice := s.rule.TakeUpdate()
	s.setMessage(choice.Why)
	target := s.update
	if choice.Back {
		target = s.current
	}
	// Report how pods come to a revision: the update's or, for a rollback, the current one.
	to := &updates{
		view: s.view, all: s.revisions, policy: rules.UpdatePolicy(s.rolling().PodUpdatePolicy),
		revision: target, grace: s.grace(),
		labels: map[string]string{
			appsv1.ControllerRevisionHashLabelKey:  target,
			appsv1.DefaultDeploymentUniqueLabelKey: cluster.Hash(target),
		},
	}
	for _, r := range s.revisions {
		if r.Name == target {
			to.update = r
		}
	}

	for _, p := range choice.Pods {
		if !s.updatePod(p, to) {
			s.pass.Why = s.failed
			return
		}
	}
}

func (s *cloneSet) nextState(p *cluster.Pod) rules.LifecycleState {
	state := rules.StateOf(p)
	if state == rules.StateNormal || state == rules.StateNone {
		return state
	}
	return rules.NextState(p, rules.Refresh{
		Lifecycle: s.Spec.Lifecycle, AtUpdate: rules.AtRevision(p, s.update), WaitForNode: true,
		InPlaceDone: state == rules.StateUpdating && s.view.inPlaceDone(p),
	})
}

// updatePod updates one pod; false ends the pass.
func (s *cloneSet) updatePod(p *cluster.Pod, to *updates) bool {
	mode, why, inPlace := to.of(p)
	switch {
	case inPlace != nil:
		return s.updateInPlace(p, inPlace)
	case mode == rules.ModeNotAllowed:
		s.failed = fmt.Sprintf("pod %s cannot be updated in place, and the policy is InPlaceOnly: %s", p.Name, why)
		return false
	}
	// The pod is marked now and deleted in a later pass.
	var c cluster.PodChange
	label(&c, kruise.SpecifiedDeleteLabel, "true")
	s.pass.act(PatchPod{Pod: p, Change: c, Permit: true})
	s.event("SuccessfulUpdatePodReCreate", fmt.Sprintf("successfully patch pod %s specified-delete for update(revision %s)", p.Name, to.revision))
	return true
}

// updateInPlace begins the update, or has the pod wait for its hook.
func (s *cloneSet) updateInPlace(p *cluster.Pod, u *inPlaceUpdate) bool {
	to, err := rules.StateToUpdate(p, s.Spec.Lifecycle)
	if err != nil {
		s.failed = err.Error()
		return false
	}
	var c cluster.PodChange
	if to == rules.StatePreparingUpdate {
		if rules.StateOf(p) != to {
			enterState(&c, p, to, s.Spec.Lifecycle, s.view.Now)
			s.pass.act(PatchPod{Pod: p, Change: c, Permit: true})
		}
		return true
	}
	c = u.start(p, s.view.Now)
	enterState(&c, p, to, s.Spec.Lifecycle, s.view.Now)
	s.pass.act(PatchPod{Pod: p, Change: c, Permit: true})
	s.pass.requeueAfter(seconds(s.grace()))
	s.event("SuccessfulUpdatePodInPlace", fmt.Sprintf("successfully update pod %s in-place(revision %s)", p.Name, u.revision))
	return true
}

const progressing = "Progressing"

// progress writes the condition Progressing, and comes back when it would turn.
func (s *cloneSet) progress(status *kruise.CloneSetStatus) {
	seen := *s.CloneSet
	seen.Status = *status
	now, reason, ok := rules.CloneSetProgressing(&seen, s.view.Now)
	i := slices.IndexFunc(status.Conditions, func(c kruise.CloneSetCondition) bool { return c.Type == progressing })
	switch {
	case !ok && i >= 0:
		status.Conditions = slices.Delete(status.Conditions, i, i+1)
	case !ok:
		return
	case i < 0:
		i = len(status.Conditions)
		status.Conditions = append(status.Conditions, kruise.CloneSetCondition{Type: progressing})
		fallthrough
	default:
		s.setProgress(&status.Conditions[i], now, reason)
	}
}

func (s *cloneSet) setProgress(c *kruise.CloneSetCondition, status corev1.ConditionStatus, reason string) {
	at := metav1.NewTime(wholeSeconds(s.view.Now))
	if c.Status != status {
		c.LastTransitionTime = at
	}
	if c.Status != status || c.Reason != reason {
		c.LastUpdateTime = at
	}
	c.Status, c.Reason, c.Message = status, reason, s.progressText(reason)
	if reason == rules.ReasonCloneSetUpdated {
		late := c.LastUpdateTime.Add(seconds(*s.Spec.ProgressDeadlineSeconds))
		s.pass.requeueAfter(max(late.Sub(s.view.Now), 0) + time.Millisecond)
	}
}

func (s *cloneSet) progressText(reason string) string {
	switch reason {
	case rules.ReasonCloneSetAvailable:
		return "CloneSet is available"
	case rules.ReasonCloneSetPaused:
		return "CloneSet is paused"
	case rules.ReasonProgressPartitionAvailable:
		return "CloneSet has been paused due to partition ready"
	case rules.ReasonProgressDeadlineExceeded:
		return "CloneSet revision " + s.update + " has timed out progressing"
	}
	return "CloneSet is progressing"
}
