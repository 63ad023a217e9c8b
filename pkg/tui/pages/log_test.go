package pages_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/tuitest"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/diagnose"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

var (
	now = time.Date(2026, 3, 1, 3, 0, 0, 0, time.UTC)
	web = cluster.Ref{Group: "apps.kruise.io", Kind: "CloneSet", Namespace: "shop", Name: "web"}
)

// at is a pod of two containers, of which the second crashes, with its logs.
func logOf(open screen.Open) (tui.Options, *tuitest.Still) {
	p := &cluster.Pod{
		Namespace: "shop", Name: "web-x7k2p", UID: "1", Phase: corev1.PodRunning,
		Containers: []cluster.Container{{Name: "app", Reported: true, Ready: true}, {Name: "cache", Reported: true, Waiting: "CrashLoopBackOff", Restarts: 4}},
	}
	d := &world.Detail{Ref: web, Question: diagnose.Question{Snapshot: plan.Snapshot{Pods: []*cluster.Pod{p}}}}
	still := tuitest.NewStill(world.World{
		Now: now, At: now, Loaded: true, Where: world.Where{Context: "lab"}, Workloads: []*world.Workload{{Ref: web}}, Detail: d,
	})
	for i := range 50 {
		still.Tell("app", fmt.Sprintf("2026-03-01T02:%02d:00Z INFO GET /items/%d 200", i, i*37%100))
	}
	still.Tell("cache", "starting", "ERROR no room for the cache")
	still.Tell("cache previous", "starting", "panic: out of memory")
	open.Screen, open.Ref, open.Pod = screen.Logs, web, "web-x7k2p"
	return tui.Options{Source: still, Actions: still, First: open}, still
}

func TestLog_EqualsTheGoldens(t *testing.T) {
	o, _ := logOf(screen.Open{Container: "app"})
	tuitest.Golden(t, "logs", o, func(s *tuitest.Session) string { return s.Until("container app", "following", "02:49:00Z") })
	o, _ = logOf(screen.Open{Container: "app"})
	tuitest.Golden(t, "log-search", o, func(s *tuitest.Session) string {
		s.Until("02:49:00Z")
		s.Press("g", "/").Type("items/7").Press("enter", "n")
		return s.Until("/items/7 2 of 6", "tab container")
	})
	o, _ = logOf(screen.Open{Text: "previous"})
	tuitest.Golden(t, "previous", o, func(s *tuitest.Session) string {
		return s.Until("before its last restart", "out of memory", "the log ends here")
	})
}

// TestLog_OpensTheFailingContainer checks the container that is shown if none is named.
func TestLog_OpensTheFailingContainer(t *testing.T) {
	o, _ := logOf(screen.Open{})
	tuitest.Start(t, o, tuitest.Sizes[1]).Until("container cache", "ERROR no room")
}

// TestLog_FollowsTheLog checks that new lines are shown until the user scrolls up or pauses.
func TestLog_FollowsTheLog(t *testing.T) {
	o, still := logOf(screen.Open{Container: "app"})
	s := tuitest.Start(t, o, tuitest.Sizes[0])
	s.Until("02:49:00Z")
	still.Tell("app", "a new line")
	s.Until("a new line", "following")
	s.Press("up", "up")
	s.Until("paused here")
	still.Tell("app", "a newer line", "the newest line")
	s.Until("of 53")
	s.Gone("newer line")
	s.Press("f")
	s.Until("the newest line", "following")
}

// TestLog_ChoosesContainers chooses by key and by name, and checks that the previous log is
// closed.
func TestLog_ChoosesContainers(t *testing.T) {
	o, still := logOf(screen.Open{Container: "app"})
	s := tuitest.Start(t, o, tuitest.Sizes[1])
	s.Until("02:49:00Z")
	s.Press("tab")
	s.Until("container cache", "ERROR no room")
	s.Press("p")
	s.Until("before its last restart", "out of memory")
	s.Press("p")
	s.Until("ERROR no room")
	s.Press(":").Type("container app").Press("enter")
	s.Until("container app", "02:49:00Z")
	s.Press(":").Type("container missing").Press("enter")
	s.Until("the pod has no container missing")
	still.Open(t, 1)
}

// TestLog_ClosesItsLog checks that the log of a closed screen is not followed any more.
func TestLog_ClosesItsLog(t *testing.T) {
	o, still := logOf(screen.Open{Container: "app"})
	s := tuitest.Start(t, o, tuitest.Sizes[1])
	s.Until("02:49:00Z")
	still.Open(t, 1)
	s.Press("esc")
	s.Until("1 workload")
	still.Tell("app", "not read by the screen")
	still.Open(t, 0)
}

// TestLog_WithoutALog reports why, and tries again.
func TestLog_WithoutALog(t *testing.T) {
	o, still := logOf(screen.Open{Container: "app", Text: "previous"})
	s := tuitest.Start(t, o, tuitest.Sizes[0])
	s.Until("container app previous has no log", "r tries again")
	still.Tell("app previous", "one line")
	s.Press("r")
	s.Until("one line", "the log ends here")
}

// TestLog_OfADeletedPod: it says so.
func TestLog_OfADeletedPod(t *testing.T) {
	o, _ := logOf(screen.Open{})
	o.First.Pod = "web-gone"
	tuitest.Start(t, o, tuitest.Sizes[0]).Until("the pod does not exist")
}

// program is a shell that ends at once.
type program struct{ err error }

func (p program) Run() error        { return p.err }
func (program) SetStdin(io.Reader)  {}
func (program) SetStdout(io.Writer) {}
func (program) SetStderr(io.Writer) {}

// TestShell_TakesTheTerminal checks that x runs a shell in the terminal, and that its error is
// shown.
func TestShell_TakesTheTerminal(t *testing.T) {
	o, still := logOf(screen.Open{Container: "app"})
	s := tuitest.Start(t, o, tuitest.Sizes[1])
	s.Until("02:49:00Z")
	s.Press("x")
	s.Until("no shell here")
	still.Program = program{}
	s.Press("x")
	s.Until("the shell in web-x7k2p ended")
	still.Program = program{errors.New("no /bin/sh")}
	s.Press("x")
	s.Until("the shell ended: no /bin/sh")
}

// TestShell_IsRefusedReadOnly checks --read-only: a shell can change things.
func TestShell_IsRefusedReadOnly(t *testing.T) {
	o, _ := logOf(screen.Open{Container: "app"})
	o.ReadOnly = true
	s := tuitest.Start(t, o, tuitest.Sizes[1])
	if frame := s.Until("02:49:00Z"); strings.Contains(tuitest.Plain(frame), "x shell") {
		t.Error("a shell is offered")
	}
	s.Press("x")
	s.Until("read-only: nothing is changed")
}
