package cluster

import (
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
func (k deployment) Selector() *metav1.LabelSelector   { return k.o.Spec.Selector }

func (k deployment) Strategy() string { return string(k.o.Spec.Strategy.Type) }

func (k deployment) Paused() bool { return k.o.Spec.Paused }

func (k deployment) Replicas() (n int, ok bool) { return replicasOf(k.o.Spec.Replicas), true }
func (k deployment) Pods() (all, available int32) {
	return k.o.Status.Replicas, k.o.Status.AvailableReplicas
}

func (k deployment) Generation() int64         { return k.o.Generation }
func (k deployment) ObservedGeneration() int64 { return k.o.Status.ObservedGeneration }
func (deployment) UpdateRevision() string      { return "" }

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
