package plan_test

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/golden"
	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/tuitest"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/demo"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

func of(name string) cluster.Ref {
	return cluster.Ref{Group: "apps.kruise.io", Kind: "CloneSet", Namespace: "shop", Name: name}
}

// at is the shop of the demo, held still, with the plan of a workload on the screen.
func at(t *testing.T, ref cluster.Ref) (tui.Options, *tuitest.Still) {
	t.Helper()
	shop, err := demo.Start(t.Context(), demo.Options{Seed: 1, Now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)})
	if err != nil {
		t.Fatal(err)
	}
	w, err := shop.Await(t.Context(), 0, world.Want{Workload: ref})
	if err != nil {
		t.Fatal(err)
	}
	still := tuitest.NewStill(*w)
	return tui.Options{Source: still, Actions: still, First: screen.Open{Screen: screen.Plan, Ref: ref}}, still
}

// TestScreen_EqualsTheGoldens: before it is played, and in the middle.
func TestScreen_EqualsTheGoldens(t *testing.T) {
	o, _ := at(t, of("storefront"))
	tuitest.Golden(t, "begin", o, func(s *tuitest.Session) string { return s.Until("done after", "STEPS", "0:00 of") })
	tuitest.Golden(t, "middle", o, func(s *tuitest.Session) string {
		s.Until("done after")
		s.Press("end", "[", "right", "right", "right")
		return s.Until("done after", "0:11 of")
	})
}

// TestScreen_SimulatesAGivenPlanFromItsFirstStep: a plan from elsewhere is simulated from its first step, whatever the
// workload is at.
func TestScreen_SimulatesAGivenPlanFromItsFirstStep(t *testing.T) {
	o, still := at(t, of("storefront"))
	w, err := still.Await(t.Context(), 0, world.Want{})
	if err != nil {
		t.Fatal(err)
	}
	given := w.Detail.Plan
	given.Limits.MaxUnavailable = 7
	o.First.Plan = &given
	s := tuitest.Start(t, o, tuitest.Sizes[1])
	s.Until("max 7 unavailable", "the plan cannot finish", "template: spec.template")
}

// TestScreen_KeepsOldPodsUnready: a pod of the old template that is not ready stays so until the update
// comes to it, where the pods that the rollout has updated become ready.
func TestScreen_KeepsOldPodsUnready(t *testing.T) {
	o, still := at(t, of("storefront"))
	tuitest.Start(t, o, tuitest.Sizes[1]).Until("done after")
	w, err := still.Await(t.Context(), 0, world.Want{})
	if err != nil {
		t.Fatal(err)
	}
	updated := plan.UpdatedTest(w.Detail.Plan, w.Detail.Snapshot)
	down := 0
	for _, p := range w.Detail.Snapshot.Pods {
		if !updated(p) && down <= w.Detail.Plan.Limits.MaxUnavailable {
			down++
			p.Conditions = []cluster.Condition{{Type: "Ready", Status: "False"}}
			p.Containers[0].Ready = false
		}
	}
	o.Source = tuitest.NewStill(*w)
	tuitest.Start(t, o, tuitest.Sizes[1]).Until("the plan cannot finish")
}

// TestScreen_KeepsSimulationsOfPlansApart opens two plans of one workload on top of each other.
func TestScreen_KeepsSimulationsOfPlansApart(t *testing.T) {
	ref := of("storefront")
	o, still := at(t, ref)
	w, err := still.Await(t.Context(), 0, world.Want{})
	if err != nil {
		t.Fatal(err)
	}
	given := w.Detail.Plan
	given.Limits.MaxUnavailable = 7
	o.First.Plan = &given
	s := tuitest.Start(t, o, tuitest.Sizes[1])
	s.Until("max 7 unavailable")
	s.Press(":").Type("plan").Press("enter")
	s.Until("done after", "max 2 unavailable")
	s.Press("esc")
	s.Until("max 7 unavailable", "the plan cannot finish")
}

// TestPicture_OnSmallScreens: also where there is little room, the pods are shown over the
// time, in as many lines as the screen has for them, and what the step of the cursor does.
func TestPicture_OnSmallScreens(t *testing.T) {
	o, _ := at(t, of("storefront"))
	for size, lines := range map[tuitest.Size]int{{Width: 60, Height: 20}: 3, {Width: 80, Height: 24}: 4, {Width: 80, Height: 30}: 5, {Width: 60, Height: 15}: 0} {
		s := tuitest.Start(t, o, size)
		screen := s.Until("done after", "STEPS", "step-100%")
		picture := 0
		for line := range strings.Lines(screen) {
			if strings.Contains(line, "▒▒▒▒▒▒▒▒") || strings.Contains(line, "████████") {
				picture++
			}
		}
		if picture != lines {
			t.Errorf("%v: %d lines of pods, want %d:\n%s", size, picture, lines, screen)
		}
		if about := strings.Contains(screen, "STEP step-25%"); about != (size.Height >= 24) {
			t.Errorf("%v: what the step does is shown: %v\n%s", size, about, screen)
		}
		if size.Height == 24 {
			golden.Same(t, "testdata/begin-80x24.txt", tuitest.Plain(screen))
		}
	}
}

// TestFields_AreListedForEachStep: each field that a step sends is in a line, with what it was; a plan that sends
// more than there is room for says how much more.
func TestFields_AreListedForEachStep(t *testing.T) {
	o, _ := at(t, of("storefront"))
	s := tuitest.Start(t, o, tuitest.Sizes[2])
	s.Until("STEP step-25%", "    spec.updateStrategy.rollingUpdate.partition: 75%")
	s.Press("up", "up")
	s.Until("STEP update", "    spec.template.spec.containers[0].image: registry.example.com/web/storefront:4.7.1 -> registry.example.com/web/storefront:4.8.0")
	small := tuitest.Start(t, o, tuitest.Size{Width: 80, Height: 24})
	small.Until("STEP step-25%")
	small.Press("up", "up")
	small.Until("STEP update", "more lines")
	small.Press("tab")
	small.Gone("more lines")
}

// TestPicture_IsEmptyWithoutSimulatedTime: a simulation in which no time goes by has none.
func TestPicture_IsEmptyWithoutSimulatedTime(t *testing.T) {
	o, still := at(t, of("storefront"))
	w, err := still.Await(t.Context(), 0, world.Want{})
	if err != nil {
		t.Fatal(err)
	}
	given := w.Detail.Plan
	given.Limits.MaxUnavailable = 7
	o.First.Plan = &given
	if screen := tuitest.Start(t, o, tuitest.Sizes[1]).Until("the plan cannot finish", "0:00 of 0:00"); strings.Contains(screen, "▒▒▒▒▒▒▒▒") {
		t.Error(screen)
	}
}

// TestPanels_TabShowsTheNext: where not all fits, tab shows the rest.
func TestPanels_TabShowsTheNext(t *testing.T) {
	o, _ := at(t, of("storefront"))
	tuitest.Golden(t, "events", o, func(s *tuitest.Session) string {
		s.Until("done after")
		s.Press("end", "tab", "tab")
		return s.Until("12 new", "so far")
	})
}

// TestPlay_PausesAndRestarts: it is played to its end, held, and starts again; speed is a key or a command.
func TestPlay_PausesAndRestarts(t *testing.T) {
	o, _ := at(t, of("storefront"))
	s := tuitest.Start(t, o, tuitest.Sizes[1])
	s.Until("‖ 0:00 of 0:48 at 4x")
	s.Press("+", "-", "-")
	s.Until("at 2x")
	s.Press(":").Type("speed 4096").Press("enter")
	s.Until("at 4096x")
	s.Press("space")
	s.Until("‖ 0:48 of 0:48", "12 new", "0 old")
	s.Press("home", "]")
	s.Until("0:08 of 0:48", "STEP step-100%")
	s.Press("[")
	s.Until("0:00 of 0:48", "STEP step-25%")
	s.Press(":").Type("speed 1").Press("enter")
	s.Until("at 1x")
	s.Press("space")
	s.Until("▶ 0:00 of")
	s.Press("space")
	s.Until("‖ 0:0")
	s.Press("g", "left", "end", "right", "G", "space")
	s.Until("▶ 0:0")
}

// TestSteps_CursorIsIndependentOfTime: the cursor goes over the steps, whatever the time.
func TestSteps_CursorIsIndependentOfTime(t *testing.T) {
	o, _ := at(t, of("storefront"))
	s := tuitest.Start(t, o, tuitest.Sizes[1])
	s.Until("STEP step-25%")
	s.Press("up", "up")
	s.Until("STEP update", "sends a JSON patch")
	s.Press("k", "k", "k")
	s.Until("STEP pull", "pulls registry.example.com")
	s.Press("down", "j")
	s.Until("STEP pause-1")
}

// TestScreen_SimulatesAgainOnRequest: what the cluster has become meanwhile is simulated on request.
func TestScreen_SimulatesAgainOnRequest(t *testing.T) {
	o, still := at(t, of("storefront"))
	s := tuitest.Start(t, o, tuitest.Sizes[1])
	s.Until("as of 11:59:52", "0:48")
	w, err := still.Await(t.Context(), 0, world.Want{})
	if err != nil {
		t.Fatal(err)
	}
	later, detail := *w, *w.Detail
	detail.Now = detail.Now.Add(time.Minute)
	later.Detail, later.Now = &detail, detail.Now
	still.Show(later)
	s.Until("simulated 12:00:52", "as of 11:59:52")
	s.Press("r")
	s.Until("as of 12:00:52")
	s.Press(">")
	s.Until("Promote cloneset/storefront?")
}

// TestScreen_SimulatesAnyWorkload simulates a failed rollout as if it continued, a SidecarSet, and
// a workload without a rollout.
func TestScreen_SimulatesAnyWorkload(t *testing.T) {
	mesh := cluster.Ref{Group: "apps.kruise.io", Kind: "SidecarSet", Name: "mesh"}
	for ref, has := range map[cluster.Ref][]string{
		of("checkout"): {"failed; a retry takes 0:", "4 steps"}, mesh: {"done after", "in place"}, of("basket"): {"no rollout is recorded", "done after 0:0", "1 step"},
	} {
		o, _ := at(t, ref)
		tuitest.Start(t, o, tuitest.Sizes[2]).Until(has...)
	}
}

// TestScreen_OfAMissingWorkload draws a workload that does not exist, and one that is not loaded
// yet.
func TestScreen_OfAMissingWorkload(t *testing.T) {
	o, still := at(t, of("storefront"))
	still.Show(world.World{Loaded: true})
	s := tuitest.Start(t, o, tuitest.Sizes[0])
	s.Until("does not exist")
	s.Press("space", "left", "r", "up", "tab")
	still.Show(world.World{Loaded: true, Workloads: []*world.Workload{{Ref: of("storefront")}}})
	s.Until("loading the pods")
}

// TestScreen_SurvivesTinyTerminals shrinks the terminal to one column, and enlarges it again.
func TestScreen_SurvivesTinyTerminals(t *testing.T) {
	o, _ := at(t, of("storefront"))
	s := tuitest.Start(t, o, tuitest.Sizes[1])
	s.Until("done after")
	for _, size := range []tuitest.Size{{Width: 1, Height: 1}, {Width: 1, Height: 60}, {Width: 2, Height: 24}, tuitest.Sizes[1]} {
		s.Send(tea.WindowSizeMsg{Width: size.Width, Height: size.Height})
		s.OfSize(size)
	}
	s.Until("done after")
}
