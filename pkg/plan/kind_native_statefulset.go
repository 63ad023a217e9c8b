package plan

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

type nativeStatefulSetKind struct {
	native
	settled
	templated
	o *appsv1.StatefulSet
}

func (kinds) NativeStatefulSet(o *appsv1.StatefulSet) kind {
	return nativeStatefulSetKind{templated: templated{o}, o: o}
}

func (k nativeStatefulSetKind) drivers() []Driver {
	if k.o.Spec.UpdateStrategy.Type == appsv1.OnDeleteStatefulSetStrategyType {
		return []Driver{DriverClient, DriverNative}
	}
	return []Driver{DriverNative}
}

func (k nativeStatefulSetKind) subject(b *builder) subject { return b.nativeStatefulSet(&k.o.Spec) }

func (k nativeStatefulSetKind) source(kruised any) kruiseSpec {
	if c, ok := kruised.(*kruise.CloneSet); ok {
		return cloneSetSpec{cloneSource(&c.Spec, k.o.Spec.Replicas)}
	}
	out := kruise.StatefulSetSpec{PodManagementPolicy: k.o.Spec.PodManagementPolicy}
	s, advanced := kruised.(*kruise.StatefulSet)
	if advanced {
		out = s.Spec
	}
	out.Replicas = k.o.Spec.Replicas
	out.UpdateStrategy.Type = appsv1.RollingUpdateStatefulSetStrategyType
	r := copied(out.UpdateStrategy.RollingUpdate)
	r.Partition, r.Paused = nil, false
	if !advanced && k.o.Spec.MinReadySeconds > 0 {
		r.MinReadySeconds = &k.o.Spec.MinReadySeconds
	}
	out.UpdateStrategy.RollingUpdate = r
	return statefulSetSpec{&out}
}

func (k nativeStatefulSetKind) restarted(kruised any) kruiseSpec { return k.source(kruised) }

func (nativeStatefulSetKind) carries(b *builder, p *cluster.Pod) bool {
	return rules.AtRevision(p, b.updateRevision())
}

func (k nativeStatefulSetKind) carrying(*run) func(*cluster.Pod) bool {
	return atRevision(k.o.Status.UpdateRevision)
}

func (k nativeStatefulSetKind) revision(*run) string {
	if !rules.Observed(k.o) {
		return ""
	}
	return k.o.Status.UpdateRevision
}

func (k nativeStatefulSetKind) choice(b *builder, now time.Time, _ bool) rules.Choice {
	set := &rules.NativeStatefulSet{Spec: &k.o.Spec, Update: b.updateRevision(), Pods: b.snap.Pods, Now: now, MaxUnavailable: b.severalAtOnce()}
	return set.ChooseUpdate()
}

func (k nativeStatefulSetKind) stepPending(r *run) rules.Pending {
	set := rules.NativeStatefulSet{Spec: &k.o.Spec, Update: k.o.Status.UpdateRevision, Pods: r.snap.Pods}
	return rules.NativeStatefulSetPending(k.o, set.Kept())
}

func (k nativeStatefulSetKind) stop(r *run) (StopField, string) {
	ordinals := (&rules.NativeStatefulSet{Spec: &k.o.Spec}).Ordinals()
	return stopAt(k.o, r.keptBelow(ordinals, atObserved(k.o, k.o.Status.UpdateRevision)), len(ordinals))
}
