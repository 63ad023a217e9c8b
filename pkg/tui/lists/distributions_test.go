package lists_test

import (
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/tuitest"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/demo"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// at is the shop of the demo, held still, with what it fans out on the screen.
func at(t *testing.T, name string) (tui.Options, *tuitest.Still) {
	t.Helper()
	shop, err := demo.Start(t.Context(), demo.Options{Seed: 1, Now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)})
	if err != nil {
		t.Fatal(err)
	}
	w, err := shop.Await(t.Context(), 0, world.Want{Distributions: true})
	if err != nil {
		t.Fatal(err)
	}
	still := tuitest.NewStill(*w)
	o := tui.Options{Source: still, Actions: still, First: screen.Open{Screen: screen.Distributions}}
	for _, f := range w.Distributions.List {
		if f.Name == name {
			o.First.Ref = f.Ref
		}
	}
	return o, still
}

func TestDistributions_EqualTheGoldens(t *testing.T) {
	for name, has := range map[string]string{
		"recommend": "3 subsets of CloneSets", "search-zones": "3 subsets of cloneset/search", "registry-login": "4 namespaces of", "warm-search": "9 nodes of",
	} {
		o, _ := at(t, name)
		tuitest.Golden(t, name, o, func(s *tuitest.Session) string { return s.Until("4 distributions", has) })
	}
}

// TestDistributions_ListsTargets checks that tab moves to the targets, which have a cursor of their own.
func TestDistributions_ListsTargets(t *testing.T) {
	o, _ := at(t, "warm-search")
	s := tuitest.Start(t, o, tuitest.Sizes[0])
	s.Until("9 nodes of", "node-1")
	s.Press("tab", "end")
	s.Until("node-9")
	s.Press("home")
	s.Until("› ✓  node-1")
	s.Press("tab", "home")
	s.Until("resourcedistribution/registry-login  4 namespaces")
}

// TestDistributions_FilteredByKindTargetOrHealth: by kind, target or health.
func TestDistributions_FilteredByKindTargetOrHealth(t *testing.T) {
	o, _ := at(t, "")
	s := tuitest.Start(t, o, tuitest.Sizes[1])
	s.Until("4 distributions", "uniteddeployment/recommend")
	s.Press("/").Type("secret").Press("enter")
	s.Until("1 distribution ", "conflict: the object exists")
	s.Press("esc", "/").Type("nothing at all").Press("enter")
	s.Until("no matches; esc clears the filter")
	s.Press("tab", "y", "down")
	s.Until("no matches; esc clears the filter")
}

// TestDistributions_ClickSelectsARow: a click goes to a row, or into the places.
func TestDistributions_ClickSelectsARow(t *testing.T) {
	o, _ := at(t, "")
	s := tuitest.Start(t, o, tuitest.Sizes[1])
	s.Until("4 distributions", "4 namespaces of")
	s.Send(tea.MouseClickMsg{X: 20, Y: 5, Button: tea.MouseLeft})
	s.Until("3 subsets of CloneSets")
	s.Send(tea.MouseWheelMsg{X: 20, Y: 5, Button: tea.MouseWheelDown})
	s.Until("3 subsets of cloneset/search")
}

// TestDistributions_WithoutDistributions draws none, none loaded yet, and one without targets.
func TestDistributions_WithoutDistributions(t *testing.T) {
	o, still := at(t, "")
	still.Show(world.World{Loaded: true})
	s := tuitest.Start(t, o, tuitest.Sizes[0])
	s.Until("loading distributions")
	still.Show(world.World{Loaded: true, Distributions: &world.Distributions{}})
	s.Until("no UnitedDeployment")
	lone := &world.Distribution{Ref: cluster.Ref{Kind: "WorkloadSpread", Namespace: "shop", Name: "lone"}, Health: world.Blocked, Problems: []string{"its target is not there"}}
	still.Show(world.World{Loaded: true, Distributions: &world.Distributions{List: []*world.Distribution{lone}}})
	s.Until("its target is not there", "0 subsets")
	s.Press("tab", "down")
	s.Until("0 subsets")
}
