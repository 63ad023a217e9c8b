package tui_test

import (
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/golden"
	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/tuitest"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/demo"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
)

// TestPictures_OfTheDocs draws the pictures of the docs, from the program in the shop of the
// demo: `make pictures` writes them.
func TestPictures_OfTheDocs(t *testing.T) {
	for name, reach := range map[string]func(*tuitest.Session) string{
		"workloads": func(s *tuitest.Session) string { return s.Until("storefront", "checkout", "node-agent") },
		"stuck": func(s *tuitest.Session) string {
			s.Press("f").Until("problems only")
			s.Press("enter")
			return s.Until("failed at step", "u rolls back")
		},
		"promote": func(s *tuitest.Session) string {
			s.Press("/").Type("storefront").Press("enter", "enter").Until("PODS", "waiting for approval")
			s.Press(">")
			return s.Until("2 more pods are updated next: 3 of 12.", "error lines/min", "y yes")
		},
		"sidecars": func(s *tuitest.Session) string {
			s.Press("2")
			return s.Until("1 SidecarSet", "mesh on all workloads")
		},
		"distributions": func(s *tuitest.Session) string {
			s.Press("3")
			return s.Until("recommend", "search-zones", "registry-login")
		},
	} {
		t.Run(name, func(t *testing.T) {
			shop, err := demo.Start(t.Context(), demo.Options{Seed: 1, Now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)})
			if err != nil {
				t.Fatal(err)
			}
			o := tui.Options{Source: shop, Actions: shop, Theme: draw.ThemeOptions{Colors: draw.Many}}
			s := tuitest.Start(t, o, tuitest.Size{Width: 112, Height: 32})
			s.Until("storefront", "checkout", "node-agent")
			golden.Same(t, "../../docs/pictures/"+name+".svg", tuitest.Picture(reach(s)))
		})
	}
}
