package preview

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/planning"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	engine "github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
)

func asked(t *testing.T, args ...string) (*whatIf, error) {
	t.Helper()
	f := &whatIf{}
	c := &cobra.Command{Use: "x", RunE: func(*cobra.Command, []string) error { return nil }}
	f.addWhatIfs(c)
	c.SetArgs(args)
	if err := c.Execute(); err != nil {
		t.Fatal(err)
	}
	return f, f.parse()
}

func web() *planning.Made {
	m := &planning.Made{}
	m.Snapshot.Workload = &cluster.Workload{Template: map[string]any{"metadata": map[string]any{"labels": map[string]any{"app": "web"}}}}
	m.Snapshot.Nodes = map[string]*cluster.Node{"n1": {Name: "n1"}, "more-1": {Name: "more-1"}}
	return m
}

func TestWhatIf(t *testing.T) {
	f, err := asked(t, "--pod-ready", "20s±5s", "--pull", "30s", "--pod-stop", "1m", "--fail-pod", "3,5", "--nodes", "4", "--pub", "20%")
	if err != nil {
		t.Fatal(err)
	}
	m, o := web(), engine.DefaultOptions()
	f.apply(m, &o)
	want := engine.DefaultOptions()
	want.Agent.Ready = engine.Span{Mean: 20 * time.Second, Spread: 5 * time.Second}
	want.Agent.Pull, want.Agent.Stop = engine.Exactly(30*time.Second), engine.Exactly(time.Minute)
	want.Fail, want.GuardUpdates = []int{3, 5}, true
	if diff := cmp.Diff(want.Agent.Ready, o.Agent.Ready) + cmp.Diff(want.Agent.Pull, o.Agent.Pull) + cmp.Diff(want.Agent.Stop, o.Agent.Stop) + cmp.Diff(want.Fail, o.Fail); diff != "" || !o.GuardUpdates {
		t.Error(diff)
	}
	if len(m.Snapshot.Nodes) != 4 || m.Snapshot.Nodes["more-3"] == nil {
		t.Errorf("nodes %v", m.Snapshot.Nodes)
	}
	b := m.Snapshot.Budgets[0]
	if *b.Spec.MaxUnavailable != intstr.FromString("20%") || b.Spec.Selector.MatchLabels["app"] != "web" {
		t.Errorf("budget %+v", b.Spec)
	}
}

// TestWhatIf_NoneKeepsTheDefaultCluster: the usual cluster stays as it is.
func TestWhatIf_NoneKeepsTheDefaultCluster(t *testing.T) {
	f, err := asked(t)
	if err != nil {
		t.Fatal(err)
	}
	m, o := web(), engine.DefaultOptions()
	f.apply(m, &o)
	if o.Agent.Ready != engine.DefaultOptions().Agent.Ready || o.GuardUpdates || len(m.Snapshot.Budgets) != 0 || len(m.Snapshot.Nodes) != 2 {
		t.Errorf("%+v", o)
	}
}

func TestWhatIf_BudgetInPods(t *testing.T) {
	f, err := asked(t, "--pub", "2")
	if err != nil || *f.budget != intstr.FromInt32(2) {
		t.Errorf("%v, %v", f.budget, err)
	}
}

func TestWhatIf_Refuses(t *testing.T) {
	for _, args := range [][]string{
		{"--pod-ready", "soon"},
		{"--pull", "-3s"},
		{"--pod-stop", "1"},
		{"--fail-pod", "0"},
		{"--fail-pod", "-1"},
		{"--nodes", "-1"},
		{"--nodes", "2000000000"},
		{"--pub", "half"},
		{"--pub", "120%"},
		{"--pub", "-1"},
	} {
		var bad *command.UsageError
		if _, err := asked(t, args...); !errors.As(err, &bad) {
			t.Errorf("%q: %v", args, err)
		}
	}
}

func TestOutcomeError_FollowsTheOutcome(t *testing.T) {
	for outcome, fails := range map[engine.Outcome]bool{engine.Completed: false, engine.Waiting: false, engine.Failed: true, engine.Blocked: true} {
		if err := outcomeOf(&plan.Plan{}, engine.Summary{Outcome: outcome}); (err != nil) != fails {
			t.Errorf("%s: %v", outcome, err)
		}
	}
}
