package cluster

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

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
func (k replicaSet) Selector() *metav1.LabelSelector   { return k.o.Spec.Selector }

// Strategy is none: a ReplicaSet updates no pod.
func (replicaSet) Strategy() string { return "" }

// Paused is never: nothing in the spec says so.
func (replicaSet) Paused() bool { return false }

func (k replicaSet) Replicas() (n int, ok bool) { return replicasOf(k.o.Spec.Replicas), true }
func (k replicaSet) Pods() (all, available int32) {
	return k.o.Status.Replicas, k.o.Status.AvailableReplicas
}

func (k replicaSet) Generation() int64         { return k.o.Generation }
func (k replicaSet) ObservedGeneration() int64 { return k.o.Status.ObservedGeneration }
func (replicaSet) UpdateRevision() string      { return "" }

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
