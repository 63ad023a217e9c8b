package diagnose

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/spread"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// Hand is somebody else who moves a workload's partition: a Kruise Rollout, or the
// UnitedDeployment that it is a subset of.
type Hand struct {
	// Name is what people call it: Kruise Rollout web.
	Name string
	// Stands says where it is.
	Stands string
	// Waits is true where a person has to act; Next is the command.
	Waits bool
	Next  string
}

// hand says who else drives the workload, where pods wait for that.
func (a *answer) hand() {
	if h := a.q.Hand; h != nil && (h.Waits || a.outlook != nil && len(a.outdated()) > 0) {
		a.add(plan.GateOwner, "run by "+h.Name+": "+h.Stands, h.Waits)
	}
}

// handed reports whether a rollout has halted for no more than that.
func (a *answer) handed(d plan.Decision) bool {
	return a.q.Hand != nil && !a.q.Begun && d.Verb == plan.Halt && len(d.Blockers) > 0 && d.Blockers[0].Gate == plan.GateOwner
}

// placed says where a WorkloadSpread wants a pod that no node takes.
func placed(p *cluster.Pod) string {
	m, ok := spread.ReadMatch(p.Annotations)
	if !ok || p.Node != "" || m.Spread == "" {
		return ""
	}
	return "; WorkloadSpread " + m.Spread + " placed it into subset " + m.Subset + ": it can only use nodes of that subset"
}
