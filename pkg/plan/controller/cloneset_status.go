package controller

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// writeStatus says what the pass saw: not what it did, which the next one sees
// (docs/kruise/workloads.md#cloneset-status).
func (s *cloneSet) writeStatus() {
	status := new(s.Status)
	status.Conditions = slices.Clone(s.Status.Conditions)
	limits := rules.LimitsOfCloneSet(&s.Spec)
	status.ObservedGeneration = s.view.Workload.Generation
	status.UpdateRevision = s.update
	status.ExpectedUpdatedReplicas = int32(limits.ExpectedUpdated())
	status.CollisionCount = new(or(s.Status.CollisionCount, 0))
	if s.Spec.Selector != nil {
		status.LabelSelector = metav1.FormatLabelSelector(s.Spec.Selector)
	}
	s.count(status)
	status.CurrentRevision = rules.CloneSetCurrent(s.current, s.update, int(status.UpdatedReplicas), int(status.Replicas), limits.Replicas)
	s.fail(status)
	s.progress(status)
	s.pass.Status = changed(&s.Status, status)
}

func (s *cloneSet) count(status *kruise.CloneSetStatus) {
	n := s.rule.Count(false)
	status.Replicas = int32(n.Old.Active + n.New.Active)
	status.ReadyReplicas = int32(n.Old.Ready + n.New.Ready)
	status.AvailableReplicas = int32(n.Old.Available + n.New.Available)
	status.UpdatedReplicas, status.UpdatedReadyReplicas, status.UpdatedAvailableReplicas = int32(n.New.Active), int32(n.New.Ready), int32(n.New.Available)
}

// fail notes why scaling or the update stopped. The conditions are never taken
// away again, and one that is there hides another reason (recorded in 003 and
// 091).
func (s *cloneSet) fail(status *kruise.CloneSetStatus) {
	for _, c := range []kruise.CloneSetCondition{{Type: "FailedScale", Message: s.failedScale}, {Type: "FailedUpdate", Message: s.failed}} {
		if c.Message == "" || slices.ContainsFunc(status.Conditions, func(have kruise.CloneSetCondition) bool { return have.Type == c.Type }) {
			continue
		}
		c.Status, c.LastTransitionTime = corev1.ConditionTrue, metav1.NewTime(wholeSeconds(s.view.Now))
		status.Conditions = append(status.Conditions, c)
	}
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
		s.pass.lookAgain(deadlineIn(c, *s.Spec.ProgressDeadlineSeconds, s.view.Now))
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
