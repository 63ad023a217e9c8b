package tui_test

import (
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/golden"
	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/tuitest"
)

// TestStory_CrashingPod opens a pod of a failing rollout, reads the log from before its restart,
// and compares the revisions.
func TestStory_CrashingPod(t *testing.T) {
	s, _ := visit(t)
	s.Press("/").Type("checkout").Press("enter", "enter")
	s.Until("PODS", "failed at step")
	s.Press("enter")
	golden.Same(t, "testdata/story-pod.txt", tuitest.Plain(s.Until("CONTAINER", "checkout:2.0.0-rc1", "BLOCKED BY", "EVENTS")))
	s.Press("p")
	s.Until("before its last restart", "the log ends here")
	s.Press("/").Type("currency").Press("enter")
	golden.Same(t, "testdata/story-log.txt", tuitest.Plain(s.Until("/currency 1 of", "tab container")))
	s.Press("esc", "esc", "y")
	s.Until("as YAML", "kind: Pod")
	s.Press("esc", "d")
	s.Until("describe pod/checkout-", "Controlled By:  CloneSet/checkout")
	s.Press("esc", "x")
	s.Until("the containers of the demo have no shell")
	s.Press("esc", "D")
	golden.Same(t, "testdata/story-diff.txt", tuitest.Plain(s.Until("FIELDS", "+  - image: registry.example.com/orders/checkout:2.0.0-rc1", "older")))
}

// TestStory_RestartOneContainer restarts one container of one pod, and nothing else.
func TestStory_RestartOneContainer(t *testing.T) {
	s, pass := visit(t)
	s.Press("/").Type("node-agent").Press("enter", "enter")
	s.Until("PODS", "healthy")
	s.Press("enter")
	s.Until("CONTAINER", "agent:5", "EVENTS")
	s.Press("R")
	s.Until("Restart container agent in pod node-agent-", "Containers of 1 pod restart in place.", "all pods of daemonset/node-agent", "y yes")
	s.Press("y")
	s.Until("\n daemonset/node-agent: restarting containers in 1 pod")
	pass(time.Minute)
	s.Until("container agent started again")
}

// TestStory_FollowALog checks that a log continues while the user reads, without moving.
func TestStory_FollowALog(t *testing.T) {
	s, pass := visit(t)
	s.Press("/").Type("search").Press("enter", "enter")
	s.Until("PODS")
	s.Press("l")
	s.Until("container app", "following", "11:59:57Z INFO")
	pass(10 * time.Second)
	s.Until("12:00:07Z INFO")
	s.Press("g")
	s.Until("paused here")
	pass(10 * time.Second)
	s.Press("f")
	s.Until("12:00:17Z INFO", "following")
}
