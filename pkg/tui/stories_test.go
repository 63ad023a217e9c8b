package tui_test

import (
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/golden"
	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/tuitest"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/demo"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
)

// visit opens the shop of the demo, where time goes by only when a story says so.
// What was done is shown in the last line, at its very beginning.
func visit(t *testing.T) (*tuitest.Session, func(time.Duration)) {
	t.Helper()
	shop, err := demo.Start(t.Context(), demo.Options{Seed: 1, Now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)})
	if err != nil {
		t.Fatal(err)
	}
	s := tuitest.Start(t, tui.Options{Source: shop, Actions: shop}, middle)
	s.Until("storefront", "checkout")
	return s, func(by time.Duration) {
		t.Helper()
		if err := shop.Advance(by); err != nil {
			t.Fatal(err)
		}
	}
}

// TestStory_BlockedRolloutIsRolledBack: an operator is called at night, sees what is stuck, reads why, and takes
// it back.
func TestStory_BlockedRolloutIsRolledBack(t *testing.T) {
	s, pass := visit(t)
	s.Press("f")
	s.Until("problems only", "✖ blocked")
	s.Press("enter")
	golden.Same(t, "testdata/story-stuck.txt", tuitest.Plain(s.Until("failed at step", "u rolls back")))
	s.Press("u")
	s.Until("Roll cloneset/checkout back?", "2 pods change, in 1 step.", "checkout:2.0.0-rc1 -> ", "y yes")
	s.Press("enter")
	s.Until("enter does nothing here")
	s.Press("esc")
	s.Gone("Roll cloneset/checkout back?")
	s.Press("u")
	s.Until("y yes")
	s.Press("y")
	s.Until("\n cloneset/checkout: rolling back")
	pass(2 * time.Minute)
	s.Until("✓ healthy")
	s.Press("z")
	golden.Same(t, "testdata/story-undone.txt", tuitest.Plain(s.Until("RolloutEnded", "enter pod")))
}

// TestStory_CanaryIsPromoted: a canary has been checked, and is promoted.
func TestStory_CanaryIsPromoted(t *testing.T) {
	s, pass := visit(t)
	s.Press("/").Type("storefront").Press("enter", "enter")
	s.Until("PODS", "waiting for approval")
	s.Press(">")
	golden.Same(t, "testdata/story-asked.txt", tuitest.Plain(s.Until("Promote cloneset/storefront past step pause-1?", "2 more pods are updated next: 3 of 12.", "error lines/min", "y yes")))
	s.Press("y")
	s.Until("\n cloneset/storefront: promoted past step pause-1")
	pass(20 * time.Second)
	s.Press("z")
	golden.Same(t, "testdata/story-promoted.txt", tuitest.Plain(s.Until("◐ progressing", "enter pod")))
	pass(3 * time.Minute)
	s.Until("✓ healthy", "12/12 updated")
}

// TestStory_SidecarIsUpgradedHot: a sidecar gets a new version while its pods go on.
func TestStory_SidecarIsUpgradedHot(t *testing.T) {
	s, pass := visit(t)
	s.Press(":").Type("rollout sidecarset/mesh").Press("enter")
	s.Until("◐ progressing", "PODS", "proxy-2")
	pass(3 * time.Minute)
	s.Until("✓ healthy", "10/10 updated, 10 of these ready")
}

// TestStory_SidecarsOfANamespace: who has the new sidecar, where it is being taken over, and why not
// everybody has it; then how long the rest will take, from the plan.
func TestStory_SidecarsOfANamespace(t *testing.T) {
	s, pass := visit(t)
	s.Press("2")
	golden.Same(t, "testdata/story-sidecars.txt", tuitest.Plain(s.Until("workloads › sidecars", "mesh on all workloads", "10 matched")))
	s.Press("enter")
	s.Until("PODS")
	s.Press("p")
	s.Until("plan of sidecarset/mesh", "done after")
	s.Press("end")
	s.Until("10 new", "0 old")
	s.Press("esc", "esc")
	s.Until("mesh on all workloads")
	pass(5 * time.Minute)
	s.Until("10 matched, 10 updated, 10 ready")
}

// TestStory_MissingSecretIsExplained: a secret is missing in a namespace; the user finds out why.
func TestStory_MissingSecretIsExplained(t *testing.T) {
	s, _ := visit(t)
	s.Press("3")
	golden.Same(t, "testdata/story-distributions.txt", tuitest.Plain(s.Until("workloads › distributions", "conflict: the object exists")))
	s.Press("1")
	s.Until("storefront", "checkout")
}

// TestScreens_OnOtherTerminals: the same screen for light terminals, those of sixteen colours, and those
// without symbols.
func TestScreens_OnOtherTerminals(t *testing.T) {
	for name, o := range map[string]draw.ThemeOptions{
		"light": {Colors: draw.Many, Light: true}, "sixteen": {Colors: draw.Sixteen}, "ascii": {ASCII: true},
	} {
		still := tuitest.NewStill(two())
		s := tuitest.Start(t, tui.Options{Source: still, Actions: still, Theme: o}, tuitest.Sizes[0])
		golden.Same(t, "testdata/look-"+name+".ansi", s.Until("web", "ledger")+"\n")
	}
}

// TestMouse_SelectsOpensAndScrolls: a click selects, another opens, the wheel scrolls.
func TestMouse_SelectsOpensAndScrolls(t *testing.T) {
	s, _ := start(t, two())
	click := tea.MouseClickMsg{X: 20, Y: 5, Button: tea.MouseLeft}
	s.Send(click)
	s.Until("◐ web:")
	s.Send(tea.MouseWheelMsg{X: 20, Y: 5, Button: tea.MouseWheelUp})
	s.Until("‖ ledger:")
	s.Send(click)
	s.Send(click)
	s.Until("› cloneset/web", "loading the pods")
}
