package cluster

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// deployment is a Deployment.
type deployment struct {
	claimless
	hookless
	unpartitioned
	unnumbered
	o *appsv1.Deployment
}

func (typed) Deployment(o *appsv1.Deployment) Typed { return deployment{o: o} }

func (k deployment) Template() *corev1.PodTemplateSpec { return &k.o.Spec.Template }

func (k deployment) Selector() *metav1.LabelSelector { return k.o.Spec.Selector }

func (k deployment) Strategy() string { return string(k.o.Spec.Strategy.Type) }

func (k deployment) Paused() bool { return k.o.Spec.Paused }

func (k deployment) createFailure() (why string, at time.Time) {
	for _, c := range k.o.Status.Conditions {
		if c.Type == appsv1.DeploymentReplicaFailure && c.Status == corev1.ConditionTrue {
			return c.Message, at
		}
	}
	return "", at
}

func (k deployment) Replicas() (n int, ok bool) { return replicasOf(k.o.Spec.Replicas), true }

func (k deployment) Pods() (all, available int32) {
	return k.o.Status.Replicas, k.o.Status.AvailableReplicas
}

func (k deployment) Generation() int64 { return k.o.Generation }

func (k deployment) ObservedGeneration() int64 { return k.o.Status.ObservedGeneration }

func (deployment) UpdateRevision() string { return "" }

func (k deployment) WithTemplate(t corev1.PodTemplateSpec) any {
	c := *k.o
	c.Spec.Template = t
	return &c
}

func (k deployment) WithPartition(intstr.IntOrString) any { return k.o }

func (k deployment) WithPaused(paused bool) any {
	c := *k.o
	c.Spec.Paused = paused
	return &c
}

func (k deployment) WithStrategy(string) any { return k.o }

func (k deployment) WithReplicas(n int) any {
	c, r := *k.o, int32(n)
	c.Spec.Replicas = &r
	return &c
}

// WithPods is [Typed.WithReplicas]: the spec has the number.
func (k deployment) WithPods(n int) any { return k.WithReplicas(n) }

// replicaSet is a ReplicaSet.
type replicaSet struct {
	claimless
	hookless
	unpartitioned
	unnumbered
	o *appsv1.ReplicaSet
}

func (typed) ReplicaSet(o *appsv1.ReplicaSet) Typed { return replicaSet{o: o} }

func (k replicaSet) Template() *corev1.PodTemplateSpec { return &k.o.Spec.Template }

func (k replicaSet) Selector() *metav1.LabelSelector { return k.o.Spec.Selector }

// Strategy returns none: a ReplicaSet updates no pod.
func (replicaSet) Strategy() string { return "" }

// Paused returns false: the spec has no such field.
func (replicaSet) Paused() bool { return false }

func (k replicaSet) createFailure() (why string, at time.Time) {
	for _, c := range k.o.Status.Conditions {
		if c.Type == appsv1.ReplicaSetReplicaFailure && c.Status == corev1.ConditionTrue {
			return c.Message, at
		}
	}
	return "", at
}

func (k replicaSet) Replicas() (n int, ok bool) { return replicasOf(k.o.Spec.Replicas), true }

func (k replicaSet) Pods() (all, available int32) {
	return k.o.Status.Replicas, k.o.Status.AvailableReplicas
}

func (k replicaSet) Generation() int64 { return k.o.Generation }

func (k replicaSet) ObservedGeneration() int64 { return k.o.Status.ObservedGeneration }

func (replicaSet) UpdateRevision() string { return "" }

func (k replicaSet) WithTemplate(t corev1.PodTemplateSpec) any {
	c := *k.o
	c.Spec.Template = t
	return &c
}

func (k replicaSet) WithPartition(intstr.IntOrString) any { return k.o }

func (k replicaSet) WithPaused(bool) any { return k.o }

func (k replicaSet) WithStrategy(string) any { return k.o }

func (k replicaSet) WithReplicas(n int) any {
	c, r := *k.o, int32(n)
	c.Spec.Replicas = &r
	return &c
}

// WithPods is [Typed.WithReplicas]: the spec has the number.
func (k replicaSet) WithPods(n int) any { return k.WithReplicas(n) }

// nativeStatefulSet is Kubernetes' own StatefulSet.
type nativeStatefulSet struct {
	hookless
	unnumbered
	o *appsv1.StatefulSet
}

func (typed) NativeStatefulSet(o *appsv1.StatefulSet) Typed { return nativeStatefulSet{o: o} }

func (k nativeStatefulSet) Template() *corev1.PodTemplateSpec { return &k.o.Spec.Template }

func (k nativeStatefulSet) Selector() *metav1.LabelSelector { return k.o.Spec.Selector }

func (k nativeStatefulSet) Claims() []corev1.PersistentVolumeClaim {
	return k.o.Spec.VolumeClaimTemplates
}

func (k nativeStatefulSet) Strategy() string { return string(k.o.Spec.UpdateStrategy.Type) }

// Paused returns false: the spec has no such field.
func (nativeStatefulSet) Paused() bool { return false }

func (k nativeStatefulSet) Partition() (v intstr.IntOrString, ok bool) {
	r := k.o.Spec.UpdateStrategy.RollingUpdate
	if r == nil || k.o.Spec.UpdateStrategy.Type == appsv1.OnDeleteStatefulSetStrategyType {
		return v, false
	}
	return ordinalOf(r.Partition), true
}

func (k nativeStatefulSet) Replicas() (n int, ok bool) { return replicasOf(k.o.Spec.Replicas), true }

func (k nativeStatefulSet) Pods() (all, available int32) {
	return k.o.Status.Replicas, k.o.Status.AvailableReplicas
}

func (k nativeStatefulSet) Generation() int64 { return k.o.Generation }

func (k nativeStatefulSet) ObservedGeneration() int64 { return k.o.Status.ObservedGeneration }

func (k nativeStatefulSet) UpdateRevision() string { return k.o.Status.UpdateRevision }

func (k nativeStatefulSet) WithTemplate(t corev1.PodTemplateSpec) any {
	c := *k.o
	c.Spec.Template = t
	return &c
}

func (k nativeStatefulSet) WithPartition(v intstr.IntOrString) any {
	c := *k.o
	c.Spec.UpdateStrategy.RollingUpdate = copied(c.Spec.UpdateStrategy.RollingUpdate)
	c.Spec.UpdateStrategy.RollingUpdate.Partition = &v.IntVal
	return &c
}

func (k nativeStatefulSet) WithPaused(bool) any { return k.o }

func (k nativeStatefulSet) WithStrategy(string) any { return k.o }

func (k nativeStatefulSet) WithReplicas(n int) any {
	c, r := *k.o, int32(n)
	c.Spec.Replicas = &r
	return &c
}

// WithPods is [Typed.WithReplicas]: the spec has the number.
func (k nativeStatefulSet) WithPods(n int) any { return k.WithReplicas(n) }

// nativeDaemonSet is Kubernetes' own DaemonSet.
type nativeDaemonSet struct {
	claimless
	hookless
	unpartitioned
	uncounted
	o *appsv1.DaemonSet
}

func (typed) NativeDaemonSet(o *appsv1.DaemonSet) Typed { return nativeDaemonSet{o: o} }

func (k nativeDaemonSet) Template() *corev1.PodTemplateSpec { return &k.o.Spec.Template }

func (k nativeDaemonSet) Selector() *metav1.LabelSelector { return k.o.Spec.Selector }

func (k nativeDaemonSet) Strategy() string { return string(k.o.Spec.UpdateStrategy.Type) }

// Paused returns false: the spec has no such field.
func (nativeDaemonSet) Paused() bool { return false }

func (k nativeDaemonSet) Scheduled() (n int, ok bool) {
	return int(k.o.Status.DesiredNumberScheduled), true
}

func (k nativeDaemonSet) Generation() int64 { return k.o.Generation }

func (k nativeDaemonSet) ObservedGeneration() int64 { return k.o.Status.ObservedGeneration }

func (nativeDaemonSet) UpdateRevision() string { return "" }

func (k nativeDaemonSet) WithTemplate(t corev1.PodTemplateSpec) any {
	c := *k.o
	c.Spec.Template = t
	return &c
}

func (k nativeDaemonSet) WithPartition(intstr.IntOrString) any { return k.o }

func (k nativeDaemonSet) WithPaused(bool) any { return k.o }

func (k nativeDaemonSet) WithStrategy(kind string) any {
	c := *k.o
	c.Spec.UpdateStrategy.Type = appsv1.DaemonSetUpdateStrategyType(kind)
	return &c
}

func (k nativeDaemonSet) WithReplicas(int) any { return k.o }

func (k nativeDaemonSet) WithPods(n int) any {
	c := *k.o
	c.Status.DesiredNumberScheduled = int32(n)
	return &c
}
