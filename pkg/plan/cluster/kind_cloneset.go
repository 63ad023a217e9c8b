package cluster

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// cloneSet is a CloneSet.
type cloneSet struct {
	unnumbered
	o *kruise.CloneSet
}

func (typed) CloneSet(o *kruise.CloneSet) Typed { return cloneSet{o: o} }

func (k cloneSet) Template() *corev1.PodTemplateSpec      { return &k.o.Spec.Template }
func (k cloneSet) Selector() *metav1.LabelSelector        { return k.o.Spec.Selector }
func (k cloneSet) Claims() []corev1.PersistentVolumeClaim { return k.o.Spec.VolumeClaimTemplates }
func (k cloneSet) Lifecycle() *kruise.Lifecycle           { return k.o.Spec.Lifecycle }

func (k cloneSet) Strategy() string { return string(k.o.Spec.UpdateStrategy.Type) }

func (k cloneSet) Paused() bool {
	r := k.o.Spec.UpdateStrategy.RollingUpdate
	return r != nil && r.Paused
}

func (k cloneSet) Partition() (v intstr.IntOrString, ok bool) {
	r := k.o.Spec.UpdateStrategy.RollingUpdate
	if r == nil || k.o.Spec.UpdateStrategy.Type == kruise.OnDeleteCloneSetStrategyType {
		return v, false
	}
	return percentOf(r.Partition), true
}

func (k cloneSet) Replicas() (n int, ok bool) { return replicasOf(k.o.Spec.Replicas), true }
func (k cloneSet) Pods() (all, available int32) {
	return k.o.Status.Replicas, k.o.Status.AvailableReplicas
}

func (k cloneSet) Generation() int64         { return k.o.Generation }
func (k cloneSet) ObservedGeneration() int64 { return k.o.Status.ObservedGeneration }
func (k cloneSet) UpdateRevision() string    { return k.o.Status.UpdateRevision }

func (k cloneSet) WithTemplate(t corev1.PodTemplateSpec) any {
	c := *k.o
	c.Spec.Template = t
	return &c
}

func (k cloneSet) WithPartition(v intstr.IntOrString) any {
	c := *k.o
	c.Spec.UpdateStrategy.RollingUpdate = copied(c.Spec.UpdateStrategy.RollingUpdate)
	c.Spec.UpdateStrategy.RollingUpdate.Partition = &v
	return &c
}

func (k cloneSet) WithPaused(paused bool) any {
	c := *k.o
	c.Spec.UpdateStrategy.RollingUpdate = copied(c.Spec.UpdateStrategy.RollingUpdate)
	c.Spec.UpdateStrategy.RollingUpdate.Paused = paused
	return &c
}

func (k cloneSet) WithStrategy(string) any { return k.o }

func (k cloneSet) WithReplicas(n int) any {
	c, r := *k.o, int32(n)
	c.Spec.Replicas = &r
	return &c
}

// WithPods is [Typed.WithReplicas]: the spec has the number.
func (k cloneSet) WithPods(n int) any { return k.WithReplicas(n) }
