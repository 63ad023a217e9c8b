package session

import (
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

func TestLimitsText_CountsOne(t *testing.T) {
	for want, l := range map[string]plan.Bounds{
		"1 rollout at a time, 1 unavailable pod, 1 failure":                            {Parallel: 1, MaxUnavailable: 1, MaxFailures: 1},
		"3 rollouts at a time, 4 unavailable pods, 2 failures":                         {Parallel: 3, MaxUnavailable: 4, MaxFailures: 2},
		"any number of rollouts at a time, any number of unavailable pods, 0 failures": {},
	} {
		if got := limitsText(l); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
