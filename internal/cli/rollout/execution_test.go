package rollout

import (
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// TestLeftBy_NamesWhatAPartitionKeeps: a last step below 100 % says which pods keep an earlier template.
func TestLeftBy_NamesWhatAPartitionKeeps(t *testing.T) {
	step := func(updated, kept int, partition string) plan.Step {
		return plan.Step{Updated: updated, Kept: kept, After: []plan.Condition{{Type: plan.HoldsPartition, Value: partition}}}
	}
	for name, c := range map[string]struct {
		steps []plan.Step
		want  string
	}{
		"below":         {[]plan.Step{step(1, 3, "3"), step(2, 2, "2"), {Kind: plan.StepVerify}}, "partition 2 keeps 2 of 4 pods at an earlier template, and later changes do not reach them"},
		"all":           {[]plan.Step{step(1, 3, "3"), step(4, 0, "0")}, ""},
		"own partition": {[]plan.Step{step(4, 0, "0"), step(4, 0, "2")}, ""},
		"no partition":  {[]plan.Step{{Updated: 4}}, ""},
		"no steps":      {nil, ""},
	} {
		if got := leftBy(plan.Plan{Steps: c.steps}); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
