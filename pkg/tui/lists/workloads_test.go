package lists_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/tuitest"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

var now = time.Date(2026, 3, 1, 3, 0, 0, 0, time.UTC)

func row(namespace, kind, name string, h world.Health, pods plan.Tally) *world.Workload {
	return &world.Workload{
		Ref:    cluster.Ref{Group: "apps.kruise.io", Kind: kind, Namespace: namespace, Name: name},
		Driver: plan.DriverKruise, Health: h, Pods: pods, Created: now.Add(-36 * time.Hour),
		Labels: map[string]string{"app": name, "team": namespace}, Why: "all pods are as they should be",
	}
}

func shop() world.World {
	stuck := row("shop", "CloneSet", "storefront", world.Blocked, plan.Tally{Desired: 10, Total: 10, Ready: 9, Updated: 3, UpdatedReady: 2})
	stuck.Step, stuck.Steps, stuck.StepName, stuck.Why = 1, 4, "50%", "storefront-x7k2p does not become ready: CrashLoopBackOff"
	paused := row("pay", "StatefulSet", "ledger", world.Paused, plan.Tally{Desired: 5, Total: 5, Ready: 5, Updated: 1, UpdatedReady: 1})
	paused.Step, paused.Steps, paused.StepName, paused.Why = 1, 5, "wait-1", "waiting for approval"
	moving := row("shop", "CloneSet", "basket", world.Progressing, plan.Tally{Desired: 40, Total: 40, Ready: 38, Updated: 20, UpdatedReady: 18})
	moving.Step, moving.Steps, moving.StepName = 2, 4, "50%"
	native := row("shop", "Deployment", "mail", world.Degraded, plan.Tally{Desired: 3, Total: 2, Ready: 2, Updated: 2, UpdatedReady: 2})
	native.Driver, native.Why = plan.DriverNative, "one pod is missing: quota exceeded"
	return world.World{
		Now: now, At: now, Loaded: true, Where: world.Where{Context: "prod-eu"},
		Workloads: []*world.Workload{
			paused, row("pay", "DaemonSet", "audit", world.Healthy, plan.Tally{Desired: 12, Total: 12, Ready: 12, Updated: 12, UpdatedReady: 12}),
			moving, stuck, native,
		},
	}
}

func TestWorkloads_EqualTheGoldens(t *testing.T) {
	tuitest.Golden(t, "workloads", tui.Options{Source: tuitest.NewStill(shop())}, func(s *tuitest.Session) string {
		return s.Until("storefront", "audit")
	})
}

func TestWorkloads_NarrowedToTheGolden(t *testing.T) {
	still := tuitest.NewStill(shop())
	tuitest.Golden(t, "narrowed", tui.Options{Source: still, Actions: still}, func(s *tuitest.Session) string {
		s.Until("storefront")
		s.Press("space", "o", "f", "/").Type("sto")
		return s.Until("problems only", "/sto", "1 marked", "(1)")
	})
}

// TestWorkloads_PutsUrgentFirst: what is urgent comes first; o takes the next column, O turns it around,
// and the cursor stays at its workload.
func TestWorkloads_PutsUrgentFirst(t *testing.T) {
	s := tuitest.Start(t, tui.Options{Source: tuitest.NewStill(shop())}, tuitest.Sizes[1])
	inOrder(t, s.Until("by health"), "storefront", "mail", "ledger", "basket", "audit")
	s.Press("o")
	frame := s.Until("by name ↓")
	inOrder(t, frame, "audit", "basket", "ledger", "mail", "storefront")
	if !cursorAt(frame, "storefront") {
		t.Errorf("the cursor has left its workload:\n%s", tuitest.Plain(frame))
	}
	s.Press("O")
	inOrder(t, s.Until("by name ↑"), "storefront", "mail", "ledger", "basket", "audit")
}

func TestWorkloads_FilteredByNameKindOrLabel(t *testing.T) {
	for text, want := range map[string]string{
		"sfr": "storefront", "team=pay audit": "audit", "team!=shop,app=ledger": "ledger", "native": "mail",
	} {
		s := tuitest.Start(t, tui.Options{Source: tuitest.NewStill(shop())}, tuitest.Sizes[1])
		s.Until("storefront")
		s.Press("/").Type(text).Press("enter")
		if frame := tuitest.Plain(s.Until("(1)", "/"+text)); !strings.Contains(frame, want) {
			t.Errorf("%s: no %s:\n%s", text, want, frame)
		}
		s.Press("esc")
		s.Until("audit", "ledger", "mail", "basket", "storefront")
	}
}

// TestWorkloads_ThousandsOfWorkloads: rows that are not seen cost nothing, and the cursor scrolls them.
func TestWorkloads_ThousandsOfWorkloads(t *testing.T) {
	w := shop()
	for i := range 5000 {
		w.Workloads = append(w.Workloads, row("zone", "CloneSet", fmt.Sprintf("w-%04d", i), world.Healthy, plan.Tally{Desired: 1, Total: 1, Ready: 1, Updated: 1, UpdatedReady: 1}))
	}
	s := tuitest.Start(t, tui.Options{Source: tuitest.NewStill(w)}, tuitest.Sizes[0])
	s.Until("5005 workloads")
	s.Press("G")
	if frame := s.Until("w-4999"); !cursorAt(frame, "w-4999") {
		t.Errorf("the cursor is not at the end:\n%s", tuitest.Plain(frame))
	}
	s.Press("g")
	s.Until("storefront")
}

// TestWorkloads_CursorOfADeletedOne: the workload of the cursor and a marked one go away.
func TestWorkloads_CursorOfADeletedOne(t *testing.T) {
	still := tuitest.NewStill(shop())
	s := tuitest.Start(t, tui.Options{Source: still, Actions: still}, tuitest.Sizes[1])
	s.Until("storefront")
	s.Press("space")
	s.Until("1 marked")
	w := shop()
	w.Workloads = w.Workloads[:2]
	still.Show(w)
	s.Until("the marked workloads are gone")
	if frame := s.Gone("storefront"); strings.Contains(frame, "1 marked") {
		t.Errorf("a workload that is gone is still marked:\n%s", tuitest.Plain(frame))
	}
	s.Press(">")
	s.Until("Promote daemonset/audit?", "y yes")
}

func inOrder(t *testing.T, frame string, names ...string) {
	t.Helper()
	at := -1
	for _, name := range names {
		next := strings.Index(frame, name)
		if next < at {
			t.Errorf("%s is too high in the list:\n%s", name, tuitest.Plain(frame))
		}
		at = next
	}
}

func cursorAt(frame, name string) bool {
	for line := range strings.SplitSeq(tuitest.Plain(frame), "\n") {
		if strings.HasPrefix(line, "›") && strings.Contains(line, name) {
			return true
		}
	}
	return false
}

// TestNamespaces_WithACommonPrefixAreDistinct: names that begin alike are read far enough, also where there is
// little room, and the reason is not lost for it.
func TestNamespaces_WithACommonPrefixAreDistinct(t *testing.T) {
	w := shop()
	for i, space := range []string{"shop-orders", "shop-web", "shop-catalog", "shop-web", "shop-orders"} {
		one := *w.Workloads[i]
		one.Namespace = space
		w.Workloads[i] = &one
	}
	for size, names := range map[tuitest.Size][]string{{Width: 120, Height: 30}: {"shop-orders ", "shop-catalog "}, {Width: 80, Height: 24}: {"shop-or… ", "shop-web ", "shop-ca… "}} {
		tuitest.Start(t, tui.Options{Source: tuitest.NewStill(w)}, size).Until(append(names, "WHY", "storefr")...)
	}
}
