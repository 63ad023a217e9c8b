package simulate

import (
	"strings"
	"testing"

	policyv1 "k8s.io/api/policy/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// TestApplied_WaitsBetweenPods: a pod that has to be ready for a while before the next one is not the
// last one; the new object says for how long.
func TestApplied_WaitsBetweenPods(t *testing.T) {
	old := strings.ReplaceAll(cloneSet, "replicas: 4", "replicas: 6")
	next := strings.ReplaceAll(strings.ReplaceAll(old, "web:1", "web:2"), "spec:\n  replicas", "spec:\n  minReadySeconds: 1800\n  replicas")
	if next == strings.ReplaceAll(old, "web:1", "web:2") {
		t.Fatal("the manifest has no minReadySeconds")
	}
	read := func(text string) *cluster.Workload {
		w, err := cluster.ReadWorkload(documents(t, text)[0])
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	line, err := Applied(read(next), plan.Snapshot{Workload: read(old), Gates: cluster.DefaultGates()})
	if err != nil || len(line.Touches) != 6 || line.Present != 6 {
		t.Errorf("%d of %d pods change: %v", len(line.Touches), line.Present, err)
	}
}

// TestFromSnapshot_TakesBudgetsOfOneName: pods of a SidecarSet are in many namespaces, and so are budgets of
// one name.
func TestFromSnapshot_TakesBudgetsOfOneName(t *testing.T) {
	w, err := cluster.ReadWorkload(documents(t, cloneSet)[0])
	if err != nil {
		t.Fatal(err)
	}
	s := plan.Snapshot{Workload: w, Gates: cluster.DefaultGates()}
	for range 2 {
		s.Budgets = append(s.Budgets, &rules.Budget{Name: "pace", Spec: &kruise.PodUnavailableBudgetSpec{}})
		s.Disruptions = append(s.Disruptions, &rules.DisruptionBudget{Name: "pace", Spec: &policyv1.PodDisruptionBudgetSpec{}})
	}
	if _, err := FromSnapshot(s, DefaultOptions()); err != nil {
		t.Error(err)
	}
}
