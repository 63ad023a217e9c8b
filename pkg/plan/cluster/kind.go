package cluster

import (
	"reflect"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

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

// Typed is the typed object of a workload, asked in terms that all kinds share. The methods With…
// return a copy that has another value and shares what does not change; of a kind without the field
// they return the object itself.
type Typed struct {
	obj any
	fields
}

// fields are where a kind keeps what all kinds share, in its object; nil and empty are what it
// does not have.
type fields struct {
	template  *corev1.PodTemplateSpec
	selector  *metav1.LabelSelector
	claims    []corev1.PersistentVolumeClaim
	lifecycle *kruise.Lifecycle
	strategy  string
	// stop is the type of the update strategy where writing it stops the controller.
	stop *appsv1.DaemonSetUpdateStrategyType
	// One of these is the partition; it is not in force where pods are only updated by hand.
	partition **intstr.IntOrString
	ordinal   **int32
	byHand    bool
	// One of these is the pause.
	paused    *bool
	pausedPtr **bool

	replicas **int32
	// scheduled and matched are counts of the status that make the number of pods.
	scheduled, matched *int32
	all, available     int32
	observed           int64
	revision           string
	// failure and failedAt are those of [CreateFailure].
	failure  string
	failedAt time.Time
}

// Of is the typed object obj, one of those that [Workload.Object] holds. Of any other
// object nothing is known: every answer is empty, and no copy differs.
func Of(obj any) Typed { return Typed{obj, By(obj, Kinds[fields](reader{}))} }

// copied is a copy of the object. Where rolling is true its update strategy has a part
// rollingUpdate of its own, which is made where there is none.
func (t Typed) copied(rolling bool) Typed {
	v := reflect.ValueOf(t.obj)
	if v.Kind() != reflect.Pointer || v.IsNil() {
		return t
	}
	c := reflect.New(v.Type().Elem())
	c.Elem().Set(v.Elem())
	return Typed{c.Interface(), By(c.Interface(), Kinds[fields](reader{rolling}))}
}

// Template is spec.template, of the object itself; nil for a SidecarSet, which has
// none.
func (t Typed) Template() *corev1.PodTemplateSpec { return t.template }

// Selector is spec.selector; it is immutable but for SidecarSets.
func (t Typed) Selector() *metav1.LabelSelector { return t.selector }

// Claims are spec.volumeClaimTemplates.
func (t Typed) Claims() []corev1.PersistentVolumeClaim { return t.claims }

// Lifecycle are the hooks that the spec asks for; nil for none.
func (t Typed) Lifecycle() *kruise.Lifecycle { return t.lifecycle }

// Strategy is the type of the update strategy; "" for kinds that have none.
func (t Typed) Strategy() string { return t.strategy }

// Paused reports whether the update is paused.
func (t Typed) Paused() bool {
	return t.paused != nil && *t.paused || t.pausedPtr != nil && *t.pausedPtr != nil && **t.pausedPtr
}

// Partition is the one in force; ok is false where the kind, or its strategy, has
// none. One that is not set is 0.
func (t Typed) Partition() (v intstr.IntOrString, ok bool) {
	switch {
	case t.byHand || t.partition == nil && t.ordinal == nil:
		return v, false
	case t.partition != nil && *t.partition != nil:
		return **t.partition, true
	case t.ordinal != nil && *t.ordinal != nil:
		return intstr.FromInt32(**t.ordinal), true
	}
	return intstr.FromInt32(0), true
}

// Replicas is spec.replicas, 1 where it is not set; ok is false for kinds whose pods
// are not counted there.
func (t Typed) Replicas() (n int, ok bool) {
	switch {
	case t.replicas == nil:
		return 0, false
	case *t.replicas == nil:
		return 1, true
	}
	return int(**t.replicas), true
}

// Scheduled is status.desiredNumberScheduled; ok is false but for kinds whose nodes
// make the number of pods.
func (t Typed) Scheduled() (n int, ok bool) {
	if t.scheduled == nil {
		return 0, false
	}
	return int(*t.scheduled), true
}

// Generation is that of the metadata.
func (t Typed) Generation() int64 {
	if o, ok := t.obj.(metav1.Object); ok {
		return o.GetGeneration()
	}
	return 0
}

// ObservedGeneration is that of the status.
func (t Typed) ObservedGeneration() int64 { return t.observed }

// Pods are how many the status counts, and how many of them are available.
func (t Typed) Pods() (all, available int32) { return t.all, t.available }

// UpdateRevision is status.updateRevision; "" for kinds that have none.
func (t Typed) UpdateRevision() string { return t.revision }

// WithTemplate has another template.
func (t Typed) WithTemplate(template corev1.PodTemplateSpec) any {
	if t.template == nil {
		return t.obj
	}
	c := t.copied(false)
	*c.template = template
	return c.obj
}

// WithPartition has another partition.
func (t Typed) WithPartition(v intstr.IntOrString) any {
	c := t.copied(true)
	switch {
	case c.partition != nil:
		*c.partition = &v
	case c.ordinal != nil:
		*c.ordinal = &v.IntVal
	default:
		return t.obj
	}
	return c.obj
}

// WithPaused is paused, or not.
func (t Typed) WithPaused(paused bool) any {
	c := t.copied(true)
	switch {
	case c.paused != nil:
		*c.paused = paused
	case c.pausedPtr != nil:
		*c.pausedPtr = &paused
	default:
		return t.obj
	}
	return c.obj
}

// WithStrategy has another type of the update strategy; only DaemonSets of Kubernetes
// are stopped by it.
func (t Typed) WithStrategy(kind string) any {
	if t.stop == nil {
		return t.obj
	}
	c := t.copied(false)
	*c.stop = appsv1.DaemonSetUpdateStrategyType(kind)
	return c.obj
}

// WithReplicas has another number of replicas.
func (t Typed) WithReplicas(n int) any {
	if t.replicas == nil {
		return t.obj
	}
	c := t.copied(false)
	*c.replicas = new(int32(n))
	return c.obj
}

// WithPods is the object as if its controller had found so many pods to make.
func (t Typed) WithPods(n int) any {
	c := t.copied(false)
	switch {
	case c.scheduled != nil:
		*c.scheduled = int32(n)
	case c.matched != nil:
		*c.matched = int32(n)
	default:
		return t.WithReplicas(n)
	}
	return c.obj
}

// CreateFailure is why the controller of a workload cannot create pods, as a condition says; "" where none does. at is for
// a condition that stays when the cause has passed: a pod that is newer shows that it has; zero for one that ends with it.
func CreateFailure(obj any) (why string, at time.Time) {
	t := Of(obj)
	return t.failure, t.failedAt
}
