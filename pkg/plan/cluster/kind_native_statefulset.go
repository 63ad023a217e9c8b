package cluster

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// nativeStatefulSet is Kubernetes' own StatefulSet.
type nativeStatefulSet struct {
	hookless
	unnumbered
	o *appsv1.StatefulSet
}

func (typed) NativeStatefulSet(o *appsv1.StatefulSet) Typed { return nativeStatefulSet{o: o} }

func (k nativeStatefulSet) Template() *corev1.PodTemplateSpec { return &k.o.Spec.Template }
func (k nativeStatefulSet) Selector() *metav1.LabelSelector   { return k.o.Spec.Selector }
func (k nativeStatefulSet) Claims() []corev1.PersistentVolumeClaim {
	return k.o.Spec.VolumeClaimTemplates
}

func (k nativeStatefulSet) Strategy() string { return string(k.o.Spec.UpdateStrategy.Type) }

// Paused is never: nothing in the spec says so.
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

func (k nativeStatefulSet) Generation() int64         { return k.o.Generation }
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

func (k nativeStatefulSet) WithPaused(bool) any { return k.o }

func (k nativeStatefulSet) WithStrategy(string) any { return k.o }

func (k nativeStatefulSet) WithReplicas(n int) any {
	c, r := *k.o, int32(n)
	c.Spec.Replicas = &r
	return &c
}

// WithPods is [Typed.WithReplicas]: the spec has the number.
func (k nativeStatefulSet) WithPods(n int) any { return k.WithReplicas(n) }
