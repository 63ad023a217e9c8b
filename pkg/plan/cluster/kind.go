package cluster

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// Typed is the typed object of a workload, asked in terms that all kinds share.
// Each kind of workload answers in a file of its own, kind_*.go.
type Typed interface {
	// Template is spec.template, of the object itself; nil for a SidecarSet, which has
	// none.
	Template() *corev1.PodTemplateSpec
	// Selector is spec.selector; it is immutable but for SidecarSets.
	Selector() *metav1.LabelSelector
	// Claims are spec.volumeClaimTemplates.
	Claims() []corev1.PersistentVolumeClaim
	// Lifecycle are the hooks that the spec asks for; nil for none.
	Lifecycle() *kruise.Lifecycle

	// Strategy is the type of the update strategy; "" for kinds that have none.
	Strategy() string
	// Paused reports whether the update is paused.
	Paused() bool
	// Partition is the one in force; ok is false where the kind, or its strategy, has
	// none. One that is not set is 0.
	Partition() (v intstr.IntOrString, ok bool)

	// Replicas is spec.replicas, 1 where it is not set; ok is false for kinds whose pods
	// are not counted there.
	Replicas() (n int, ok bool)
	// Scheduled is status.desiredNumberScheduled; ok is false but for kinds whose nodes
	// make the number of pods.
	Scheduled() (n int, ok bool)

	// Generation and ObservedGeneration are those of the metadata and of the status.
	Generation() int64
	ObservedGeneration() int64
	// Pods are how many the status counts, and how many of them are available.
	Pods() (all, available int32)
	// UpdateRevision is status.updateRevision; "" for kinds that have none.
	UpdateRevision() string

	// The object with another value, as a copy that shares what does not change. A kind
	// without the field returns the object itself.
	WithTemplate(t corev1.PodTemplateSpec) any
	WithPartition(v intstr.IntOrString) any
	WithPaused(paused bool) any
	// WithStrategy has another type of the update strategy; only DaemonSets of Kubernetes
	// are stopped by it.
	WithStrategy(kind string) any
	WithReplicas(n int) any
	// WithPods is the object as if its controller had found so many pods to make.
	WithPods(n int) any
}

// Kinds has a T for each kind of workload. Packages distinguish kinds by it: when a kind is added
// here as another method, the compiler requires it in each of these packages.
type Kinds[T any] interface {
	CloneSet(o *kruise.CloneSet) T
	StatefulSet(o *kruise.StatefulSet) T
	DaemonSet(o *kruise.DaemonSet) T
	SidecarSet(o *kruise.SidecarSet) T
	Deployment(o *appsv1.Deployment) T
	ReplicaSet(o *appsv1.ReplicaSet) T
	NativeStatefulSet(o *appsv1.StatefulSet) T
	NativeDaemonSet(o *appsv1.DaemonSet) T
}

// By asks kinds for what belongs to the kind of a typed object; another object, and
// nil, has the zero value.
func By[T any](obj any, kinds Kinds[T]) (none T) {
	switch o := obj.(type) {
	case *kruise.CloneSet:
		return kinds.CloneSet(o)
	case *kruise.StatefulSet:
		return kinds.StatefulSet(o)
	case *kruise.DaemonSet:
		return kinds.DaemonSet(o)
	case *kruise.SidecarSet:
		return kinds.SidecarSet(o)
	case *appsv1.Deployment:
		return kinds.Deployment(o)
	case *appsv1.ReplicaSet:
		return kinds.ReplicaSet(o)
	case *appsv1.StatefulSet:
		return kinds.NativeStatefulSet(o)
	case *appsv1.DaemonSet:
		return kinds.NativeDaemonSet(o)
	}
	return none
}

// Of is the typed object obj, one of those that [Workload.Object] holds. Of any other
// object nothing is known: every answer is empty, and no copy differs.
func Of(obj any) Typed {
	if t := By(obj, Kinds[Typed](typed{})); t != nil {
		return t
	}
	return unknown{obj}
}

// createFailure is why pods cannot be created; at is for a condition that stays when the cause has passed.
type createFailure struct {
	why string
	at  time.Time
}

// CreateFailure is why the controller of a workload cannot create pods, as a condition says; "" where none does. at is for
// a condition that stays when the cause has passed: a pod that is newer shows that it has; zero for one that ends with it.
func CreateFailure(obj any) (why string, at time.Time) {
	if k, ok := Of(obj).(interface{ createFailure() createFailure }); ok {
		f := k.createFailure()
		return f.why, f.at
	}
	return "", time.Time{}
}

// typed has the Typed of each kind; its methods are in the files of the kinds.
type typed struct{}

// unknown is no workload; kinds have its answers where they have no such field.
type unknown struct{ obj any }

func (unknown) Template() *corev1.PodTemplateSpec          { return nil }
func (unknown) Selector() *metav1.LabelSelector            { return nil }
func (unknown) Claims() []corev1.PersistentVolumeClaim     { return nil }
func (unknown) Lifecycle() *kruise.Lifecycle               { return nil }
func (unknown) Strategy() string                           { return "" }
func (unknown) Paused() bool                               { return false }
func (unknown) Partition() (v intstr.IntOrString, ok bool) { return v, false }
func (unknown) Replicas() (n int, ok bool)                 { return 0, false }
func (unknown) Scheduled() (n int, ok bool)                { return 0, false }
func (unknown) Pods() (all, available int32)               { return 0, 0 }
func (unknown) ObservedGeneration() int64                  { return 0 }
func (unknown) UpdateRevision() string                     { return "" }
func (u unknown) WithTemplate(corev1.PodTemplateSpec) any  { return u.obj }
func (u unknown) WithPartition(intstr.IntOrString) any     { return u.obj }
func (u unknown) WithPaused(bool) any                      { return u.obj }
func (u unknown) WithStrategy(string) any                  { return u.obj }
func (u unknown) WithReplicas(int) any                     { return u.obj }
func (u unknown) WithPods(int) any                         { return u.obj }

func (u unknown) Generation() int64 {
	if o, ok := u.obj.(metav1.Object); ok {
		return o.GetGeneration()
	}
	return 0
}

// replicasOf is spec.replicas with its default.
func replicasOf(n *int32) int {
	if n == nil {
		return 1
	}
	return int(*n)
}

// percentOf is a partition with its default.
func percentOf(v *intstr.IntOrString) intstr.IntOrString {
	if v == nil {
		return intstr.FromInt32(0)
	}
	return *v
}

// ordinalOf is a partition of a StatefulSet with its default.
func ordinalOf(v *int32) intstr.IntOrString {
	if v == nil {
		return intstr.FromInt32(0)
	}
	return intstr.FromInt32(*v)
}

// copied is a copy of what is there, or empty.
func copied[T any](v *T) *T {
	if v == nil {
		return new(T)
	}
	out := *v
	return &out
}
