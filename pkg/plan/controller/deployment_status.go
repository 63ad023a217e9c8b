package controller

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// The reasons of a Deployment's condition Progressing.
const (
	progressComplete  = "NewReplicaSetAvailable"
	progressUpdated   = "ReplicaSetUpdated"
	progressCreated   = "NewReplicaSetCreated"
	progressFound     = "FoundNewReplicaSet"
	progressTimedOut  = rules.ReasonProgressDeadlineExceeded
	deploymentPaused  = "DeploymentPaused"
	deploymentResumed = "DeploymentResumed"
)

// noDeadline is how a Deployment says that it has none.
const noDeadline = 1<<31 - 1

// status counts what the ReplicaSets have, and says how the rollout stands.
func (d *deployment) status() *appsv1.DeploymentStatus {
	s := d.Status.DeepCopy()
	s.ObservedGeneration = d.view.Workload.Generation
	s.Replicas, s.UpdatedReplicas, s.ReadyReplicas, s.AvailableReplicas = 0, 0, 0, 0
	asked := int32(0)
	for _, w := range append(slices.Clip(d.old), d.currentOnly()...) {
		rs := replicaSetOf(w)
		asked += or(rs.Spec.Replicas, 1)
		s.Replicas += rs.Status.Replicas
		s.ReadyReplicas += rs.Status.ReadyReplicas
		s.AvailableReplicas += rs.Status.AvailableReplicas
	}
	for _, w := range d.currentOnly() {
		s.UpdatedReplicas = replicaSetOf(w).Status.Replicas
	}
	s.UnavailableReplicas = max(asked-s.AvailableReplicas, 0)
	d.setAvailable(s)
	d.setProgressing(s)
	return s
}

func (d *deployment) currentOnly() []*cluster.Workload {
	if d.current == nil {
		return nil
	}
	return []*cluster.Workload{d.current}
}

// complete reports whether every pod is updated and available, and no other is
// left.
func (d *deployment) complete(s *appsv1.DeploymentStatus) bool {
	r := int32(d.limits.Replicas)
	return s.UpdatedReplicas == r && s.Replicas == r && s.AvailableReplicas == r
}

func (d *deployment) setAvailable(s *appsv1.DeploymentStatus) {
	if int(s.AvailableReplicas) >= d.limits.Replicas-d.limits.MaxUnavailable {
		d.set(s, appsv1.DeploymentAvailable, corev1.ConditionTrue, "MinimumReplicasAvailable", "Deployment has minimum availability.")
		return
	}
	d.set(s, appsv1.DeploymentAvailable, corev1.ConditionFalse, "MinimumReplicasUnavailable", "Deployment does not have minimum availability.")
}

func (d *deployment) hasDeadline() bool {
	return or(d.Spec.ProgressDeadlineSeconds, noDeadline) != noDeadline
}

// setProgressing keeps the condition by which a rollout is called late. A
// rollout that is complete stays so until the template changes.
func (d *deployment) setProgressing(s *appsv1.DeploymentStatus) {
	if !d.hasDeadline() {
		s.Conditions = slices.DeleteFunc(s.Conditions, func(c appsv1.DeploymentCondition) bool { return c.Type == appsv1.DeploymentProgressing })
		return
	}
	now := deploymentCondition(s, appsv1.DeploymentProgressing)
	if d.pausing(s, now) || d.Spec.Paused {
		return
	}
	name := d.Name
	if d.current != nil {
		name = d.current.Name
	}
	switch {
	case d.created != "":
		d.set(s, appsv1.DeploymentProgressing, corev1.ConditionTrue, progressCreated, fmt.Sprintf("Created new replica set %q", d.created))
	case now == nil:
		d.set(s, appsv1.DeploymentProgressing, corev1.ConditionTrue, progressFound, fmt.Sprintf("Found new replica set %q", name))
	case s.Replicas == s.UpdatedReplicas && now.Reason == progressComplete:
	case d.complete(s):
		d.set(s, appsv1.DeploymentProgressing, corev1.ConditionTrue, progressComplete, fmt.Sprintf("ReplicaSet %q has successfully progressed.", name))
	case d.progressed(s):
		d.progress(s, now, name)
	case d.late(now):
		d.set(s, appsv1.DeploymentProgressing, corev1.ConditionFalse, progressTimedOut, fmt.Sprintf("ReplicaSet %q has timed out progressing.", name))
	}
}

// pausing notes that the Deployment was paused or resumed, from where the
// deadline counts anew. A rollout that was late before stays so.
func (d *deployment) pausing(s *appsv1.DeploymentStatus, now *appsv1.DeploymentCondition) bool {
	reason := ""
	if now != nil {
		reason = now.Reason
	}
	switch {
	case reason == progressTimedOut:
	case d.Spec.Paused && reason != deploymentPaused:
		d.set(s, appsv1.DeploymentProgressing, corev1.ConditionUnknown, deploymentPaused, "Deployment is paused")
		return true
	case !d.Spec.Paused && reason == deploymentPaused:
		d.set(s, appsv1.DeploymentProgressing, corev1.ConditionUnknown, deploymentResumed, "Deployment is resumed")
		return true
	}
	return false
}

// progressed reports whether anything moved since the status was last written.
func (d *deployment) progressed(s *appsv1.DeploymentStatus) bool {
	was := &d.Status
	return s.UpdatedReplicas > was.UpdatedReplicas || s.Replicas-s.UpdatedReplicas < was.Replicas-was.UpdatedReplicas ||
		s.ReadyReplicas > was.ReadyReplicas || s.AvailableReplicas > was.AvailableReplicas
}

// progress notes a move: the deadline counts from now.
func (d *deployment) progress(s *appsv1.DeploymentStatus, was *appsv1.DeploymentCondition, name string) {
	var since metav1.Time
	if was.Status == corev1.ConditionTrue {
		since = was.LastTransitionTime
	}
	s.Conditions = slices.DeleteFunc(s.Conditions, func(c appsv1.DeploymentCondition) bool { return c.Type == appsv1.DeploymentProgressing })
	d.set(s, appsv1.DeploymentProgressing, corev1.ConditionTrue, progressUpdated, fmt.Sprintf("ReplicaSet %q is progressing.", name))
	if !since.IsZero() {
		s.Conditions[len(s.Conditions)-1].LastTransitionTime = since
	}
}

func (d *deployment) late(c *appsv1.DeploymentCondition) bool {
	if c.Reason == progressComplete || c.Reason == progressTimedOut {
		return false
	}
	return c.LastUpdateTime.Add(seconds(*d.Spec.ProgressDeadlineSeconds)).Before(d.view.Now)
}

// set writes a condition, unless status and reason are what they were.
func (d *deployment) set(s *appsv1.DeploymentStatus, kind appsv1.DeploymentConditionType, status corev1.ConditionStatus, reason, message string) {
	now := metav1.NewTime(d.view.Now.Truncate(1e9))
	c := appsv1.DeploymentCondition{Type: kind, Status: status, Reason: reason, Message: message, LastUpdateTime: now, LastTransitionTime: now}
	was := deploymentCondition(s, kind)
	switch {
	case was == nil:
		s.Conditions = append(s.Conditions, c)
	case was.Status != status || was.Reason != reason:
		if was.Status == status {
			c.LastTransitionTime = was.LastTransitionTime
		}
		*was = c
	}
}

// deploymentCondition returns the condition of a type, nil without one.
func deploymentCondition(s *appsv1.DeploymentStatus, kind appsv1.DeploymentConditionType) *appsv1.DeploymentCondition {
	for i := range s.Conditions {
		if s.Conditions[i].Type == kind {
			return &s.Conditions[i]
		}
	}
	return nil
}
