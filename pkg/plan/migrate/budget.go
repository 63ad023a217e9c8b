package migrate

import (
	"fmt"

	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Budget is a PodDisruptionBudget over pods of the source.
type Budget struct {
	Name string
	Spec policyv1.PodDisruptionBudgetSpec
	// Expected and Healthy are of its status.
	Expected, Healthy int32
	// Stale says that its status is of an older spec.
	Stale bool
}

// allows is how many pods may go now, of at most want. Deletions by controllers pass
// budgets by: it is for whoever makes them do it to ask. lasting says that they go for
// good, so that fewer are expected afterwards; otherwise they come back elsewhere.
func (b Budget) allows(want int32, lasting bool) (n int32, why string) {
	if b.Stale {
		return 0, "budget " + b.Name + " is not up to date"
	}
	for n = want; n > 0; n-- {
		expected := b.Expected
		if lasting {
			expected -= n
		}
		if b.Healthy-n >= b.desired(expected) {
			break
		}
	}
	if n == want {
		return n, ""
	}
	return n, fmt.Sprintf("budget %s: %d pods are healthy, %d are wanted", b.Name, b.Healthy, b.desired(b.Expected))
}

// desired is how many healthy pods the budget wants of so many; percentages are
// rounded up, as Kubernetes does.
func (b Budget) desired(expected int32) int32 {
	scaled := func(v *intstr.IntOrString) int32 {
		n, err := intstr.GetScaledValueFromIntOrPercent(v, int(expected), true)
		if err != nil {
			return 0
		}
		return int32(n)
	}
	switch {
	case b.Spec.MaxUnavailable != nil:
		return max(0, expected-scaled(b.Spec.MaxUnavailable))
	case b.Spec.MinAvailable != nil:
		return scaled(b.Spec.MinAvailable)
	}
	return 0
}

// allowed is what all budgets allow.
func allowed(budgets []Budget, want int32, lasting bool) (n int32, why string) {
	n = want
	for _, b := range budgets {
		if got, said := b.allows(n, lasting); got < n {
			n, why = got, said
		}
	}
	return n, why
}
