package ui

import (
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/tuitest"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui"
)

// TestScreens: the screens over a cluster: a rollout that waits is found, read, and
// promoted; then another namespace is looked at.
func TestScreens(t *testing.T) {
	a := shop(t)
	l := seeing(t, a, "shop", "")
	rolling(t, l)
	s := tuitest.Start(t, tui.Options{Source: l, Actions: l}, tuitest.Size{Width: 120, Height: 40})
	s.Until("cloneset/web", "deployment/api", "live")
	s.Press("enter").Until("web-a", "wait until somebody promotes")
	s.Press("n").Until("context", "test", "namespace", "shop", "next: let 1 more pods follow", "this program does")
	s.Press("y").Until("it goes on here", "carrying out 1")
	s.Press("q").Until("This program carries that out")
	s.Press("n").Type(":ns other").Press("enter").Until("namespace other")
	s.Gone("cloneset/web")
}
