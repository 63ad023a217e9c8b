package rules

import (
	"math"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// CloneSetStepPending says what a partition step waits for: as many updated
// pods available as the partition asks for, and no surge left over
// (docs/kruise/workloads.md#cloneset-status).
func CloneSetStepPending(c *kruise.CloneSet) Pending {
	l, s := LimitsOfCloneSet(&c.Spec), c.Status
	var p Pending
	p.seen(s.ObservedGeneration, c.Generation)
	p.count("expectedUpdatedReplicas", s.ExpectedUpdatedReplicas, int32(l.ExpectedUpdated()))
	p.atLeast("updatedAvailableReplicas", s.UpdatedAvailableReplicas, int32(l.ExpectedUpdated()))
	p.count("replicas", s.Replicas, int32(l.Replicas))
	return p
}

// CloneSetPending says what a whole rollout waits for: every pod updated and
// available, and the current revision moved (docs/kruise/workloads.md#cloneset-status).
func CloneSetPending(c *kruise.CloneSet) Pending {
	r, s := int32(number(c.Spec.Replicas, 1)), c.Status
	var p Pending
	p.seen(s.ObservedGeneration, c.Generation)
	p.count("replicas", s.Replicas, r)
	p.count("updatedReplicas", s.UpdatedReplicas, r)
	p.count("updatedAvailableReplicas", s.UpdatedAvailableReplicas, r)
	p.need(s.CurrentRevision == s.UpdateRevision, "currentRevision is still %s", or(s.CurrentRevision, "not set"))
	return p
}

// The reasons of a CloneSet's condition Progressing.
const (
	ReasonCloneSetAvailable          = "CloneSetAvailable"
	ReasonCloneSetPaused             = "CloneSetPaused"
	ReasonProgressPartitionAvailable = "ProgressPartitionAvailable"
	ReasonProgressDeadlineExceeded   = "ProgressDeadlineExceeded"
	ReasonCloneSetUpdated            = "CloneSetUpdated"
)

// CloneSetProgressing returns status and reason of the condition Progressing as
// the controller will write it over the present one; ok is false when there is
// no such condition. The deadline runs from the present condition's last
// update, whatever it was about: a step that comes late starts as exceeded
// (docs/kruise/workloads.md#cloneset-status and docs/kruise/workloads.md#observed-on-a-cluster). So
// never give a rollout up for this reason alone.
func CloneSetProgressing(c *kruise.CloneSet, now time.Time) (status corev1.ConditionStatus, reason string, ok bool) {
	deadline := c.Spec.ProgressDeadlineSeconds
	if deadline == nil || *deadline == math.MaxInt32 {
		return "", "", false
	}
	rolling := c.Spec.UpdateStrategy.RollingUpdate
	s, r := c.Status, int32(number(c.Spec.Replicas, 1))
	switch {
	case s.CurrentRevision == s.UpdateRevision && s.Replicas == r && s.UpdatedReplicas == r && s.UpdatedAvailableReplicas == r:
		return corev1.ConditionTrue, ReasonCloneSetAvailable, true
	case rolling != nil && rolling.Paused:
		return corev1.ConditionTrue, ReasonCloneSetPaused, true
	case s.ExpectedUpdatedReplicas < r && s.ExpectedUpdatedReplicas <= s.UpdatedAvailableReplicas:
		return corev1.ConditionTrue, ReasonProgressPartitionAvailable, true
	case exceeded(c, seconds(*deadline), now):
		return corev1.ConditionFalse, ReasonProgressDeadlineExceeded, true
	}
	return corev1.ConditionTrue, ReasonCloneSetUpdated, true
}

func exceeded(c *kruise.CloneSet, deadline time.Duration, now time.Time) bool {
	for _, cond := range c.Status.Conditions {
		if cond.Type == "Progressing" {
			return cond.Reason == ReasonProgressDeadlineExceeded || cond.LastUpdateTime.Add(deadline).Before(now)
		}
	}
	return false
}
