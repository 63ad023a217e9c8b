package cluster

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// deployment is a Deployment.
type deployment struct {
	unknown
	o *appsv1.Deployment
}

func (typed) Deployment(o *appsv1.Deployment) Typed { return deployment{unknown{o}, o} }

func (k deployment) Template() *corev1.PodTemplateSpec { return &k.o.Spec.Template }
func (k deployment) Selector() *metav1.LabelSelector   { return k.o.Spec.Selector }
func (k deployment) Strategy() string                  { return string(k.o.Spec.Strategy.Type) }
func (k deployment) Paused() bool                      { return k.o.Spec.Paused }
func (k deployment) Replicas() (n int, ok bool)        { return replicasOf(k.o.Spec.Replicas), true }

func (k deployment) createFailure() createFailure {
	for _, c := range k.o.Status.Conditions {
		if c.Type == appsv1.DeploymentReplicaFailure && c.Status == corev1.ConditionTrue {
			return createFailure{why: c.Message}
		}
	}
	return createFailure{}
}

func (k deployment) Pods() (all, available int32) {
	return k.o.Status.Replicas, k.o.Status.AvailableReplicas
}

func (k deployment) ObservedGeneration() int64 { return k.o.Status.ObservedGeneration }

func (k deployment) WithTemplate(t corev1.PodTemplateSpec) any {
	c := *k.o
	c.Spec.Template = t
	return &c
}

func (k deployment) WithPaused(paused bool) any {
	c := *k.o
	c.Spec.Paused = paused
	return &c
}

func (k deployment) WithReplicas(n int) any {
	c, r := *k.o, int32(n)
	c.Spec.Replicas = &r
	return &c
}

// WithPods is [Typed.WithReplicas]: the spec has the number.
func (k deployment) WithPods(n int) any { return k.WithReplicas(n) }

// replicaSet is a ReplicaSet.
type replicaSet struct {
	unknown
	o *appsv1.ReplicaSet
}

func (typed) ReplicaSet(o *appsv1.ReplicaSet) Typed { return replicaSet{unknown{o}, o} }

func (k replicaSet) Template() *corev1.PodTemplateSpec { return &k.o.Spec.Template }
func (k replicaSet) Selector() *metav1.LabelSelector   { return k.o.Spec.Selector }
func (k replicaSet) Replicas() (n int, ok bool)        { return replicasOf(k.o.Spec.Replicas), true }

func (k replicaSet) createFailure() createFailure {
	for _, c := range k.o.Status.Conditions {
		if c.Type == appsv1.ReplicaSetReplicaFailure && c.Status == corev1.ConditionTrue {
			return createFailure{why: c.Message}
		}
	}
	return createFailure{}
}

func (k replicaSet) Pods() (all, available int32) {
	return k.o.Status.Replicas, k.o.Status.AvailableReplicas
}

func (k replicaSet) ObservedGeneration() int64 { return k.o.Status.ObservedGeneration }

func (k replicaSet) WithTemplate(t corev1.PodTemplateSpec) any {
	c := *k.o
	c.Spec.Template = t
	return &c
}

func (k replicaSet) WithReplicas(n int) any {
	c, r := *k.o, int32(n)
	c.Spec.Replicas = &r
	return &c
}

// WithPods is [Typed.WithReplicas]: the spec has the number.
func (k replicaSet) WithPods(n int) any { return k.WithReplicas(n) }

// nativeStatefulSet is Kubernetes' own StatefulSet.
type nativeStatefulSet struct {
	unknown
	o *appsv1.StatefulSet
}

func (typed) NativeStatefulSet(o *appsv1.StatefulSet) Typed { return nativeStatefulSet{unknown{o}, o} }

func (k nativeStatefulSet) Template() *corev1.PodTemplateSpec { return &k.o.Spec.Template }
func (k nativeStatefulSet) Selector() *metav1.LabelSelector   { return k.o.Spec.Selector }

func (k nativeStatefulSet) Claims() []corev1.PersistentVolumeClaim {
	return k.o.Spec.VolumeClaimTemplates
}

func (k nativeStatefulSet) Strategy() string { return string(k.o.Spec.UpdateStrategy.Type) }

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

func (k nativeStatefulSet) ObservedGeneration() int64 { return k.o.Status.ObservedGeneration }
func (k nativeStatefulSet) UpdateRevision() string    { return k.o.Status.UpdateRevision }

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

func (k nativeStatefulSet) WithReplicas(n int) any {
	c, r := *k.o, int32(n)
	c.Spec.Replicas = &r
	return &c
}

// WithPods is [Typed.WithReplicas]: the spec has the number.
func (k nativeStatefulSet) WithPods(n int) any { return k.WithReplicas(n) }

// nativeDaemonSet is Kubernetes' own DaemonSet.
type nativeDaemonSet struct {
	unknown
	o *appsv1.DaemonSet
}

func (typed) NativeDaemonSet(o *appsv1.DaemonSet) Typed { return nativeDaemonSet{unknown{o}, o} }

func (k nativeDaemonSet) Template() *corev1.PodTemplateSpec { return &k.o.Spec.Template }
func (k nativeDaemonSet) Selector() *metav1.LabelSelector   { return k.o.Spec.Selector }
func (k nativeDaemonSet) Strategy() string                  { return string(k.o.Spec.UpdateStrategy.Type) }

func (k nativeDaemonSet) Scheduled() (n int, ok bool) {
	return int(k.o.Status.DesiredNumberScheduled), true
}

func (k nativeDaemonSet) ObservedGeneration() int64 { return k.o.Status.ObservedGeneration }

func (k nativeDaemonSet) WithTemplate(t corev1.PodTemplateSpec) any {
	c := *k.o
	c.Spec.Template = t
	return &c
}

func (k nativeDaemonSet) WithStrategy(kind string) any {
	c := *k.o
	c.Spec.UpdateStrategy.Type = appsv1.DaemonSetUpdateStrategyType(kind)
	return &c
}

func (k nativeDaemonSet) WithPods(n int) any {
	c := *k.o
	c.Status.DesiredNumberScheduled = int32(n)
	return &c
}
