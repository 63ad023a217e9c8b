package plan

import (
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// Build returns the plan that brings a workload to its desired state. desired is complete,
// defaults included, and of the kind of the snapshot's carrier where there is one: fields that it
// lacks are removed, so a caller that reads a manifest without replicas fills in those of the
// cluster first. If nothing changes the plan has no steps, and Change.Why has the reason.
//
// The pods that steps name are those that the controllers would choose if nothing
// else happened; how many pods each step updates holds in any case.
func Build(desired *cluster.Workload, s Snapshot, policy Policy) (Plan, error) {
	return newBuilder(desired, s.Object(), s, policy).build(nil)
}

func (b *builder) build(run func(Plan) []Touch) (Plan, error) {
	b.hasRun = run != nil
	if err := b.check(); err != nil {
		return Plan{}, err
	}
	// What an ended rollout has left in the cluster to stop the controller, this one lifts.
	if stop := b.snap.Progress.Stop; stop.Check() == nil && stop.reverted(b.present) != b.present {
		b.desired = stop.reverted(b.desired)
	}
	if err := b.chooseDriver(); err != nil {
		return Plan{}, err
	}
	if err := b.compare(); err != nil {
		return Plan{}, err
	}
	if err := b.addSteps(); err != nil {
		return Plan{}, err
	}
	if b.hasRun && len(b.plan.Steps) > 0 {
		touches := run(b.plan)
		if set := b.subject.scaleDown; set != nil && slices.ContainsFunc(touches, func(t Touch) bool { return t.Surplus }) {
			ties := set.ScaleDownTies()
			for i := range touches {
				if t := &touches[i]; t.Surplus && ties[t.UID] > 0 {
					t.Tie = len(b.snap.Pods) + ties[t.UID] // beside the sets of the update order
				}
			}
		}
		b.plan = b.plan.WithTouches(touches)
	}
	(&reviewer{b}).warn()
	return b.plan, nil
}

// builder makes the steps of a plan.
type builder struct{ staging }

func newBuilder(desired, present *cluster.Workload, s Snapshot, policy Policy) *builder {
	return &builder{staging{comparison: comparison{desired: desired, present: present, snap: s, policy: policy}}}
}

// chooseDriver chooses who replaces the pods (docs/drivers.md).
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
	DriverClient: "the driver client needs a ReplicaSet, or a StatefulSet or DaemonSet with OnDelete: 'kubectl kruise render --driver client' makes them",
}
