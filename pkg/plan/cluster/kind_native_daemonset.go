package cluster

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

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
func (k nativeDaemonSet) Selector() *metav1.LabelSelector   { return k.o.Spec.Selector }

func (k nativeDaemonSet) Strategy() string { return string(k.o.Spec.UpdateStrategy.Type) }

// Paused is never: nothing in the spec says so.
func (nativeDaemonSet) Paused() bool { return false }

func (k nativeDaemonSet) Scheduled() (n int, ok bool) {
	return int(k.o.Status.DesiredNumberScheduled), true
}

func (k nativeDaemonSet) Generation() int64         { return k.o.Generation }
func (k nativeDaemonSet) ObservedGeneration() int64 { return k.o.Status.ObservedGeneration }
func (nativeDaemonSet) UpdateRevision() string      { return "" }

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
