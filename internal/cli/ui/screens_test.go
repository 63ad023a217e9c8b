package ui

import (
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/tuitest"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui"
)

// TestScreens_FindReadAndPromoteARollout: the screens over a cluster: a rollout that waits is found, read, and
// promoted; then another namespace is looked at.
func TestScreens_FindReadAndPromoteARollout(t *testing.T) {
	a := shop(t)
	l := seeing(t, a, "shop", "")
	rolling(t, l)
	s := tuitest.Start(t, tui.Options{Source: l, Actions: l}, tuitest.Size{Width: 120, Height: 40})
	s.Until("cloneset/web", "deployment/api", "live")
	s.Press("enter").Until("web-a", "wait for approval")
	s.Press(">").Until("context", "test", "namespace", "shop", "1 more pod is updated: 2 of 2.", "No program runs the rollout", "y yes")
	s.Press("y").Until("the rollout is run here", "running 1 rollout")
	s.Press("q").Until("Leave while 1 rollout is in progress?", "y yes")
	s.Press("esc").Type(":ns other").Press("enter").Until("namespace other")
	s.Gone("cloneset/web")
}
