package rules

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// Pending is what is missing until a step or a rollout is done, most basic reason first. None
// means done.
type Pending []string

// Done reports whether nothing is missing.
func (p Pending) Done() bool { return len(p) == 0 }

// pendingOf are those of the reasons that count. While the controller has not observed the spec, the
// status is about an older one, and its counts say nothing.
func pendingOf(observed, generation int64, reasons ...Pending) Pending {
	if observed < generation {
		return need(false, "the controller has not seen generation %d yet (observedGeneration %d)", generation, observed)
	}
	return slices.Concat(reasons...)
}

// need is a reason unless ok.
func need(ok bool, format string, args ...any) Pending {
	if ok {
		return nil
	}
	return Pending{fmt.Sprintf(format, args...)}
}

// exactly is a reason when got is not want.
func exactly(name string, got, want int32) Pending {
	return need(got == want, "%s is %d of %d", name, got, want)
}

// atLeast is a reason when got is below want.
func atLeast(name string, got, want int32) Pending {
	return need(got >= want, "%s is %d of %d", name, got, want)
}

func currentIsUpdate(current, update string) Pending {
	return need(current == update, "currentRevision is still %s", cmp.Or(current, "not set"))
}

// Observed reports whether the controller has seen the present spec: before it
// has, the status is about an older one.
func Observed(obj any) bool {
	t := cluster.Of(obj)
	return t.ObservedGeneration() >= t.Generation()
}

// CloneSetStepPending reports what a partition step waits for: as many updated
// pods available as the partition asks for, and no surge left over
// (docs/kruise/workloads.md#cloneset-status).
func CloneSetStepPending(c *kruise.CloneSet) Pending {
	l, s := LimitsOfCloneSet(&c.Spec), c.Status
	return pendingOf(s.ObservedGeneration, c.Generation,
		exactly("expectedUpdatedReplicas", s.ExpectedUpdatedReplicas, int32(l.MaxUpdate())),
		atLeast("updatedAvailableReplicas", s.UpdatedAvailableReplicas, int32(l.MaxUpdate())),
		exactly("replicas", s.Replicas, int32(l.Replicas)))
}

// CloneSetPending reports what a whole rollout waits for: every pod updated and
// available, and the current revision moved (docs/kruise/workloads.md#cloneset-status).
func CloneSetPending(c *kruise.CloneSet) Pending {
	r, s := int32(number(c.Spec.Replicas, 1)), c.Status
	return pendingOf(s.ObservedGeneration, c.Generation,
		exactly("replicas", s.Replicas, r),
		exactly("updatedReplicas", s.UpdatedReplicas, r),
		exactly("updatedAvailableReplicas", s.UpdatedAvailableReplicas, r),
		currentIsUpdate(s.CurrentRevision, s.UpdateRevision))
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

// StatefulSetStepPending reports what a partition step of an Advanced StatefulSet
// waits for (docs/kruise/workloads.md#advanced-statefulset, Done).
func StatefulSetStepPending(s *kruise.StatefulSet, kept Kept) Pending {
	want := int32(LimitsOfStatefulSet(&s.Spec).MaxUpdate())
	return pendingOf(s.Status.ObservedGeneration, s.Generation,
		atLeast("updatedReplicas", s.Status.UpdatedReplicas, want+kept.Updated),
		atLeast("updatedAvailableReplicas", updatedAvailable(&s.Status), want+kept.Ready))
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

// Kept returns those that the present partition keeps.
func (s *StatefulSet) Kept() Kept {
	most := LimitsOfStatefulSet(s.Spec).MaxUpdate()
	if s.unordered() || most >= number(s.Spec.Replicas, 1) {
		return Kept{}
	}
	present := fromTheTop(s.inRange())
	return s.ordinals().kept(present[min(most, len(present)):])
}

// Kept returns those that the present partition keeps.
func (s *NativeStatefulSet) Kept() Kept {
	if s.partition() <= 0 {
		return Kept{}
	}
	slots := s.arranged().slots
	return s.ordinals().kept(slots[:min(s.partition(), len(slots))])
}

// StatefulSetPending reports what a whole rollout waits for.
func StatefulSetPending(s *kruise.StatefulSet) Pending {
	r := int32(number(s.Spec.Replicas, 1))
	return pendingOf(s.Status.ObservedGeneration, s.Generation,
		exactly("replicas", s.Status.Replicas, r),
		exactly("updatedAvailableReplicas", updatedAvailable(&s.Status), r),
		currentIsUpdate(s.Status.CurrentRevision, s.Status.UpdateRevision))
}

// DaemonSetStepPending reports what a step of an Advanced DaemonSet waits for.
// With a selector in force, matching is how many nodes it matches; without one
// pass a negative number (docs/kruise/workloads.md#advanced-daemonset, Done).
func DaemonSetStepPending(d *kruise.DaemonSet, matching int) Pending {
	s := d.Status
	desired := int(s.DesiredNumberScheduled)
	want := desired
	if r := d.Spec.UpdateStrategy.RollingUpdate; r != nil {
		want = max(desired-DaemonSetPartition(r.Partition, desired), 0)
	}
	if matching >= 0 {
		want = min(want, matching)
	}
	return pendingOf(s.ObservedGeneration, d.Generation,
		atLeast("updatedNumberScheduled", s.UpdatedNumberScheduled, int32(want)),
		need(s.NumberUnavailable == 0, "numberUnavailable is %d", s.NumberUnavailable))
}

// DaemonSetPending reports what a whole rollout waits for.
func DaemonSetPending(d *kruise.DaemonSet) Pending {
	s := d.Status
	return pendingOf(s.ObservedGeneration, d.Generation,
		exactly("updatedNumberScheduled", s.UpdatedNumberScheduled, s.DesiredNumberScheduled),
		exactly("numberAvailable", s.NumberAvailable, s.DesiredNumberScheduled))
}

// ReplicasPending reports what a change of spec.replicas waits for: the controller has seen it,
// and the number of pods is reached, at any revision.
func ReplicasPending(obj any) Pending {
	t := cluster.Of(obj)
	n, ok := t.Replicas()
	if !ok {
		return nil
	}
	all, _ := t.Pods()
	return pendingOf(t.ObservedGeneration(), t.Generation(), exactly("replicas", all, int32(n)))
}

// AvailablePending reports what a workload that grows waits for beside [ReplicasPending]: that
// number of pods is available, at any revision.
func AvailablePending(obj any) Pending {
	t := cluster.Of(obj)
	n, ok := t.Replicas()
	if !ok {
		return nil
	}
	_, available := t.Pods()
	return pendingOf(t.ObservedGeneration(), t.Generation(), atLeast("availableReplicas", available, int32(n)))
}

// DeploymentStepPending reports what a step of a Deployment that is paused once so many pods are
// updated waits for: that they are updated, and that no pod is unavailable. The status does not
// count updated available pods separately.
func DeploymentStepPending(d *appsv1.Deployment, updated int) Pending {
	return pendingOf(d.Status.ObservedGeneration, d.Generation,
		atLeast("updatedReplicas", d.Status.UpdatedReplicas, int32(updated)),
		need(d.Status.UnavailableReplicas == 0, "unavailableReplicas is %d", d.Status.UnavailableReplicas))
}

// NativeStatefulSetPending reports what a step or, with partition 0, a rollout
// waits for.
func NativeStatefulSetPending(s *appsv1.StatefulSet, kept Kept) Pending {
	r, partition := int32(number(s.Spec.Replicas, 1)), int32(0)
	if ru := s.Spec.UpdateStrategy.RollingUpdate; ru != nil {
		partition = int32(number(ru.Partition, 0))
	}
	updated := atLeast("updatedReplicas", s.Status.UpdatedReplicas, max(r-partition, 0)+kept.Updated)
	if partition <= 0 {
		updated = currentIsUpdate(s.Status.CurrentRevision, s.Status.UpdateRevision)
	}
	p := pendingOf(s.Status.ObservedGeneration, s.Generation, atLeast("readyReplicas", s.Status.ReadyReplicas, r), updated)
	// Going back to the current revision, the two are the same all the time.
	if partition <= 0 && p.Done() {
		return atLeast("updatedReplicas", s.Status.UpdatedReplicas, r)
	}
	return p
}

// NativeDaemonSetPending reports what a rollout waits for, as kubectl rollout
// status does.
func NativeDaemonSetPending(d *appsv1.DaemonSet) Pending {
	s := d.Status
	return pendingOf(s.ObservedGeneration, d.Generation,
		atLeast("updatedNumberScheduled", s.UpdatedNumberScheduled, s.DesiredNumberScheduled),
		atLeast("numberAvailable", s.NumberAvailable, s.DesiredNumberScheduled))
}

// DeploymentPending reports what a rollout waits for, as kubectl rollout status
// does.
func DeploymentPending(d *appsv1.Deployment) Pending {
	s, r := d.Status, int32(number(d.Spec.Replicas, 1))
	return pendingOf(s.ObservedGeneration, d.Generation,
		atLeast("updatedReplicas", s.UpdatedReplicas, r),
		need(s.Replicas <= s.UpdatedReplicas, "%s left", counted.With(int(s.Replicas-s.UpdatedReplicas), "old pod is", "old pods are")),
		atLeast("availableReplicas", s.AvailableReplicas, r))
}

// DeadlineExceeded reports whether a Deployment gave up, by its condition Progressing.
func DeadlineExceeded(d *appsv1.Deployment) bool {
	for _, c := range d.Status.Conditions {
		if c.Type == appsv1.DeploymentProgressing {
			return c.Reason == ReasonProgressDeadlineExceeded
		}
	}
	return false
}
