package rules

import (
	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// AsDaemonSetSpec reads a DaemonSet of Kubernetes as an Advanced DaemonSet
// without partition, selector and pause: its controller goes by the same rules,
// so [DaemonSet.ChooseUpdate] and [DaemonSet.Manage] answer for it.
func AsDaemonSetSpec(native *appsv1.DaemonSetSpec) *kruise.DaemonSetSpec {
	out := &kruise.DaemonSetSpec{
		Selector: native.Selector, Template: native.Template, MinReadySeconds: native.MinReadySeconds,
		RevisionHistoryLimit: native.RevisionHistoryLimit,
		UpdateStrategy:       kruise.DaemonSetUpdateStrategy{Type: native.UpdateStrategy.Type},
	}
	if r := native.UpdateStrategy.RollingUpdate; r != nil {
		out.UpdateStrategy.RollingUpdate = &kruise.RollingUpdateDaemonSet{MaxUnavailable: r.MaxUnavailable, MaxSurge: r.MaxSurge}
	}
	return out
}

// NativeDaemonSetPending says what a rollout waits for, as kubectl rollout
// status does.
func NativeDaemonSetPending(d *appsv1.DaemonSet) Pending {
	s := d.Status
	var p Pending
	p.seen(s.ObservedGeneration, d.Generation)
	p.atLeast("updatedNumberScheduled", s.UpdatedNumberScheduled, s.DesiredNumberScheduled)
	p.atLeast("numberAvailable", s.NumberAvailable, s.DesiredNumberScheduled)
	return p
}
