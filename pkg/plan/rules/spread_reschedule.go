package rules

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/spread"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// spreadClosed is for how long new pods go past a subset in which one found no
// node.
const spreadClosed = 300 * time.Second

// Reschedule is what Adaptive does about pods that find no node: those that wait
// for too long are stuck and get deleted, and their subset is closed to new ones
// for a while. The last subset always stays open. The conditions are one per
// subset, nil when the strategy does not act; again is when to look next, 0 for
// not before something changes.
func (s *Spread) Reschedule() (conditions []metav1.Condition, stuck []*cluster.Pod, again time.Duration) {
	strategy := s.Spec.ScheduleStrategy
	if strategy.Type != kruise.AdaptiveWorkloadSpreadScheduleStrategyType || strategy.Adaptive == nil ||
		strategy.Adaptive.RescheduleCriticalSeconds == nil || *strategy.Adaptive.RescheduleCriticalSeconds <= 0 {
		return nil, nil, 0
	}
	patience := time.Duration(*strategy.Adaptive.RescheduleCriticalSeconds) * time.Second
	last := len(s.Spec.Subsets) - 1
	closing := make([]bool, last+1)
	for _, p := range s.Pods {
		i := s.SubsetOf(p)
		if i == spread.None || i == last || !s.counts(p) || !Unschedulable(p) {
			continue
		}
		if left := p.Created.Add(patience).Sub(s.Now); left > 0 {
			again = sooner(again, left)
			continue
		}
		closing[i] = true
		stuck = append(stuck, p)
	}
	for i := range s.Spec.Subsets {
		c, left := s.conditionNow(i, closing[i])
		conditions = append(conditions, c)
		again = sooner(again, left)
	}
	return conditions, stuck, again
}

// conditionNow is the condition of a subset, and for how long it stays closed.
func (s *Spread) conditionNow(i int, closing bool) (metav1.Condition, time.Duration) {
	old := s.condition(i)
	next := metav1.Condition{
		Type: string(schedulable), Status: metav1.ConditionTrue, Reason: "Sufficient", LastTransitionTime: metav1.NewTime(s.Now.Truncate(time.Second)),
	}
	left := time.Duration(0)
	if old != nil && old.Status == metav1.ConditionFalse {
		left = old.LastTransitionTime.Add(spreadClosed).Sub(s.Now)
	}
	if closing || left > 0 {
		next.Status, next.Reason = metav1.ConditionFalse, "PodUnschedulable"
		left = max(left, 0)
	}
	if old != nil && old.Status == next.Status {
		next.LastTransitionTime = old.LastTransitionTime
	} else if next.Status == metav1.ConditionFalse {
		left = spreadClosed
	}
	return next, max(left, 0)
}

// Unschedulable reports whether the scheduler has found no node for the pod
// (docs/kruise/distribution.md#which-allocator).
func Unschedulable(p *cluster.Pod) bool {
	c, _ := p.Condition(string(corev1.PodScheduled))
	return p.Phase == corev1.PodPending && p.Node == "" && !p.Deleting &&
		c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable
}

// sooner is the earlier of two moments to look again, 0 being never.
func sooner(a, b time.Duration) time.Duration {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}
