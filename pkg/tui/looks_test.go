package tui_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/golden"
	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/tuitest"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/demo"
)

// TestScreens_AsTheyLook: every screen, and what lies over one, in the shop of the demo, as text that a reader can look
// at, on a small and on a usual terminal; `make pictures` writes them.
func TestScreens_AsTheyLook(t *testing.T) {
	shop, err := demo.Start(t.Context(), demo.Options{Seed: 1, Now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)})
	if err != nil {
		t.Fatal(err)
	}
	open := func(command string, has ...string) func(*tuitest.Session) string {
		return func(s *tuitest.Session) string {
			s.Press(":").Type(command).Press("enter")
			return s.Until(has...)
		}
	}
	over := func(command, has, key string, then ...string) func(*tuitest.Session) string {
		return func(s *tuitest.Session) string {
			open(command, has)(s)
			s.Press(key)
			return s.Until(then...)
		}
	}
	for name, reach := range map[string]func(*tuitest.Session) string{
		"workloads":        func(s *tuitest.Session) string { return s.Until("storefront", "checkout") },
		"rollout-blocked":  open("rollout cloneset/checkout", "l logs", "u rolls back"),
		"rollout-approval": open("rollout cloneset/storefront", "PODS", "> promote"),
		"rollout-healthy":  open("rollout daemonset/node-agent", "PODS", "✓ healthy"),
		"rollout-degraded": open("rollout cloneset/basket", "PODS", "▲ degraded"),
		"rollout-sidecars": open("rollout sidecarset/mesh", "PODS", "◐ progressing"),
		"sidecars":         open("sidecars", "mesh on all workloads"),
		"distributions":    open("distributions", "conflict"),
		"plan":             open("plan cloneset/storefront", "done after"),
		"plan-failed":      open("plan cloneset/checkout", "a retry takes"),
		"diff":             open("diff cloneset/checkout", "› diff", "orders/checkout:1.9.4"),
		"pod":              over("rollout cloneset/checkout", "PODS", "enter", "CONTAINER", "up to date with cloneset/checkout"),
		"logs": func(s *tuitest.Session) string {
			over("rollout cloneset/checkout", "PODS", "l", "container app")(s)
			s.Press("p")
			return s.Until("before its last restart", "the log ends here")
		},
		"yaml":           over("rollout cloneset/checkout", "PODS", "y", "apiVersion"),
		"describe":       over("rollout cloneset/checkout", "PODS", "d", "Revisions:"),
		"ask-promote":    over("rollout cloneset/storefront", "PODS", ">", "error lines/min", "y yes", "esc no"),
		"ask-retry":      over("rollout cloneset/checkout", "PODS", "P", "Retry", "y yes", "esc no"),
		"ask-undo":       over("rollout cloneset/checkout", "PODS", "u", "y yes", "esc no"),
		"ask-abort":      over("rollout cloneset/storefront", "PODS", "a", "y yes", "esc no"),
		"ask-restart":    over("rollout cloneset/storefront", "PODS", "R", "y yes", "esc no"),
		"help-workloads": over("workloads", "storefront", "?", "Act, after a question"),
		"help-rollout":   over("rollout cloneset/checkout", "PODS", "?", "Act, after a question"),
		"copied":         over("rollout cloneset/checkout", "PODS", "c", "copied cloneset/checkout"),
	} {
		for _, size := range []tuitest.Size{{Width: 80, Height: 24}, {Width: 120, Height: 40}} {
			t.Run(fmt.Sprintf("%s-%dx%d", name, size.Width, size.Height), func(t *testing.T) {
				s := tuitest.Start(t, tui.Options{Source: shop, Actions: shop}, size)
				s.Until("storefront", "checkout")
				golden.Same(t, fmt.Sprintf("testdata/screens/%s-%dx%d.txt", name, size.Width, size.Height), tuitest.Plain(reach(s)))
			})
		}
	}
}
