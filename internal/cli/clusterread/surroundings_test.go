package clusterread

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// budgetText is a budget of either kind, of one of many scopes.
func budgetText(r *rand.Rand, i int) string {
	name, namespace := fmt.Sprintf("budget-%d", i), []string{"shop", "shop", "shop", "bank"}[r.IntN(4)]
	if r.IntN(6) == 0 {
		name = "twice"
	}
	scope := []string{
		"selector: {matchLabels: {app: app-0}}", "selector: {matchLabels: {app: app-1}}", "selector: {matchLabels: {app: app-2}}",
		"selector: {matchLabels: {app: app-0, team: shop}}", "selector: {matchLabels: {team: shop}}", "selector: {matchLabels: {added: later}}",
		"selector: {matchLabels: {lifecycle.apps.kruise.io/state: Normal}}", "selector: {matchExpressions: [{key: app, operator: Exists}]}",
		"selector: {matchLabels: {app: app-1}, matchExpressions: [{key: team, operator: DoesNotExist}]}", "selector: {}",
	}[r.IntN(10)]
	if r.IntN(2) == 0 {
		return fmt.Sprintf("apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: %s, namespace: %s}\nspec: {%s, maxUnavailable: 1}\n", name, namespace, scope)
	}
	if r.IntN(3) == 0 {
		scope = fmt.Sprintf("targetRef: {apiVersion: apps.kruise.io/v1beta1, kind: CloneSet, name: web-%d}", r.IntN(3))
	}
	return fmt.Sprintf("apiVersion: policy.kruise.io/v1alpha1\nkind: PodUnavailableBudget\nmetadata: {name: %s, namespace: %s}\nspec: {%s, maxUnavailable: 1}\n", name, namespace, scope)
}

// TestSurroundings_LeaveOutWhatDoesNotMatter: what is made up around a workload is the same with
// its surroundings as with all objects.
func TestSurroundings_LeaveOutWhatDoesNotMatter(t *testing.T) {
	left := 0
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 1))
		var docs []string
		for i := range 3 {
			kind, apiVersion := "CloneSet", "apps.kruise.io/v1beta1"
			labels := fmt.Sprintf("app: app-%d", i)
			switch {
			case i == 1:
				labels += ", team: shop"
			case i == 2 && r.IntN(2) == 0:
				kind, apiVersion = "Deployment", "apps/v1"
			}
			docs = append(docs, fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata: {name: web-%d, namespace: shop}\nspec: {replicas: 2, selector: {matchLabels: {app: app-%d}}, template: {metadata: {labels: {%s}}, spec: {containers: [{name: main, image: \"web:1\"}]}}}\n",
				apiVersion, kind, i, i, labels))
		}
		for i := range 3 + r.IntN(10) {
			docs = append(docs, budgetText(r, i))
		}
		docs = append(docs, "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {a: b}}\n")
		list := parseObjects(t, docs...)
		around := NewSurroundings(list)
		for _, target := range list[:3] {
			mine := around.Of(target)
			left += len(list) - 3 - len(mine)
			want, wantErr := Populate(target, list, simulate.Population{})
			got, err := Populate(target, mine, simulate.Population{})
			if fmt.Sprint(err) != fmt.Sprint(wantErr) {
				t.Fatalf("seed %d: %s: %v, want %v", seed, target.Name(), err, wantErr)
			}
			if diff := cmp.Diff(shownOf(want), shownOf(got)); diff != "" {
				t.Fatalf("seed %d: %s (-all +surroundings):\n%s", seed, target.Name(), diff)
			}
		}
	}
	if left < 200 {
		t.Errorf("only %d budgets were left out", left)
	}
}

// shownOf is what a plan reads of a snapshot.
func shownOf(s plan.Snapshot) map[string]any {
	out := map[string]any{"pods": s.Pods, "nodes": s.Nodes, "namespaces": s.Namespaces, "revisions": s.Revisions}
	if s.Workload != nil {
		out["workload"], out["template"] = s.Workload.Ref, s.Workload.Template
	}
	var budgets []string
	for _, b := range s.Budgets {
		budgets = append(budgets, fmt.Sprintf("%s %+v", b.Name, b.Counts()))
	}
	for _, b := range s.Disruptions {
		budgets = append(budgets, fmt.Sprintf("%s %+v", b.Name, b.Counts()))
	}
	out["budgets"] = budgets
	return out
}

// TestSurroundings_KeepFaultsAndSidecarSets: a budget that cannot be read fails every plan, and the
// pods of a SidecarSet may be those of any workload.
func TestSurroundings_KeepFaultsAndSidecarSets(t *testing.T) {
	list := parseObjects(t,
		testWorkload("apps.kruise.io/v1beta1", "CloneSet", "  replicas: 1"),
		"apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: other, namespace: bank}\nspec: {selector: 7}\n",
		"apiVersion: apps.kruise.io/v1beta1\nkind: SidecarSet\nmetadata: {name: mesh}\nspec: {selector: {matchLabels: {app: web}}, containers: [{name: agent, image: \"agent:1\"}]}\n",
		"apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: api, namespace: shop}\nspec: {selector: {matchLabels: {app: api}}, maxUnavailable: 1}\n",
	)
	around := NewSurroundings(list)
	if got := namesOf(around.Of(list[0])); got != "other mesh" {
		t.Errorf("a CloneSet among %q", got)
	}
	if got := len(around.Of(list[2])); got != len(list) {
		t.Errorf("a SidecarSet among %d of %d objects", got, len(list))
	}
}

func namesOf(list []*resource.Resource) string {
	var names []string
	for _, r := range list {
		names = append(names, r.Name())
	}
	return strings.Join(names, " ")
}
