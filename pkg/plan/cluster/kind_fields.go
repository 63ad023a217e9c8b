package cluster

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// reader finds the fields of each kind. Where rolling is true, the part rollingUpdate of the
// update strategy is copied first, or made: what is found in it may then be changed.
type reader struct{ rolling bool }

// rollingUpdate is that part of an update strategy; nil for none.
func rollingUpdate[T any](r reader, at **T) *T {
	switch {
	case !r.rolling:
	case *at == nil:
		*at = new(T)
	default:
		*at = new(**at)
	}
	return *at
}

func (r reader) CloneSet(o *kruise.CloneSet) fields {
	s, u := &o.Status, &o.Spec.UpdateStrategy
	f := fields{
		template: &o.Spec.Template, selector: o.Spec.Selector, claims: o.Spec.VolumeClaimTemplates, lifecycle: o.Spec.Lifecycle,
		strategy: string(u.Type), byHand: u.Type == kruise.OnDeleteCloneSetStrategyType, replicas: &o.Spec.Replicas,
		all: s.Replicas, available: s.AvailableReplicas, observed: s.ObservedGeneration, revision: s.UpdateRevision,
	}
	if update := rollingUpdate(r, &u.RollingUpdate); update != nil {
		f.partition, f.paused = &update.Partition, &update.Paused
	}
	for _, c := range s.Conditions { // Kruise never takes it away
		if c.Type == "FailedScale" && c.Status == corev1.ConditionTrue {
			f.failure, f.failedAt = c.Message, c.LastTransitionTime.Time
		}
	}
	return f
}

func (r reader) StatefulSet(o *kruise.StatefulSet) fields {
	s, u := &o.Status, &o.Spec.UpdateStrategy
	f := fields{
		template: &o.Spec.Template, selector: o.Spec.Selector, claims: o.Spec.VolumeClaimTemplates, lifecycle: o.Spec.Lifecycle,
		strategy: string(u.Type), byHand: u.Type == appsv1.OnDeleteStatefulSetStrategyType, replicas: &o.Spec.Replicas,
		all: s.Replicas, available: s.AvailableReplicas, observed: s.ObservedGeneration, revision: s.UpdateRevision,
	}
	if update := rollingUpdate(r, &u.RollingUpdate); update != nil {
		f.ordinal, f.paused = &update.Partition, &update.Paused
	}
	return f
}

func (r reader) DaemonSet(o *kruise.DaemonSet) fields {
	s, u := &o.Status, &o.Spec.UpdateStrategy
	f := fields{
		template: &o.Spec.Template, selector: o.Spec.Selector, lifecycle: o.Spec.Lifecycle,
		strategy: string(u.Type), byHand: u.Type == appsv1.OnDeleteDaemonSetStrategyType,
		scheduled: &s.DesiredNumberScheduled, observed: s.ObservedGeneration, revision: s.UpdateRevision,
	}
	if update := rollingUpdate(r, &u.RollingUpdate); update != nil {
		f.partition, f.pausedPtr = &update.Partition, &update.Paused
	}
	return f
}

// SidecarSet has sidecars in place of a template, and the pods of others.
func (reader) SidecarSet(o *kruise.SidecarSet) fields {
	u := &o.Spec.UpdateStrategy
	return fields{
		selector: o.Spec.Selector, strategy: string(u.Type), byHand: u.Type == kruise.NotUpdateSidecarSetStrategyType,
		partition: &u.Partition, paused: &u.Paused, matched: &o.Status.MatchedPods, observed: o.Status.ObservedGeneration,
	}
}

func (reader) Deployment(o *appsv1.Deployment) fields {
	f := fields{
		template: &o.Spec.Template, selector: o.Spec.Selector, strategy: string(o.Spec.Strategy.Type), paused: &o.Spec.Paused,
		replicas: &o.Spec.Replicas, all: o.Status.Replicas, available: o.Status.AvailableReplicas, observed: o.Status.ObservedGeneration,
	}
	for _, c := range o.Status.Conditions {
		if c.Type == appsv1.DeploymentReplicaFailure && c.Status == corev1.ConditionTrue {
			f.failure = c.Message
		}
	}
	return f
}

func (reader) ReplicaSet(o *appsv1.ReplicaSet) fields {
	f := fields{
		template: &o.Spec.Template, selector: o.Spec.Selector, replicas: &o.Spec.Replicas,
		all: o.Status.Replicas, available: o.Status.AvailableReplicas, observed: o.Status.ObservedGeneration,
	}
	for _, c := range o.Status.Conditions {
		if c.Type == appsv1.ReplicaSetReplicaFailure && c.Status == corev1.ConditionTrue {
			f.failure = c.Message
		}
	}
	return f
}

func (r reader) NativeStatefulSet(o *appsv1.StatefulSet) fields {
	s, u := &o.Status, &o.Spec.UpdateStrategy
	f := fields{
		template: &o.Spec.Template, selector: o.Spec.Selector, claims: o.Spec.VolumeClaimTemplates,
		strategy: string(u.Type), byHand: u.Type == appsv1.OnDeleteStatefulSetStrategyType, replicas: &o.Spec.Replicas,
		all: s.Replicas, available: s.AvailableReplicas, observed: s.ObservedGeneration, revision: s.UpdateRevision,
	}
	if update := rollingUpdate(r, &u.RollingUpdate); update != nil {
		f.ordinal = &update.Partition
	}
	return f
}

func (reader) NativeDaemonSet(o *appsv1.DaemonSet) fields {
	return fields{
		template: &o.Spec.Template, selector: o.Spec.Selector, strategy: string(o.Spec.UpdateStrategy.Type), stop: &o.Spec.UpdateStrategy.Type,
		scheduled: &o.Status.DesiredNumberScheduled, observed: o.Status.ObservedGeneration,
	}
}
