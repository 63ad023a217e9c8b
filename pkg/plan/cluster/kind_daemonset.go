package cluster

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// daemonSet is an Advanced DaemonSet.
type daemonSet struct {
	claimless
	uncounted
	o *kruise.DaemonSet
}

func (typed) DaemonSet(o *kruise.DaemonSet) Typed { return daemonSet{o: o} }

func (k daemonSet) Template() *corev1.PodTemplateSpec { return &k.o.Spec.Template }
func (k daemonSet) Selector() *metav1.LabelSelector   { return k.o.Spec.Selector }
func (k daemonSet) Lifecycle() *kruise.Lifecycle      { return k.o.Spec.Lifecycle }

func (k daemonSet) Strategy() string { return string(k.o.Spec.UpdateStrategy.Type) }

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

func (k daemonSet) Generation() int64         { return k.o.Generation }
func (k daemonSet) ObservedGeneration() int64 { return k.o.Status.ObservedGeneration }
func (k daemonSet) UpdateRevision() string    { return k.o.Status.UpdateRevision }

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

func (k daemonSet) WithStrategy(string) any { return k.o }

func (k daemonSet) WithReplicas(int) any { return k.o }

func (k daemonSet) WithPods(n int) any {
	c := *k.o
	c.Status.DesiredNumberScheduled = int32(n)
	return &c
}
