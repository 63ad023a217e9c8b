package planning

import (
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/clusterread"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// RestartMaker makes plans.
type RestartMaker struct {
	Factory *factory.Factory
	// What is restarted; without a method there, what the cluster can do is chosen.
	What   plan.RestartRequest
	Policy plan.Policy
}

// Plan makes the plan, and refuses one that cannot finish. A pod by itself has no
// workload whose limits could keep it from finishing.
func (m *RestartMaker) Plan(s plan.Snapshot) (plan.Plan, error) {
	p, err := m.build(s)
	if err != nil || len(p.Steps) == 0 || p.Target.Kind == "Pod" {
		return p, err
	}
	assumed := simulate.DefaultOptions()
	assumed.Gates, assumed.Start = s.Gates, time.Now()
	assumed.RecoverAll = true // what is not ready is what is restarted
	if err := simulate.Check(p, s, assumed); err != nil {
		return p, &resource.Error{Err: err, Hint: fmt.Sprintf("wait until its pods are ready and its budgets have room, or name pods that can restart; 'kubectl kruise why %s' reports what blocks them", p.Target.Ref())}
	}
	return p, nil
}

// build makes the plan with a method that the cluster can do.
func (m *RestartMaker) build(s plan.Snapshot) (plan.Plan, error) {
	what := m.What
	p, err := plan.BuildRestart(s, what, m.Policy)
	if err != nil || len(p.Steps) == 0 || what.Method != "" {
		return p, err
	}
	served, err := m.served()
	if err != nil {
		return p, err
	}
	chosen := slices.DeleteFunc(slices.Clone(s.Pods), func(p *cluster.Pod) bool { return len(what.Pods) > 0 && !slices.Contains(what.Pods, p.Name) })
	var why string
	if what.Method, why = plan.RestartMethod(served, chosen, p.Change.Restarts); what.Method != plan.RestartCRR && (what.Ordered || what.Unready != 0) {
		return p, command.Usagef("leave them out", "--ordered and --unready need Kruise, and %s", why)
	}
	if _, err := fmt.Fprintf(m.Factory.Streams.Err, "method %s: %s\n", what.Method, why); err != nil {
		return p, err
	}
	return plan.BuildRestart(s, what, m.Policy)
}

// served reports whether the cluster has ContainerRecreateRequests.
func (m *RestartMaker) served() (bool, error) {
	d, err := m.Factory.Discovery()
	if err != nil {
		return false, err
	}
	version, err := clusterread.ServedVersion(d, "containerrecreaterequests")
	return version != "", err
}
