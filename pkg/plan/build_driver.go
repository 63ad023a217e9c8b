package plan

import (
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// chooseDriver settles who replaces the pods (docs/drivers.md).
func (b *builder) chooseDriver() error {
	fits := kindOf(b.desired.Object).drivers()
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
