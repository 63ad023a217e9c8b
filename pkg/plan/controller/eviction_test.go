package controller

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// evictions is a PodDisruptionBudget with its status up to date.
func evictions(spec policyv1.PodDisruptionBudgetSpec, pods []*cluster.Pod, of Workloads) *EvictionView {
	spec.Selector = selectWeb
	v := &EvictionView{Now: labStart, Pods: pods, Workloads: of, Budget: &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-pdb", Generation: 2}, Spec: spec,
	}}
	v.count()
	return v
}

func (v *EvictionView) count() time.Duration {
	status, again := ReconcileEvictions(v)
	if status != nil {
		v.Budget = v.Budget.DeepCopy()
		v.Budget.Status = *status
	}
	return again
}

func (v *EvictionView) ask(p *cluster.Pod) bool {
	verdict, permit := v.Evict(p)
	if permit != nil {
		permit.RecordEviction(&v.Budget.Status)
	}
	return verdict.Allowed
}

func TestReconcileEvictions(t *testing.T) {
	one, half := intstr.FromInt32(1), intstr.FromString("50%")
	for _, c := range []struct {
		name                               string
		spec                               policyv1.PodDisruptionBudgetSpec
		of                                 Workloads
		expected, desired, healthy, allows int32
	}{
		{"maxUnavailable", policyv1.PodDisruptionBudgetSpec{MaxUnavailable: &one}, cloneSetOf(4), 4, 3, 4, 1},
		{"half", policyv1.PodDisruptionBudgetSpec{MinAvailable: &half}, cloneSetOf(4), 4, 2, 4, 2},
		{"a number is of what is there", policyv1.PodDisruptionBudgetSpec{MinAvailable: &one}, cloneSetOf(9), 4, 1, 4, 3},
		{"no owner that counts", policyv1.PodDisruptionBudgetSpec{MaxUnavailable: &one}, daemonSetOf, 0, 0, 4, 0},
		{"no owner known", policyv1.PodDisruptionBudgetSpec{MaxUnavailable: &one}, nil, 0, 0, 4, 0},
	} {
		s := evictions(c.spec, webPods(4), c.of).Budget.Status
		want := policyv1.PodDisruptionBudgetStatus{
			ObservedGeneration: 2, ExpectedPods: c.expected, DesiredHealthy: c.desired, CurrentHealthy: c.healthy, DisruptionsAllowed: c.allows,
		}
		if diff := cmp.Diff(want, s); diff != "" {
			t.Errorf("%s: -want +got:\n%s", c.name, diff)
		}
	}
}

func TestEviction_Permits(t *testing.T) {
	one := intstr.FromInt32(1)
	pods := webPods(4)
	v := evictions(policyv1.PodDisruptionBudgetSpec{MaxUnavailable: &one}, pods, cloneSetOf(4))
	if !v.ask(pods[0]) || v.ask(pods[1]) {
		t.Error("not one permit")
	}
	// The pod does not go: its permit lasts two minutes.
	v.Now = labStart.Add(time.Minute)
	if again := v.count(); again != time.Minute || v.ask(pods[1]) {
		t.Errorf("again %v", again)
	}
	v.Now = labStart.Add(2 * time.Minute)
	if again := v.count(); again != 0 || !v.ask(pods[1]) {
		t.Errorf("again %v, %+v", again, v.Budget.Status)
	}
	// The pod goes: its record does, too.
	gone := *pods[1]
	gone.Deleting = true
	v.Pods = []*cluster.Pod{pods[0], &gone, pods[2], pods[3]}
	if again := v.count(); again != 0 || len(v.Budget.Status.DisruptedPods) != 0 || v.Budget.Status.CurrentHealthy != 3 {
		t.Errorf("again %v, %+v", again, v.Budget.Status)
	}
}

// pdb is a PodDisruptionBudget for the pods of web; strategy is the spec that it was
// rendered from, "" for one that a user wrote.
func pdb(name, strategy string) *policyv1.PodDisruptionBudget {
	b := &policyv1.PodDisruptionBudget{Spec: policyv1.PodDisruptionBudgetSpec{Selector: selectWeb, MaxUnavailable: new(intstr.FromInt32(1))}}
	b.Namespace, b.Name, b.Generation = "shop", name, 1
	if strategy != "" {
		b.Labels = map[string]string{kruise.SourceLabel: kruise.SourceValue("PodUnavailableBudget", name)}
		b.Annotations = map[string]string{kruise.StrategyAnnotation: strategy}
	}
	return b
}

// replicaSetWeb is the native form of CloneSet web.
func replicaSetWeb(replicas int32) *cluster.Workload {
	return &cluster.Workload{
		Ref:    cluster.Ref{Group: "apps", Kind: "ReplicaSet", Namespace: "shop", Name: "web"},
		Labels: map[string]string{kruise.SourceLabel: kruise.SourceValue("CloneSet", "web")},
		Object: &appsv1.ReplicaSet{Spec: appsv1.ReplicaSetSpec{Replicas: &replicas}},
	}
}

func statusCounted(total, current int32) kruise.PodUnavailableBudgetStatus {
	return kruise.PodUnavailableBudgetStatus{ObservedGeneration: 1, TotalReplicas: total, CurrentAvailable: current}
}

// TestGuards: what a budget allows in the eyes of a caller that sees five pods of one
// workload.
func TestGuards(t *testing.T) {
	status := func(b *kruise.PodUnavailableBudget, s kruise.PodUnavailableBudgetStatus) *kruise.PodUnavailableBudget {
		b.Status = s
		return b
	}
	const target = `{"maxUnavailable": 2, "targetRef": {"apiVersion": "apps.kruise.io/v1beta1", "kind": "CloneSet", "name": "web"}}`
	rendered := func(strategy string, expected, healthy int32) *policyv1.PodDisruptionBudget {
		b := pdb("web", strategy)
		b.Status = policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 1, ExpectedPods: expected, CurrentHealthy: healthy}
		return b
	}
	for name, c := range map[string]struct {
		guards Guards
		want   map[string]rules.BudgetCounts
	}{
		"Kruise's":                 {Guards{Unavailable: []*kruise.PodUnavailableBudget{pub("web", maxUnavailable("2"))}}, map[string]rules.BudgetCounts{"web": {Expected: 5, Desired: 3, Current: 5, Allowed: 2}}},
		"of other pods":            {Guards{Unavailable: []*kruise.PodUnavailableBudget{pub("api", kruise.PodUnavailableBudgetSpec{TargetReference: &kruise.TargetReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "api"}})}}, nil},
		"reaching further":         {Guards{Unavailable: []*kruise.PodUnavailableBudget{status(pub("web", minAvailable("11")), statusCounted(12, 12))}}, map[string]rules.BudgetCounts{"web": {Expected: 12, Desired: 11, Current: 12, Allowed: 1}}},
		"others are down":          {Guards{Unavailable: []*kruise.PodUnavailableBudget{status(pub("web", maxUnavailable("2")), statusCounted(12, 10))}}, map[string]rules.BudgetCounts{"web": {Expected: 12, Desired: 10, Current: 10, Allowed: 0}}},
		"not counted yet":          {Guards{Unavailable: []*kruise.PodUnavailableBudget{status(pub("web", maxUnavailable("1")), kruise.PodUnavailableBudgetStatus{TotalReplicas: 99, CurrentAvailable: 99})}}, map[string]rules.BudgetCounts{"web": {Expected: 5, Desired: 4, Current: 5, Allowed: 1}}},
		"rendered, by selector":    {Guards{Disruption: []*policyv1.PodDisruptionBudget{rendered(`{"maxUnavailable": "40%", "selector": {"matchLabels": {"app": "web"}}}`, 10, 9)}}, map[string]rules.BudgetCounts{"web": {Expected: 10, Desired: 6, Current: 9, Allowed: 3}, "pdb web": {Expected: 10, Desired: 9, Current: 9, Allowed: 0}}},
		"rendered, by target":      {Guards{Disruption: []*policyv1.PodDisruptionBudget{rendered(target, 10, 10)}}, map[string]rules.BudgetCounts{"web": {Expected: 5, Desired: 3, Current: 5, Allowed: 2}, "pdb web": {Expected: 10, Desired: 9, Current: 10, Allowed: 1}}},
		"rendered, beside its own": {Guards{Unavailable: []*kruise.PodUnavailableBudget{pub("web", maxUnavailable("2"))}, Disruption: []*policyv1.PodDisruptionBudget{pdb("web", `{"maxUnavailable": 5, "selector": {"matchLabels": {"app": "web"}}}`)}}, map[string]rules.BudgetCounts{"web": {Expected: 5, Desired: 3, Current: 5, Allowed: 2}, "pdb web": {Expected: 5, Desired: 4, Current: 5, Allowed: 1}}},
		"somebody's own":           {Guards{Disruption: []*policyv1.PodDisruptionBudget{pdb("web", "")}}, map[string]rules.BudgetCounts{"pdb web": {Expected: 5, Desired: 4, Current: 5, Allowed: 1}}},
	} {
		t.Run(name, func(t *testing.T) {
			c.guards.Now, c.guards.Pods = labStart, webPods(5)
			c.guards.Workloads = OwnedBy(replicaSetWeb(5), map[string]bool{"w": true})
			budgets, disruptions, err := c.guards.Rules()
			if err != nil {
				t.Fatal(err)
			}
			var got map[string]rules.BudgetCounts
			put := func(name string, n rules.BudgetCounts) {
				if got == nil {
					got = map[string]rules.BudgetCounts{}
				}
				got[name] = n
			}
			for _, b := range budgets {
				put(b.Name, b.Counts())
				if want := strings.HasPrefix(name, "rendered, by"); b.Rendered != want {
					t.Errorf("%s was rendered: %t", b.Name, b.Rendered)
				}
			}
			for _, b := range disruptions {
				put("pdb "+b.Name, b.Counts())
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestGuards_OldStatusStaysWithinTheBudget: a status that is older than the observed pods allows
// no disruption beyond the budget.
func TestGuards_OldStatusStaysWithinTheBudget(t *testing.T) {
	pods := webPods(5)
	pods[0].Conditions[0].Status = "False"
	b := pub("web", maxUnavailable("1"))
	b.Status = statusCounted(12, 12) // from before the first pod went down
	g := Guards{Now: labStart, Unavailable: []*kruise.PodUnavailableBudget{b}, Pods: pods, Workloads: OwnedBy(replicaSetWeb(5), map[string]bool{"w": true})}
	budgets, _, err := g.Rules()
	if err != nil || len(budgets) != 1 || budgets[0].Counts().Allowed != 0 {
		t.Errorf("%+v, %v", budgets, err)
	}
}

// TestGuards_UnreadableBudgetIsNotIgnored: a budget that cannot be read is not passed over.
func TestGuards_UnreadableBudgetIsNotIgnored(t *testing.T) {
	g := Guards{Disruption: []*policyv1.PodDisruptionBudget{pdb("web", `{"maxUnavailable": [`)}}
	if _, _, err := g.Rules(); err == nil || !strings.Contains(err.Error(), "PodDisruptionBudget web: annotation "+kruise.StrategyAnnotation) {
		t.Error(err)
	}
}
