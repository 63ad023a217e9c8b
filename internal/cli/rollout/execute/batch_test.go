package execute

import (
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// TestFinalPartition_IsThatOfTheLastStep: a number stays a number, as a manifest has it; a plan without one leaves none.
func TestFinalPartition_IsThatOfTheLastStep(t *testing.T) {
	ends := func(values ...string) plan.Plan {
		var p plan.Plan
		for _, v := range values {
			s := plan.Step{}
			if v != "" {
				s.After = []plan.Condition{{Type: plan.HoldsPartition, Value: v}}
			}
			p.Steps = append(p.Steps, s)
		}
		return p
	}
	for _, c := range []struct {
		p    plan.Plan
		want any
	}{{ends("5", "3"), int64(3)}, {ends("5", "50%", ""), "50%"}, {ends("5", "0"), int64(0)}, {ends(""), int64(0)}, {ends(), int64(0)}} {
		if got := finalPartition(c.p); got != c.want {
			t.Errorf("%v, want %v", got, c.want)
		}
	}
}
