package cluster

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// statefulSet is an Advanced StatefulSet.
type statefulSet struct {
	unnumbered
	o *kruise.StatefulSet
}

func (typed) StatefulSet(o *kruise.StatefulSet) Typed { return statefulSet{o: o} }

func (k statefulSet) Template() *corev1.PodTemplateSpec      { return &k.o.Spec.Template }
func (k statefulSet) Selector() *metav1.LabelSelector        { return k.o.Spec.Selector }
func (k statefulSet) Claims() []corev1.PersistentVolumeClaim { return k.o.Spec.VolumeClaimTemplates }
func (k statefulSet) Lifecycle() *kruise.Lifecycle           { return k.o.Spec.Lifecycle }

func (k statefulSet) Strategy() string { return string(k.o.Spec.UpdateStrategy.Type) }

func (k statefulSet) Paused() bool {
	r := k.o.Spec.UpdateStrategy.RollingUpdate
	return r != nil && r.Paused
}

func (k statefulSet) Partition() (v intstr.IntOrString, ok bool) {
	r := k.o.Spec.UpdateStrategy.RollingUpdate
	if r == nil || k.o.Spec.UpdateStrategy.Type == appsv1.OnDeleteStatefulSetStrategyType {
		return v, false
	}
	return ordinalOf(r.Partition), true
}

func (k statefulSet) Replicas() (n int, ok bool) { return replicasOf(k.o.Spec.Replicas), true }
func (k statefulSet) Pods() (all, available int32) {
	return k.o.Status.Replicas, k.o.Status.AvailableReplicas
}

func (k statefulSet) Generation() int64         { return k.o.Generation }
func (k statefulSet) ObservedGeneration() int64 { return k.o.Status.ObservedGeneration }
func (k statefulSet) UpdateRevision() string    { return k.o.Status.UpdateRevision }

func (k statefulSet) WithTemplate(t corev1.PodTemplateSpec) any {
	c := *k.o
	c.Spec.Template = t
	return &c
}

func (k statefulSet) WithPartition(v intstr.IntOrString) any {
	c := *k.o
	c.Spec.UpdateStrategy.RollingUpdate = copied(c.Spec.UpdateStrategy.RollingUpdate)
	c.Spec.UpdateStrategy.RollingUpdate.Partition = &v.IntVal
	return &c
}

func (k statefulSet) WithPaused(paused bool) any {
	c := *k.o
	c.Spec.UpdateStrategy.RollingUpdate = copied(c.Spec.UpdateStrategy.RollingUpdate)
	c.Spec.UpdateStrategy.RollingUpdate.Paused = paused
	return &c
}

func (k statefulSet) WithStrategy(string) any { return k.o }

func (k statefulSet) WithReplicas(n int) any {
	c, r := *k.o, int32(n)
	c.Spec.Replicas = &r
	return &c
}

// WithPods is [Typed.WithReplicas]: the spec has the number.
func (k statefulSet) WithPods(n int) any { return k.WithReplicas(n) }
