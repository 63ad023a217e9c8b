package cluster

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// cloneSet is a CloneSet.
type cloneSet struct {
	unknown
	o *kruise.CloneSet
}

func (typed) CloneSet(o *kruise.CloneSet) Typed { return cloneSet{unknown{o}, o} }

func (k cloneSet) Template() *corev1.PodTemplateSpec      { return &k.o.Spec.Template }
func (k cloneSet) Selector() *metav1.LabelSelector        { return k.o.Spec.Selector }
func (k cloneSet) Claims() []corev1.PersistentVolumeClaim { return k.o.Spec.VolumeClaimTemplates }
func (k cloneSet) Lifecycle() *kruise.Lifecycle           { return k.o.Spec.Lifecycle }
func (k cloneSet) Strategy() string                       { return string(k.o.Spec.UpdateStrategy.Type) }

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

// createFailure is the condition FailedScale, which Kruise never takes away.
func (k cloneSet) createFailure() createFailure {
	for _, c := range k.o.Status.Conditions {
		if c.Type == "FailedScale" && c.Status == corev1.ConditionTrue {
			return createFailure{c.Message, c.LastTransitionTime.Time}
		}
	}
	return createFailure{}
}

func (k cloneSet) Replicas() (n int, ok bool) { return replicasOf(k.o.Spec.Replicas), true }

func (k cloneSet) Pods() (all, available int32) {
	return k.o.Status.Replicas, k.o.Status.AvailableReplicas
}

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

func (k cloneSet) WithReplicas(n int) any {
	c, r := *k.o, int32(n)
	c.Spec.Replicas = &r
	return &c
}

// WithPods is [Typed.WithReplicas]: the spec has the number.
func (k cloneSet) WithPods(n int) any { return k.WithReplicas(n) }

// statefulSet is an Advanced StatefulSet.
type statefulSet struct {
	unknown
	o *kruise.StatefulSet
}

func (typed) StatefulSet(o *kruise.StatefulSet) Typed { return statefulSet{unknown{o}, o} }

func (k statefulSet) Template() *corev1.PodTemplateSpec      { return &k.o.Spec.Template }
func (k statefulSet) Selector() *metav1.LabelSelector        { return k.o.Spec.Selector }
func (k statefulSet) Claims() []corev1.PersistentVolumeClaim { return k.o.Spec.VolumeClaimTemplates }
func (k statefulSet) Lifecycle() *kruise.Lifecycle           { return k.o.Spec.Lifecycle }
func (k statefulSet) Strategy() string                       { return string(k.o.Spec.UpdateStrategy.Type) }

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

func (k statefulSet) WithReplicas(n int) any {
	c, r := *k.o, int32(n)
	c.Spec.Replicas = &r
	return &c
}

// WithPods is [Typed.WithReplicas]: the spec has the number.
func (k statefulSet) WithPods(n int) any { return k.WithReplicas(n) }

// daemonSet is an Advanced DaemonSet.
type daemonSet struct {
	unknown
	o *kruise.DaemonSet
}

func (typed) DaemonSet(o *kruise.DaemonSet) Typed { return daemonSet{unknown{o}, o} }

func (k daemonSet) Template() *corev1.PodTemplateSpec { return &k.o.Spec.Template }
func (k daemonSet) Selector() *metav1.LabelSelector   { return k.o.Spec.Selector }
func (k daemonSet) Lifecycle() *kruise.Lifecycle      { return k.o.Spec.Lifecycle }
func (k daemonSet) Strategy() string                  { return string(k.o.Spec.UpdateStrategy.Type) }

func (k daemonSet) Paused() bool {
	r := k.o.Spec.UpdateStrategy.RollingUpdate
	return r != nil && r.Paused != nil && *r.Paused
}

func (k daemonSet) Partition() (v intstr.IntOrString, ok bool) {
	r := k.o.Spec.UpdateStrategy.RollingUpdate
	if r == nil || k.o.Spec.UpdateStrategy.Type == appsv1.OnDeleteDaemonSetStrategyType {
		return v, false
	}
	return percentOf(r.Partition), true
}

func (k daemonSet) Scheduled() (n int, ok bool) { return int(k.o.Status.DesiredNumberScheduled), true }
func (k daemonSet) ObservedGeneration() int64   { return k.o.Status.ObservedGeneration }
func (k daemonSet) UpdateRevision() string      { return k.o.Status.UpdateRevision }

func (k daemonSet) WithTemplate(t corev1.PodTemplateSpec) any {
	c := *k.o
	c.Spec.Template = t
	return &c
}

func (k daemonSet) WithPartition(v intstr.IntOrString) any {
	c := *k.o
	c.Spec.UpdateStrategy.RollingUpdate = copied(c.Spec.UpdateStrategy.RollingUpdate)
	c.Spec.UpdateStrategy.RollingUpdate.Partition = &v
	return &c
}

func (k daemonSet) WithPaused(paused bool) any {
	c := *k.o
	c.Spec.UpdateStrategy.RollingUpdate = copied(c.Spec.UpdateStrategy.RollingUpdate)
	c.Spec.UpdateStrategy.RollingUpdate.Paused = &paused
	return &c
}

func (k daemonSet) WithPods(n int) any {
	c := *k.o
	c.Status.DesiredNumberScheduled = int32(n)
	return &c
}

// sidecarSet is a SidecarSet: it has sidecars in place of a template, and the pods of others.
type sidecarSet struct {
	unknown
	o *kruise.SidecarSet
}

func (typed) SidecarSet(o *kruise.SidecarSet) Typed { return sidecarSet{unknown{o}, o} }

func (k sidecarSet) Selector() *metav1.LabelSelector { return k.o.Spec.Selector }
func (k sidecarSet) Strategy() string                { return string(k.o.Spec.UpdateStrategy.Type) }
func (k sidecarSet) Paused() bool                    { return k.o.Spec.UpdateStrategy.Paused }

func (k sidecarSet) Partition() (v intstr.IntOrString, ok bool) {
	if k.o.Spec.UpdateStrategy.Type == kruise.NotUpdateSidecarSetStrategyType {
		return v, false
	}
	return percentOf(k.o.Spec.UpdateStrategy.Partition), true
}

func (k sidecarSet) ObservedGeneration() int64 { return k.o.Status.ObservedGeneration }

func (k sidecarSet) WithPartition(v intstr.IntOrString) any {
	c := *k.o
	c.Spec.UpdateStrategy.Partition = &v
	return &c
}

func (k sidecarSet) WithPaused(paused bool) any {
	c := *k.o
	c.Spec.UpdateStrategy.Paused = paused
	return &c
}

func (k sidecarSet) WithPods(n int) any {
	c := *k.o
	c.Status.MatchedPods = int32(n)
	return &c
}
