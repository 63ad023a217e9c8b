package standin

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// How long a pod waits for a node before its subset counts as unschedulable, and
// for how long the subset then does, unless the object says otherwise.
const (
	rescheduleCritical    = 30 * time.Second
	unschedulableDuration = 5 * time.Minute
)

// schedulable is the condition that says whether a subset takes pods.
const schedulable = "Schedulable"

// adaptive is scheduleStrategy.adaptive, nil for a strategy that never moves pods.
func (u *united) adaptive() *kruise.AdaptiveUnitedDeploymentScheduleStrategy {
	s := u.typed.Spec.Topology.ScheduleStrategy
	if s.Type != kruise.AdaptiveUnitedDeploymentScheduleStrategyType {
		return nil
	}
	if s.Adaptive == nil {
		return &kruise.AdaptiveUnitedDeploymentScheduleStrategy{}
	}
	return s.Adaptive
}

func secondsOr(n *int32, byDefault time.Duration) time.Duration {
	if n == nil {
		return byDefault
	}
	return time.Duration(*n) * time.Second
}

// mark finds out which subsets have no room: those with a pod that has waited for a
// node for too long, and those of which that was so a while ago
// (docs/kruise/distribution.md#which-allocator).
func (u *united) mark(now time.Time) {
	strategy := u.adaptive()
	if strategy == nil {
		return
	}
	u.marks = map[string]kruise.UnitedDeploymentCondition{}
	stuck := u.stuck(now, secondsOr(strategy.RescheduleCriticalSeconds, rescheduleCritical))
	for _, s := range u.typed.Spec.Topology.Subsets {
		before := u.marked(s.Name)
		if before.Status == "" && !stuck[s.Name] {
			continue // it always had room
		}
		c := kruise.UnitedDeploymentCondition{Type: schedulable, Status: corev1.ConditionTrue}
		left := before.LastTransitionTime.Add(secondsOr(strategy.UnschedulableDuration, unschedulableDuration)).Sub(now)
		if stuck[s.Name] || before.Status == corev1.ConditionFalse && left > 0 {
			c.Status, c.Reason, c.Message = corev1.ConditionFalse, "reschedule", "timeout pending pods found"
			u.lookAgain(left)
		}
		if c.LastTransitionTime = before.LastTransitionTime; c.Status != before.Status {
			c.LastTransitionTime = metav1.NewTime(now.UTC().Truncate(time.Second))
		}
		u.marks[s.Name] = c
	}
}

// marked is the condition as it was written last.
func (u *united) marked(subset string) kruise.UnitedDeploymentCondition {
	for _, s := range u.typed.Status.SubsetStatuses {
		for _, c := range s.Conditions {
			if s.Name == subset && c.Type == schedulable {
				return c
			}
		}
	}
	return kruise.UnitedDeploymentCondition{}
}

// stuck are the subsets with a pod that has waited for longer than a limit.
func (u *united) stuck(now time.Time, limit time.Duration) map[string]bool {
	out := map[string]bool{}
	for _, p := range inNamespace[*corev1.Pod](u.store.pods, u.object.GetNamespace()) {
		if !waits(p) {
			continue
		}
		left := p.CreationTimestamp.Add(limit).Sub(now)
		u.lookAgain(left)
		if left <= 0 {
			out[p.Labels[kruise.SubsetNameLabel]] = true
		}
	}
	return out
}

// waits reports whether the scheduler finds no node for the pod.
func waits(p *corev1.Pod) bool {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable {
			return p.Spec.NodeName == "" && p.DeletionTimestamp == nil && p.Status.Phase == corev1.PodPending
		}
	}
	return false
}

func (u *united) lookAgain(after time.Duration) {
	if after > 0 && (u.again == 0 || after < u.again) {
		u.again = after
	}
}

// known is the object as allocation should see it: with the marks of now.
func (u *united) known() (*unstructured.Unstructured, error) {
	if u.marks == nil {
		return u.object, nil
	}
	o := u.object.DeepCopy()
	var list []any
	for name, c := range u.marks {
		one, err := plain(kruise.UnitedDeploymentSubsetStatus{Name: name, Conditions: []kruise.UnitedDeploymentCondition{c}})
		if err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	return o, unstructured.SetNestedSlice(o.Object, list, "status", "subsetStatuses")
}
