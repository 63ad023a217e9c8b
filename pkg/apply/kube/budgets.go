package kube

import (
	"errors"

	policyv1 "k8s.io/api/policy/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/controller"
)

// watchBudgets watches the budgets of both kinds in the workload's namespace, in all
// of them for a SidecarSet: nobody else asks them about what this client does to pods
// and containers, but for evictions.
func (c *Cluster) watchBudgets(w *cluster.Workload, _ string) (err error) {
	s := typed("PodDisruptionBudgets", &policyv1.PodDisruptionBudget{}, c.core.PolicyV1().PodDisruptionBudgets(w.Namespace), "").in(w.Namespace)
	if c.disruptions, err = keep(c, s, itself[*policyv1.PodDisruptionBudget]); err != nil {
		return err
	}
	m, err := kruised[kruise.PodUnavailableBudget](c, kruise.PolicyGroup, "podunavailablebudgets", w.Namespace, "").get()
	switch {
	case err == nil:
		c.budgets = m
	case c.ctx.Err() != nil:
		return err
	case !errors.Is(err, errNotServed):
		c.warn("%v: the rollout continues without", err)
	}
	return nil
}

// fillBudgets adds the budgets that cover pods of the workload.
func (c *Cluster) fillBudgets(s *plan.Snapshot, w *cluster.Workload) error {
	owners, err := c.owners(w)
	if err != nil {
		return err
	}
	g := &controller.Guards{Now: c.Now(), Pods: s.Pods, Reports: s.Reports, Workloads: controller.OwnedBy(w, owners)}
	if c.disruptions != nil {
		if g.Disruption, err = c.disruptions.all(); err != nil {
			return err
		}
	}
	if c.budgets != nil {
		if g.Unavailable, err = c.budgets.all(); err != nil {
			return err
		}
	}
	s.Budgets, s.Disruptions, err = g.Rules()
	return err
}
