package plan

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

type nativeDaemonSetKind struct {
	native
	settled
	templated
	o *appsv1.DaemonSet
}

func (kinds) NativeDaemonSet(o *appsv1.DaemonSet) kind {
	return nativeDaemonSetKind{templated: templated{o}, o: o}
}

func (k nativeDaemonSetKind) drivers() []Driver {
	if k.o.Spec.UpdateStrategy.Type == appsv1.OnDeleteDaemonSetStrategyType {
		return []Driver{DriverClient, DriverNative}
	}
	return []Driver{DriverNative}
}

func (k nativeDaemonSetKind) subject(b *builder) subject { return b.nativeDaemonSet(k.o) }

func (k nativeDaemonSetKind) source(kruised any) kruiseSpec {
	out := *rules.AsDaemonSetSpec(&k.o.Spec)
	if d, ok := kruised.(*kruise.DaemonSet); ok {
		out = d.Spec
	}
	out.UpdateStrategy.Type = appsv1.RollingUpdateDaemonSetStrategyType
	r := copied(out.UpdateStrategy.RollingUpdate)
	r.Partition, r.Paused, r.MaxSurge = nil, nil, nil
	out.UpdateStrategy.RollingUpdate = r
	return daemonSetSpec{&out}
}

func (k nativeDaemonSetKind) restarted(kruised any) kruiseSpec { return k.source(kruised) }

func (nativeDaemonSetKind) carries(b *builder, p *cluster.Pod) bool {
	return rules.AtRevision(p, b.updateRevision())
}

func (nativeDaemonSetKind) carrying(r *run) func(*cluster.Pod) bool { return atRevision(r.named()) }

func (k nativeDaemonSetKind) revision(r *run) string {
	if !rules.Observed(k.o) {
		return ""
	}
	return cluster.Hash(revisionNamed(r.snap.Revisions, r.object().Template))
}

func (k nativeDaemonSetKind) choice(b *builder, now time.Time, _ bool) rules.Choice {
	return b.daemonChoice(rules.AsDaemonSetSpec(&k.o.Spec), now)
}

func (k nativeDaemonSetKind) stepPending(*run) rules.Pending {
	return rules.NativeDaemonSetPending(k.o)
}

func (nativeDaemonSetKind) stop(*run) (StopField, string) { return StopStrategy, onDelete }
