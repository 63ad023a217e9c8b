package rules

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

func disruptionBudget(t *testing.T, spec string, expected int, words string) *DisruptionBudget {
	t.Helper()
	b := &DisruptionBudget{Name: "b", Spec: &policyv1.PodDisruptionBudgetSpec{}, Expected: expected, Pods: pods(t, words)}
	decode(t, spec, b.Spec)
	return b
}

func TestDisruptionBudgetCounts(t *testing.T) {
	for _, c := range []struct {
		name, spec string
		expected   int
		pods       string
		want       BudgetCounts
	}{
		{"maxUnavailable", "maxUnavailable: 1", 3, "3*n", BudgetCounts{3, 2, 3, 1}},
		{"a percentage is rounded up", "maxUnavailable: 25%", 10, "9*n n!", BudgetCounts{10, 7, 9, 2}},
		{"minAvailable counts the pods that are there", "minAvailable: 2", 5, "3*n", BudgetCounts{3, 2, 3, 1}},
		{"minAvailable as a percentage", "minAvailable: 50%", 5, "5*n", BudgetCounts{5, 3, 5, 2}},
		{"broken", "maxUnavailable: 1", 3, "n n! n^", BudgetCounts{3, 2, 1, 0}},
		{"no pods", "minAvailable: 0", 0, "", BudgetCounts{0, 0, 0, 0}},
	} {
		if diff := cmp.Diff(c.want, disruptionBudget(t, c.spec, c.expected, c.pods).Counts()); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
	b := disruptionBudget(t, "maxUnavailable: 1", 3, "3*n")
	b.Disrupted = []string{"p3"}
	if got := b.Counts().Allowed; got != 0 {
		t.Errorf("one on record: %d allowed", got)
	}
}

func TestEvict(t *testing.T) {
	for _, c := range []struct {
		name, spec, pods string
		edit             func(*cluster.Pod)
		allowed, record  bool
		why              string
	}{
		{"allowed and noted", "maxUnavailable: 1", "3*n", nil, true, true, "allows 0 more"},
		{"used up", "maxUnavailable: 1", "2*n n!", nil, false, false, "p1 waits"},
		{"pending", "maxUnavailable: 0", "n! 2*n", func(p *cluster.Pod) { p.Phase = corev1.PodPending }, true, false, "does not run"},
		{"terminating", "maxUnavailable: 0", "n^ 2*n", nil, true, false, "does not run"},
		{"not ready, budget met", "maxUnavailable: 1", "n! 2*n", nil, true, false, "met without it"},
		{"not ready, budget not met", "maxUnavailable: 1", "2*n! n", nil, false, false, "p1 waits"},
		{"not ready, AlwaysAllow", "maxUnavailable: 1\nunhealthyPodEvictionPolicy: AlwaysAllow", "2*n! n", nil, true, false, "lets such pods go"},
		{"ready under AlwaysAllow", "maxUnavailable: 1\nunhealthyPodEvictionPolicy: AlwaysAllow", "n 2*n!", nil, false, false, "p1 waits"},
	} {
		b := disruptionBudget(t, c.spec, 3, c.pods)
		if c.edit != nil {
			c.edit(b.Pods[0])
		}
		if got := b.Evict(b.Pods[0]); got.Allowed != c.allowed || got.Record != c.record || !strings.Contains(got.Why, c.why) {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}
