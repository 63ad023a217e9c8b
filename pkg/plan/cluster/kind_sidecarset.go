package cluster

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// sidecarSet is a SidecarSet: it has sidecars in place of a template, and the pods of others.
type sidecarSet struct {
	noTemplate
	uncounted
	unnumbered
	o *kruise.SidecarSet
}

func (typed) SidecarSet(o *kruise.SidecarSet) Typed { return sidecarSet{o: o} }

func (k sidecarSet) Selector() *metav1.LabelSelector { return k.o.Spec.Selector }

func (k sidecarSet) Strategy() string { return string(k.o.Spec.UpdateStrategy.Type) }

func (k sidecarSet) Paused() bool { return k.o.Spec.UpdateStrategy.Paused }

func (k sidecarSet) Partition() (v intstr.IntOrString, ok bool) {
	if k.o.Spec.UpdateStrategy.Type == kruise.NotUpdateSidecarSetStrategyType {
		return v, false
	}
	return percentOf(k.o.Spec.UpdateStrategy.Partition), true
}

func (k sidecarSet) Generation() int64         { return k.o.Generation }
func (k sidecarSet) ObservedGeneration() int64 { return k.o.Status.ObservedGeneration }
func (sidecarSet) UpdateRevision() string      { return "" }

func (k sidecarSet) WithTemplate(corev1.PodTemplateSpec) any { return k.o }

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

func (k sidecarSet) WithStrategy(string) any { return k.o }

func (k sidecarSet) WithReplicas(int) any { return k.o }

func (k sidecarSet) WithPods(n int) any {
	c := *k.o
	c.Status.MatchedPods = int32(n)
	return &c
}
