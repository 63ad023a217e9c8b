package simulate

import (
	"errors"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// TestBuild_NamesThePodsOfItsRun: for random changes, the pods in the steps of a plan are those that were
// there and that its run changed, each once, and the numbers of the run count them.
func TestBuild_NamesThePodsOfItsRun(t *testing.T) {
	total := 0
	for number := range uint64(200) {
		c, err := newChange(number)
		if err != nil {
			t.Fatal(number, err)
		}
		w, err := c.begin()
		if err != nil {
			continue // as TestRollout_KeepsWhatApplyingKeeps counts
		}
		s, err := w.Snapshot(c.ref)
		if err != nil {
			t.Fatal(number, err)
		}
		desired, err := cluster.ReadWorkload(tree.FromValue(c.new))
		if err != nil {
			continue
		}
		p, line, err := Build(desired, s, plan.Policy{}, c.opt)
		if _, unfinished := errors.AsType[*UnfinishedError](err); err != nil && !unfinished {
			continue
		}
		total++
		if fault := namesItsRun(&p, line, s); fault != "" {
			t.Errorf("pair %d: %s\n%s", number, fault, c)
		}
	}
	if total < 150 {
		t.Errorf("only %d plans", total)
	}
}

func namesItsRun(p *plan.Plan, line Timeline, s plan.Snapshot) string {
	present, named := map[string]bool{}, map[string]bool{}
	for _, pod := range s.Pods {
		present[pod.UID] = true
	}
	count := map[rules.UpdateMode]int{}
	for _, step := range p.Steps {
		for _, pod := range step.Pods {
			switch {
			case named[pod.UID]:
				return pod.Name + " is in two steps"
			case !present[pod.UID]:
				return pod.Name + " was not there"
			}
			named[pod.UID] = true
			count[pod.Mode]++
		}
	}
	if sum := line.Summary; count[rules.ModeRecreate] != sum.Recreated || count[rules.ModeDelete] != sum.Deleted {
		return "the steps and the numbers of the run differ in how many pods are recreated or deleted"
	}
	for _, r := range line.Records {
		if r.Op == OpDelete && present[r.UID] && !named[r.UID] {
			return r.Pod + " is deleted, and in no step"
		}
	}
	return ""
}
