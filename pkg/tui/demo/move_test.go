package demo_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// TestMove_NarrowsToANamespace shows one namespace, then all; an unknown namespace changes nothing,
// and the others progress meanwhile.
func TestMove_NarrowsToANamespace(t *testing.T) {
	c := open(t)
	everything := world.Want{Workload: of("search"), Sidecars: true, Distributions: true}
	all := look(t, c, everything)
	if want := []string{"ops", "pay", "shop"}; !slices.Equal(all.Namespaces, want) {
		t.Errorf("namespaces %v, want %v", all.Namespaces, want)
	}
	if err := c.Move(t.Context(), "pay"); err != nil {
		t.Fatal(err)
	}
	pay := look(t, c, everything)
	var names []string
	for _, row := range pay.Workloads {
		names = append(names, row.Name)
	}
	if slices.Sort(names); !slices.Equal(names, []string{"audit", "ledger"}) || pay.Where.Namespace != "pay" || pay.Detail != nil {
		t.Errorf("%v in %+v, detail %v", names, pay.Where, pay.Detail)
	}
	if pay.Version <= all.Version {
		t.Error("the subscriber got no state")
	}
	for _, f := range pay.Distributions.List {
		if f.Namespace != "" && f.Namespace != "pay" {
			t.Errorf("%s is in another namespace", f.Ref)
		}
	}
	for _, cell := range pay.Sidecars.Sets[0].Cells {
		if cell.Workload.Namespace != "pay" {
			t.Errorf("%s is in another namespace", cell.Workload)
		}
	}
	if err := c.Move(t.Context(), "nowhere"); err == nil || !strings.Contains(err.Error(), "ops, pay, shop") {
		t.Errorf("%v", err)
	}
	if got := look(t, c, world.Want{}); got.Where.Namespace != "pay" {
		t.Errorf("%+v", got.Where)
	}
	until := look(t, c, world.Want{Workload: cluster.Ref{Group: "apps.kruise.io", Kind: "StatefulSet", Namespace: "pay", Name: "ledger"}})
	if until.Detail == nil {
		t.Error("a workload of the namespace has no detail")
	}
	if err := c.Move(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	if back := look(t, c, everything); len(back.Workloads) != len(all.Workloads) || back.Detail == nil || len(back.Distributions.List) != len(all.Distributions.List) {
		t.Errorf("%d of %d workloads are back", len(back.Workloads), len(all.Workloads))
	}
}
