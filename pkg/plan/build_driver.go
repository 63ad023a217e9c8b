package plan

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// chooseDriver settles who replaces the pods (DESIGN section 1).
func (b *builder) chooseDriver() error {
	fits := b.drivers()
	want := b.policy.Driver
	if want == "" {
		b.plan.Driver = fits[0]
		return nil
	}
	if slices.Contains(fits, want) {
		b.plan.Driver = want
		return nil
	}
	return &tree.Error{Path: "driver", Msg: title(b.present.Ref) + " cannot be rolled out by the driver " + string(want), Hint: driverHint[want]}
}

var driverHint = map[Driver]string{
	DriverKruise: "the driver kruise needs the Kruise object itself in the cluster: use native or client",
	DriverNative: "the driver native needs an object whose own controller replaces pods: use kruise, or client for OnDelete and ReplicaSets",
	DriverClient: "the driver client needs a ReplicaSet, or a StatefulSet or DaemonSet with OnDelete: kubectl kruise render --driver client makes them",
}

// drivers lists who could replace the pods of the object that is there, the
// default first.
func (b *builder) drivers() []Driver {
	if b.present.Group == kruise.Group {
		return []Driver{DriverKruise}
	}
	switch o := b.desired.Object.(type) {
	case *appsv1.ReplicaSet:
		return []Driver{DriverClient, DriverNative}
	case *appsv1.StatefulSet:
		if o.Spec.UpdateStrategy.Type == appsv1.OnDeleteStatefulSetStrategyType {
			return []Driver{DriverClient, DriverNative}
		}
	case *appsv1.DaemonSet:
		if o.Spec.UpdateStrategy.Type == appsv1.OnDeleteDaemonSetStrategyType {
			return []Driver{DriverClient, DriverNative}
		}
	}
	return []Driver{DriverNative}
}
