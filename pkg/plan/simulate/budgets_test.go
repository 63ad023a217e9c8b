package simulate

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// TestSnapshot_ShowsTheBudgetsThatCoverItsPods: whatever happens between two snapshots, each has
// the budgets that are found by asking all of them, with the same counts.
func TestSnapshot_ShowsTheBudgetsThatCoverItsPods(t *testing.T) {
	selectors := []string{
		"selector: {matchLabels: {app: web-1}}",
		"selector: {matchLabels: {app: web-2, team: shop}}",
		"selector: {matchExpressions: [{key: app, operator: In, values: [web-0, web-2]}]}",
		"selector: {matchExpressions: [{key: app, operator: NotIn, values: [web-0]}]}",
		"selector: {matchExpressions: [{key: tier, operator: Exists}]}",
		"selector: {}",
		"selector: {matchLabels: {app: none}}",
	}
	w := New(DefaultOptions())
	w.AddNode("n1", nil)
	var refs []cluster.Ref
	for i := range 3 {
		must(t, w.Apply(documents(t, fmt.Sprintf(`
apiVersion: apps.kruise.io/v1beta1
kind: CloneSet
metadata: {name: web-%[1]d, namespace: shop}
spec:
  replicas: 3
  selector: {matchLabels: {app: web-%[1]d}}
  template:
    metadata: {labels: {app: web-%[1]d, team: shop}}
    spec: {containers: [{name: main, image: "web:1"}]}
`, i))...))
		refs = append(refs, cluster.Ref{Group: "apps.kruise.io", Kind: "CloneSet", Namespace: "shop", Name: fmt.Sprintf("web-%d", i)})
	}
	if ok, err := w.Settle(time.Hour); !ok || err != nil {
		t.Fatal(ok, err)
	}
	for i, s := range append(selectors, "targetRef: {apiVersion: apps.kruise.io/v1beta1, kind: CloneSet, name: web-2}") {
		must(t, w.Apply(documents(t, fmt.Sprintf("apiVersion: policy.kruise.io/v1alpha1\nkind: PodUnavailableBudget\nmetadata: {name: b%d, namespace: shop}\nspec: {maxUnavailable: 1, %s}", i, s))...))
	}
	for i, s := range selectors {
		must(t, w.Apply(documents(t, fmt.Sprintf("apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: d%d, namespace: shop}\nspec: {maxUnavailable: 1, %s}", i, s))...))
	}
	rng := rand.New(rand.NewPCG(3, 5))
	for round := range 60 {
		for _, ref := range refs {
			s, err := w.Snapshot(ref)
			must(t, err)
			if diff := cmp.Diff(budgetsByAsking(w, ref), budgetTexts(s)); diff != "" {
				t.Fatalf("round %d, %s (-asked, +shown):\n%s", round, ref, diff)
			}
		}
		disturbWorld(t, w, rng)
	}
}

// budgetsByAsking asks every budget of the world.
func budgetsByAsking(w *World, ref cluster.Ref) []string {
	o := w.store.objects[ref]
	var s plan.Snapshot
	for _, g := range w.budgets.unavailable.list {
		view := w.budgets.unavailableView(g)
		view.Pods = w.store.podsIn(g.budget.Namespace)
		if b := view.Rules(); w.store.concerns(o, b.Pods) {
			s.Budgets = append(s.Budgets, b)
		}
	}
	for _, d := range w.budgets.disruptions.list {
		view := w.budgets.disruptionView(d)
		view.Pods = w.store.podsIn(d.budget.Namespace)
		if b := view.Rules(); w.store.concerns(o, b.Pods) {
			s.Disruptions = append(s.Disruptions, b)
		}
	}
	return budgetTexts(s)
}

func budgetTexts(s plan.Snapshot) []string {
	var out []string
	for _, b := range s.Budgets {
		out = append(out, fmt.Sprintf("%s: %d pods, %+v, %v %v", b.Name, len(b.Pods), b.Counts(), b.Disrupted, b.Unavailable))
	}
	for _, b := range s.Disruptions {
		out = append(out, fmt.Sprintf("%s: %d pods, %+v, %v", b.Name, len(b.Pods), b.Counts(), b.Disrupted))
	}
	return out
}

// disturbWorld deletes, relabels or evicts a pod, scales a workload, or lets time pass.
func disturbWorld(t *testing.T, w *World, rng *rand.Rand) {
	t.Helper()
	p := w.store.all.now[rng.IntN(len(w.store.all.now))]
	ref := plan.PodRef{Namespace: p.Namespace, Name: p.Name}
	switch rng.IntN(6) {
	case 0:
		_ = w.pods.deleteByHand(ref) // a budget may refuse it
	case 1:
		tier := "gold"
		must(t, w.PatchPod(ref, cluster.PodChange{Labels: map[string]*string{"tier": []*string{&tier, nil}[rng.IntN(2)]}}))
	case 2:
		replicas := int64(2 + rng.IntN(3))
		web := cluster.Ref{Group: "apps.kruise.io", Kind: "CloneSet", Namespace: "shop", Name: fmt.Sprintf("web-%d", rng.IntN(3))}
		must(t, w.Patch(web, plan.Patch{Body: map[string]any{"spec": map[string]any{"replicas": replicas}}}))
	case 3:
		var names []string
		for _, g := range w.budgets.unavailable.list {
			names = append(names, g.budget.Name)
		}
		slices.Sort(names)
		must(t, w.Apply(documents(t, fmt.Sprintf("apiVersion: policy.kruise.io/v1alpha1\nkind: PodUnavailableBudget\nmetadata: {name: %s, namespace: shop}\nspec: {maxUnavailable: %d, selector: {matchLabels: {app: web-1}}}", names[0], 1+rng.IntN(2)))...))
	}
	if rng.IntN(2) == 0 {
		must(t, w.Run(w.clock.now().Add(time.Duration(rng.IntN(4000))*time.Millisecond)))
	}
}
