package controller

import (
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// Rules returns the budget with the pods that it covers, as it stands.
func (v *BudgetView) Rules() *rules.Budget {
	var b *rules.Budget
	if t := v.Tally; t != nil && t.Covered == len(v.Pods) {
		b = v.budget(slices.Clone(v.Pods), t.expected(v), &v.Budget.Status)
		b.Steadies = new(t.current(b))
	} else {
		covered, expected := v.covered()
		b = v.budget(covered, expected, &v.Budget.Status)
	}
	slices.Sort(b.Disrupted)
	slices.Sort(b.Unavailable)
	return b
}

// Rules returns the budget with the pods that it covers, as it stands.
func (v *EvictionView) Rules() *rules.DisruptionBudget {
	return v.budget(v.covered(), &v.Budget.Status)
}
