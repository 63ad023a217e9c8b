package lists_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/tuitest"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

func ref(namespace, name string) cluster.Ref {
	return cluster.Ref{Group: "apps.kruise.io", Kind: "CloneSet", Namespace: namespace, Name: name}
}

// sets are a mesh in the middle of hot upgrades, an agent that some pods cannot take,
// a log shipper that is frozen, and so many more.
func sets(more int) *world.Sidecars {
	barred := "the sidecars changed in more than images since the pod was created, and only images can change in place"
	list := []*world.SidecarSet{
		{
			Name: "agent", Revision: "agent-7d9f", Partition: "20%", Containers: []world.SidecarContainer{{Name: "agent", Image: "registry.example.com/ops/agent:5.2"}},
			Matched: 24, Updated: 12, Ready: 22,
			Cells: []world.SidecarCell{
				{Workload: ref("pay", "ledger"), Matched: 14, Updated: 12, Ready: 13, UpdatedReady: 11, Held: []world.Held{{Pods: []string{"ledger-0", "ledger-1"}, Why: barred}}},
				{Workload: ref("shop", "basket"), Matched: 10, Ready: 9, Held: []world.Held{
					{Pods: []string{"basket-3"}, Why: barred}, {Pods: []string{"basket-7", "basket-8"}, Why: "the set matches it and is not in it: only a new pod gets it"},
				}},
			},
		},
		{
			Name: "log-shipper", Frozen: true, Containers: []world.SidecarContainer{{Name: "ship", Image: "ship:1"}}, Matched: 3, Updated: 1, Ready: 3,
			Cells: []world.SidecarCell{{Matched: 3, Updated: 1, Ready: 3, UpdatedReady: 1, Workload: cluster.Ref{Namespace: "shop"}}},
		},
		{
			Name: "mesh", Revision: "mesh-66b4", Containers: []world.SidecarContainer{{Name: "proxy", Image: "registry.example.com/mesh/proxy:1.21", Hot: true}},
			Matched: 10, Updated: 4, Ready: 9,
			Cells: []world.SidecarCell{{
				Workload: ref("shop", "basket"), Matched: 10, Updated: 4, Ready: 9, UpdatedReady: 3,
				Upgrading: map[string]string{"basket-2": "proxy-2 starts beside proxy-1", "basket-5": "proxy-1 is being emptied"},
			}},
		},
	}
	for i := range more {
		list = append(list, &world.SidecarSet{
			Name: fmt.Sprintf("set-%d", i), Matched: 2, Updated: 2, Ready: 2,
			Cells: []world.SidecarCell{{Workload: ref("shop", "basket"), Matched: 2, Updated: 2, Ready: 2, UpdatedReady: 2}},
		})
	}
	return &world.Sidecars{Sets: list}
}

func options(more int) (tui.Options, *tuitest.Still) {
	now := time.Date(2026, 3, 1, 3, 0, 0, 0, time.UTC)
	set := &world.Workload{Ref: cluster.Ref{Group: "apps.kruise.io", Kind: "SidecarSet", Name: "mesh"}, Health: world.Progressing, Why: "waits: 1 upgraded pod is not ready, maxUnavailable 1"}
	basket := &world.Workload{Ref: ref("shop", "basket"), Labels: map[string]string{"team": "web"}}
	still := tuitest.NewStill(world.World{Loaded: true, Now: now, At: now, Where: world.Where{Context: "test"}, Workloads: []*world.Workload{set, basket}, Sidecars: sets(more)})
	return tui.Options{Source: still, Actions: still, First: screen.Open{Screen: screen.Sidecars}}, still
}

func TestSidecars_EqualTheGoldens(t *testing.T) {
	o, _ := options(0)
	tuitest.Golden(t, "all", o, func(s *tuitest.Session) string { return s.Until("3 SidecarSets", "agent on all workloads") })
	tuitest.Golden(t, "hot", o, func(s *tuitest.Session) string {
		s.Until("3 SidecarSets")
		s.Press("right", "right", "end")
		return s.Until("mesh on cloneset/basket", "proxy-1 is being")
	})
}

// TestSidecars_ScrollsManySets: more sets than there is room for scroll, and the cursor stays in sight.
func TestSidecars_ScrollsManySets(t *testing.T) {
	o, _ := options(12)
	s := tuitest.Start(t, o, tuitest.Sizes[0])
	s.Until("15 SidecarSets", "sets 1 to 1")
	for range 20 {
		s.Press("right")
	}
	s.Until("set-11 on all workloads", "sets 15 to 15")
	s.Press("h")
	s.Until("set-10 on all workloads")
}

// TestSidecars_FilteredByNameOrLabel: by name or label; enter opens the workload, or in the first row the
// set.
func TestSidecars_FilteredByNameOrLabel(t *testing.T) {
	o, _ := options(0)
	s := tuitest.Start(t, o, tuitest.Sizes[1])
	s.Until("pods without a workload", "cloneset/ledger")
	s.Press("/").Type("team=web").Press("enter")
	s.Gone("cloneset/ledger")
	s.Press("down", "enter")
	s.Until("sidecars › cloneset/basket", "loading the pods")
	s.Press("esc", "esc")
	s.Until("cloneset/ledger", "agent on cloneset/basket")
	s.Press("home", "right", "right", "enter")
	s.Until("sidecars › sidecarset/mesh")
	s.Press("esc", "/").Type("nothing").Press("enter")
	s.Until("no matches; esc clears the filter")
}

// TestSidecarActions_AreAboutTheSet: a rollout is one of a set.
func TestSidecarActions_AreAboutTheSet(t *testing.T) {
	o, still := options(0)
	s := tuitest.Start(t, o, tuitest.Sizes[1])
	s.Until("3 SidecarSets")
	s.Press("right", "right", "down", ">")
	s.Until("Promote sidecarset/mesh?", "y yes")
	s.Press("y")
	s.Until("promote: done")
	if acts := still.Acts(); len(acts) != 1 || acts[0].On[0].Name != "mesh" {
		t.Errorf("%+v", acts)
	}
}

// TestSidecars_ClickSelectsACell: a click goes to a cell of another set.
func TestSidecars_ClickSelectsACell(t *testing.T) {
	o, _ := options(0)
	s := tuitest.Start(t, o, tuitest.Sizes[1])
	frame := strings.Split(tuitest.Plain(s.Until("3 SidecarSets", "mesh")), "\n")
	for y, line := range frame {
		if strings.Contains(line, "cloneset/basket") {
			x := strings.Index(line, "4/10")
			s.Send(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft})
		}
	}
	s.Until("mesh on cloneset/basket")
	s.Send(tea.MouseWheelMsg{X: 10, Y: 5, Button: tea.MouseWheelUp})
	s.Until("mesh on all workloads")
}

// TestSidecars_WithoutSets draws no sets, and sets that are not loaded yet.
func TestSidecars_WithoutSets(t *testing.T) {
	o, still := options(0)
	still.Show(world.World{Loaded: true})
	s := tuitest.Start(t, o, tuitest.Sizes[0])
	s.Until("loading SidecarSets")
	still.Show(world.World{Loaded: true, Sidecars: &world.Sidecars{}})
	s.Until("no SidecarSets here")
	s.Press("right", "enter", "y", "n")
	still.Show(world.World{Loaded: true, Sidecars: &world.Sidecars{Sets: []*world.SidecarSet{{Name: "lone"}}}})
	s.Until("no pod is matched")
}
