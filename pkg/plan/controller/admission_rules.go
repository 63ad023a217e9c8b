package controller

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// Rules returns the budget with the pods that it covers, as it stands.
func (v *BudgetView) Rules() *rules.Budget {
	covered, expected := v.covered()
	return v.budget(covered, expected, &v.Budget.Status)
}

// Rules returns the budget with the pods that it covers, as it stands.
func (v *EvictionView) Rules() *rules.DisruptionBudget {
	return v.budget(v.covered(), &v.Budget.Status)
}
