package plan

import (
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

type statefulSetKind struct {
	kruiseKind
	o *kruise.StatefulSet
}

func (kinds) StatefulSet(o *kruise.StatefulSet) kind {
	return statefulSetKind{kruiseKind{anyKind{o}}, o}
}

func (k statefulSetKind) subject(b *comparison) subject { return b.statefulSet(&k.o.Spec) }

// statefulSet reads an Advanced StatefulSet (docs/kruise/workloads.md#advanced-statefulset): its
// partition is a number only.
func (b *comparison) statefulSet(spec *kruise.StatefulSetSpec) subject {
	all := *spec
	all.UpdateStrategy.RollingUpdate = copyOrNew(spec.UpdateStrategy.RollingUpdate)
	all.UpdateStrategy.RollingUpdate.Partition = nil
	set := &rules.StatefulSet{Spec: &all, Current: b.plan.Change.FromRevision, Update: b.updateRevision(), Pods: b.snap.Pods, Gates: b.snap.Gates}
	l := rules.LimitsOfStatefulSet(spec)
	s := subject{total: l.Replicas, limits: Limits{Replicas: l.Replicas, MaxUnavailable: l.MaxUnavailable}}
	slots := b.countOrdinals(&s, set.Ordinals())
	if r := spec.UpdateStrategy.RollingUpdate; r != nil && r.MinReadySeconds != nil {
		s.limits.MinReady = seconds(*r.MinReadySeconds)
	}
	if _, ok := cluster.Of(&kruise.StatefulSet{Spec: *spec}).Partition(); !ok {
		return s
	}
	why := "highest ordinal first"
	if r := spec.UpdateStrategy.RollingUpdate; r != nil && r.UnorderedUpdate != nil {
		s.outdatedAt = b.outdatedAt(slots)
		slots, why = nil, "by priority, then the highest ordinal"
	}
	s.partition, s.order = b.numberPartition(s.total, slots), b.outdatedInOrder(set.UpdateTargets(), false, why)
	return s
}

// outdatedAt are the places of outdated pods, counted from the lowest ordinal. slots are the pods, the highest ordinal first.
func (b *comparison) outdatedAt(slots []*cluster.Pod) (places []int) {
	for i, p := range slices.Backward(slots) {
		if p != nil && b.isOutdated(p) {
			places = append(places, len(slots)-1-i)
		}
	}
	return places
}

func (k statefulSetKind) restartSpec(any) kruiseSpec {
	spec := k.o.Spec
	spec.UpdateStrategy.RollingUpdate = copyOrNew(spec.UpdateStrategy.RollingUpdate)
	spec.UpdateStrategy.RollingUpdate.Partition = nil
	return statefulSetSpec{&spec}
}

func (k statefulSetKind) choice(b *comparison, now time.Time, _ bool) rules.Choice {
	set := &rules.StatefulSet{Spec: &k.o.Spec, Current: k.o.Status.CurrentRevision, Update: b.updateRevision(), Pods: b.snap.Pods, Gates: b.snap.Gates, Now: now}
	return set.ChooseUpdate().Choice
}

func (k statefulSetKind) stepPending(r *rollout) rules.Pending {
	set := rules.StatefulSet{Spec: &k.o.Spec, Update: k.o.Status.UpdateRevision, Pods: r.snap.Pods, Gates: r.snap.Gates, Now: r.now, Answers: r.snap.Answers}
	return rules.StatefulSetStepPending(k.o, set.Kept())
}

func (k statefulSetKind) rolloutPending(*rollout) rules.Pending { return rules.StatefulSetPending(k.o) }

func (k statefulSetKind) stop(r *rollout) (StopField, string) {
	if !isSubset(k.o) || rules.PausedOf(k.o) {
		return stopByPause(k.o)
	}
	updated := atObservedRevision(k.o, k.o.Status.UpdateRevision)
	ordinals := (&rules.StatefulSet{Spec: &k.o.Spec}).Ordinals()
	kept := r.ordinalsBelowUpdated(ordinals, updated)
	if ru := k.o.Spec.UpdateStrategy.RollingUpdate; ru != nil && ru.UnorderedUpdate != nil {
		kept = min(r.outdatedPods(updated), len(ordinals))
	}
	return stopByPartition(k.o, kept, len(ordinals))
}

func (k statefulSetKind) ordering() []string {
	r := k.o.Spec.UpdateStrategy.RollingUpdate
	if r == nil {
		return nil
	}
	return setFields("unorderedUpdate", r.UnorderedUpdate != nil, "", false)
}

// statefulSetSpec has the client keep the rules of an Advanced StatefulSet.
type statefulSetSpec struct{ *kruise.StatefulSetSpec }

func (s statefulSetSpec) subject(b *comparison) subject { return b.statefulSet(s.StatefulSetSpec) }

func (s statefulSetSpec) inPlace() *kruise.InPlaceUpdateStrategy {
	return s.UpdateStrategy.RollingUpdate.InPlaceUpdateStrategy
}

func (s statefulSetSpec) lifecycle() *kruise.Lifecycle { return s.Lifecycle }

func (s statefulSetSpec) updateOrder(b *comparison) []*cluster.Pod {
	set := &rules.StatefulSet{Spec: s.StatefulSetSpec, Update: unstoredRevision, Pods: b.snap.Pods, Gates: b.snap.Gates}
	return set.UpdateTargets()
}

func (s statefulSetSpec) nextPods(c *client) ([]*cluster.Pod, string) {
	set := c.statefulSetRules(*s.StatefulSetSpec, c.step.Updated)
	set.Pods, set.Busy = c.withRestarts.Pods, c
	if scale := set.Scale(); scale.Stop {
		return preparedPods(c.snap.Pods), scale.Why
	}
	return chosenWithReason(set.ChooseUpdate().Choice)
}

// countedPods are those that the update order reaches: pods below the partition may have the
// revision, too, after the template was rolled back.
func (s statefulSetSpec) countedPods(r *rollout, updated int) []*cluster.Pod {
	return r.statefulSetRules(*s.StatefulSetSpec, updated).UpdateTargets()
}

type nativeStatefulSetKind struct {
	anyKind
	o *appsv1.StatefulSet
}

func (kinds) NativeStatefulSet(o *appsv1.StatefulSet) kind {
	return nativeStatefulSetKind{anyKind{o}, o}
}

func (k nativeStatefulSetKind) drivers() []Driver {
	if k.o.Spec.UpdateStrategy.Type == appsv1.OnDeleteStatefulSetStrategyType {
		return []Driver{DriverClient, DriverNative}
	}
	return []Driver{DriverNative}
}

// subject reads a StatefulSet of Kubernetes; its partition is a floor of
// ordinals, which amounts to a number of pods.
func (k nativeStatefulSetKind) subject(b *comparison) subject {
	spec := &k.o.Spec
	set := &rules.NativeStatefulSet{Spec: spec, Update: b.updateRevision(), Pods: b.snap.Pods, MaxUnavailable: b.severalAtOnce()}
	replicas, _ := cluster.Of(&appsv1.StatefulSet{Spec: *spec}).Replicas()
	s := subject{
		total:  replicas,
		limits: Limits{Replicas: replicas, MaxUnavailable: set.Budget(), MinReady: seconds(spec.MinReadySeconds)},
	}
	slots := b.countOrdinals(&s, set.Ordinals())
	if _, ok := cluster.Of(&appsv1.StatefulSet{Spec: *spec}).Partition(); !ok {
		return s
	}
	s.partition, s.order = b.numberPartition(s.total, slots), b.outdatedInOrder(set.Descending(), false, "highest ordinal first")
	return s
}

// severalAtOnce reports whether the API server heeds the maxUnavailable of a StatefulSet:
// where it does not it keeps none.
func (b *comparison) severalAtOnce() bool {
	o, ok := b.present.Object.(*appsv1.StatefulSet)
	kept := ok && o.Spec.UpdateStrategy.RollingUpdate != nil && o.Spec.UpdateStrategy.RollingUpdate.MaxUnavailable != nil
	return kept || b.snap.Gates.MaxUnavailableStatefulSet
}

func (k nativeStatefulSetKind) clientSpec(sourceObject any) kruiseSpec {
	if c, ok := sourceObject.(*kruise.CloneSet); ok {
		return cloneSetSpec{clientCloneSet(&c.Spec, k.o.Spec.Replicas)}
	}
	out := kruise.StatefulSetSpec{PodManagementPolicy: k.o.Spec.PodManagementPolicy}
	s, advanced := sourceObject.(*kruise.StatefulSet)
	if advanced {
		out = s.Spec
	}
	out.Replicas, out.Ordinals, out.ReserveOrdinals = k.o.Spec.Replicas, nil, nil // Kubernetes reserves none, and its start needs no feature gate
	if n := k.o.Spec.Ordinals; n != nil && n.Start > 0 {
		out.ReserveOrdinals = []intstr.IntOrString{intstr.FromString(fmt.Sprintf("0-%d", n.Start-1))}
	}
	out.UpdateStrategy.Type = appsv1.RollingUpdateStatefulSetStrategyType
	r := copyOrNew(out.UpdateStrategy.RollingUpdate)
	r.Partition, r.Paused = nil, false
	if !advanced && k.o.Spec.MinReadySeconds > 0 {
		r.MinReadySeconds = &k.o.Spec.MinReadySeconds
	}
	out.UpdateStrategy.RollingUpdate = r
	return statefulSetSpec{&out}
}

func (k nativeStatefulSetKind) restartSpec(sourceObject any) kruiseSpec {
	return k.clientSpec(sourceObject)
}

func (k nativeStatefulSetKind) updatedTest(*rollout) func(*cluster.Pod) bool {
	return atRevision(k.o.Status.UpdateRevision)
}

func (k nativeStatefulSetKind) revision(*rollout) string {
	if !rules.Observed(k.o) {
		return ""
	}
	return k.o.Status.UpdateRevision
}

func (k nativeStatefulSetKind) choice(b *comparison, now time.Time, _ bool) rules.Choice {
	set := &rules.NativeStatefulSet{Spec: &k.o.Spec, Update: b.updateRevision(), Pods: b.snap.Pods, Now: now, MaxUnavailable: b.severalAtOnce()}
	return set.ChooseUpdate()
}

func (k nativeStatefulSetKind) stepPending(r *rollout) rules.Pending {
	set := rules.NativeStatefulSet{Spec: &k.o.Spec, Update: k.o.Status.UpdateRevision, Pods: r.snap.Pods, Now: r.now, Answers: r.snap.Answers}
	return rules.NativeStatefulSetPending(k.o, set.Kept())
}

func (k nativeStatefulSetKind) stop(r *rollout) (StopField, string) {
	ordinals := (&rules.NativeStatefulSet{Spec: &k.o.Spec}).Ordinals()
	return stopByPartition(k.o, r.ordinalsBelowUpdated(ordinals, atObservedRevision(k.o, k.o.Status.UpdateRevision)), len(ordinals))
}
