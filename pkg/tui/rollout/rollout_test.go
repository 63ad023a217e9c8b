package rollout_test

import (
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/tuitest"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/demo"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

func of(name string) cluster.Ref {
	return cluster.Ref{Group: "apps.kruise.io", Kind: "CloneSet", Namespace: "shop", Name: name}
}

// at is the shop of the demo, held still, with a workload on the screen.
func at(t *testing.T, name string) (tui.Options, *tuitest.Still) {
	t.Helper()
	shop, err := demo.Start(t.Context(), demo.Options{Seed: 1, Now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)})
	if err != nil {
		t.Fatal(err)
	}
	w, err := shop.Await(t.Context(), 0, world.Want{Workload: of(name)})
	if err != nil {
		t.Fatal(err)
	}
	still := tuitest.NewStill(*w)
	return tui.Options{Source: still, Actions: still, First: screen.Open{Screen: screen.Rollout, Ref: of(name)}}, still
}

func TestScreen_EqualsTheGoldens(t *testing.T) {
	for _, name := range []string{"storefront", "checkout", "search"} {
		o, _ := at(t, name)
		tuitest.Golden(t, name, o, func(s *tuitest.Session) string { return s.Until("cloneset/", "PODS", "updated,") })
	}
}

// TestPanels_FillTheScreen: each part has the whole screen to itself where that is asked for.
func TestPanels_FillTheScreen(t *testing.T) {
	o, _ := at(t, "checkout")
	for panel, has := range map[string]string{"steps": "BLOCKED BY", "rollouts": "ROLLOUTS", "events": "EVENTS"} {
		tuitest.Golden(t, panel, o, func(s *tuitest.Session) string {
			s.Until("PODS")
			s.Press(":").Type("show " + panel).Press("enter")
			s.Gone("PODS")
			return s.Until(has, "updated,", "? help")
		})
	}
}

// TestScreen_ShowsBlockers checks the cause and the remedy, in the words of the verb why.
func TestScreen_ShowsBlockers(t *testing.T) {
	o, _ := at(t, "checkout")
	s := tuitest.Start(t, o, tuitest.Sizes[2])
	s.Until("✖ blocked", "failed at step", "CrashLoopBackOff: container app in pod", "l, then p shows why it ended; u rolls back")
}

// TestGrid_GroupsPods checks that b changes the grouping; this workload has no subsets.
func TestGrid_GroupsPods(t *testing.T) {
	o, _ := at(t, "search")
	s := tuitest.Start(t, o, tuitest.Sizes[1])
	s.Until("by revision", " new ", " old ")
	s.Press("b")
	s.Until("by node", "node-1 ", "node-12")
	s.Press("b")
	s.Until("by zone", "zone-a", "zone-c")
	s.Press("b")
	s.Until("by revision")
}

// TestRestart_IsAboutMarkedPods checks also that left does not close this screen.
func TestRestart_IsAboutMarkedPods(t *testing.T) {
	o, still := at(t, "storefront")
	s := tuitest.Start(t, o, tuitest.Sizes[1])
	s.Until("PODS")
	s.Press("right", "left", "space", "space")
	s.Until("2 marked")
	s.Press("R")
	s.Until("Restart all containers in 2 pods?", "2 marked pods", "storefront-", "y yes")
	s.Press("y")
	s.Until("restart: done")
	if acts := still.Acts(); len(acts) != 1 || len(acts[0].Pods) != 2 {
		t.Errorf("%+v", acts)
	}
}

// TestMarks_OfDeletedPodsAreDropped checks that the user sees it, and that a new pod of the same
// name is not marked.
func TestMarks_OfDeletedPodsAreDropped(t *testing.T) {
	o, still := at(t, "storefront")
	s := tuitest.Start(t, o, tuitest.Sizes[1])
	s.Until("PODS")
	s.Press("space", "space")
	s.Until("2 marked")
	w, _ := still.Await(t.Context(), 0, world.Want{})
	next, detail := *w, *w.Detail
	detail.Snapshot.Pods = nil
	for _, p := range w.Detail.Snapshot.Pods {
		another := *p
		another.UID += "2"
		detail.Snapshot.Pods = append(detail.Snapshot.Pods, &another)
	}
	next.Detail = &detail
	still.Show(next)
	s.Until("the marked pods are gone: a restart is now about the pod of the cursor")
	s.Gone("2 marked")
}

// TestCursor_MovesInTableAndGrid: the cursor goes from row to row, left and right from pod to pod of the grid,
// and stays inside.
func TestCursor_MovesInTableAndGrid(t *testing.T) {
	o, _ := at(t, "search")
	s := tuitest.Start(t, o, tuitest.Sizes[1])
	first := pointed(s.Until("PODS", "› "))
	s.Press("down", "down", "space")
	s.Until("1 marked")
	s.Press("up", "up", "up", "up", "up", "space")
	s.Until("2 marked")
	s.Press("G", "right", "right", "left", "g")
	frame := s.Until("PODS")
	if first == "" || pointed(frame) == "" {
		t.Errorf("no pod is pointed at:\n%s", tuitest.Plain(frame))
	}
}

// TestFilter_IsNotTakenForKeys types a filter whose letters are keys of actions.
func TestFilter_IsNotTakenForKeys(t *testing.T) {
	o, still := at(t, "search")
	s := tuitest.Start(t, o, tuitest.Sizes[1])
	s.Until("PODS")
	s.Press("/").Type("zzRuna")
	s.Until("no matches; esc clears the filter")
	s.Press("esc")
	s.Until("RESTARTS")
	if acts := still.Acts(); len(acts) != 0 {
		t.Errorf("%+v", acts)
	}
}

// TestPods_NoneIsNotAFilter: a workload whose pods cannot be made has no filter to clear.
func TestPods_NoneIsNotAFilter(t *testing.T) {
	o, still := at(t, "search")
	s := tuitest.Start(t, o, tuitest.Sizes[1])
	s.Until("PODS")
	w, _ := still.Await(t.Context(), 0, world.Want{})
	next, detail := *w, *w.Detail
	detail.Snapshot.Pods = nil
	next.Detail = &detail
	still.Show(next)
	s.Until("  no pods")
	s.Press("/").Type("zz")
	s.Until("no matches; esc clears the filter")
}

func pointed(frame string) string {
	for line := range strings.SplitSeq(tuitest.Plain(frame), "\n") {
		if pod, ok := strings.CutPrefix(line, "›"); ok {
			return strings.TrimLeft(strings.Fields(pod)[0], "◆")
		}
	}
	return ""
}

// TestScreen_OfAnUnreadableWorkload checks that the error and the age of the shown pods are drawn.
func TestScreen_OfAnUnreadableWorkload(t *testing.T) {
	o, still := at(t, "search")
	s := tuitest.Start(t, o, tuitest.Sizes[0])
	s.Until("PODS")
	w, _ := still.Await(t.Context(), 0, world.Want{})
	next := *w
	next.Unseen, next.Now = "configmaps is forbidden", w.Detail.Now.Add(time.Minute)
	still.Show(next)
	s.Until("PODS", "pods as of 60s ago")
	next.Detail = nil
	still.Show(next)
	s.Until("the pods of cloneset/search cannot be loaded:", "configmaps is forbidden")
}

// TestScreen_OfADeletedWorkload: it says so when the workload goes away under one's eyes.
func TestScreen_OfADeletedWorkload(t *testing.T) {
	o, still := at(t, "search")
	s := tuitest.Start(t, o, tuitest.Sizes[0])
	s.Until("PODS")
	w, _ := still.Await(t.Context(), 0, world.Want{})
	next := *w
	next.Detail, next.Workloads = nil, nil
	still.Show(next)
	s.Until("does not exist")
	s.Press("esc")
	s.Until("no workloads here")
}
