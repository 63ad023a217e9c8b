package tui_test

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/tuitest"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

var (
	now    = time.Date(2026, 3, 1, 3, 0, 0, 0, time.UTC)
	web    = cluster.Ref{Group: "apps.kruise.io", Kind: "CloneSet", Namespace: "shop", Name: "web"}
	ledger = cluster.Ref{Group: "apps.kruise.io", Kind: "StatefulSet", Namespace: "pay", Name: "ledger"}
	middle = tuitest.Sizes[1]
)

func two() world.World {
	pods := plan.Tally{Desired: 3, Total: 3, Ready: 3, Updated: 1, UpdatedReady: 1}
	return world.World{
		Now: now, At: now, Loaded: true, Where: world.Where{Context: "lab"},
		Workloads: []*world.Workload{
			{Ref: ledger, Driver: plan.DriverKruise, Health: world.Paused, Pods: pods, Why: "waiting for approval"},
			{Ref: web, Driver: plan.DriverNative, Health: world.Progressing, Pods: pods},
		},
	}
}

func start(t *testing.T, w world.World) (*tuitest.Session, *tuitest.Still) {
	t.Helper()
	still := tuitest.NewStill(w)
	s := tuitest.Start(t, tui.Options{Source: still, Actions: still}, middle)
	if w.Loaded {
		s.Until("web", "ledger")
	}
	return s, still
}

// TestAct_AsksForConfirmation checks that the prompt names context and effect, and that only y
// carries it out.
func TestAct_AsksForConfirmation(t *testing.T) {
	s, still := start(t, two())
	s.Press(">")
	s.Until("Promote statefulset/ledger?", "this would promote 1", "context     lab", "namespace   pay", "y yes", "esc no")
	s.Press("n")
	s.Until("n does nothing here: y confirms, esc cancels")
	s.Press("esc")
	s.Gone("y yes")
	s.Press(">")
	s.Until("this would promote 1", "y yes")
	s.Press("y")
	s.Until("promote: done")
	if diff := cmp.Diff([]world.Act{{Verb: world.Promote, On: []cluster.Ref{ledger}}}, still.Acts()); diff != "" {
		t.Errorf("acts (-want +got):\n%s", diff)
	}
}

// TestProduction_AsksForTheName checks that neither y nor another name confirms.
func TestProduction_AsksForTheName(t *testing.T) {
	w := two()
	w.Where.Production = true
	s, still := start(t, w)
	s.Press("a")
	s.Until("production", "type ledger and enter")
	s.Type("yes").Press("enter", "backspace", "backspace", "backspace").Type("ledger")
	s.Until("enter: ledger")
	if len(still.Acts()) > 0 {
		t.Fatal("it was done without the name")
	}
	s.Press("enter")
	s.Until("abort: done")
}

// TestValue_IsAskedForFirst: scale and partition ask for a value first; what cannot be done says why.
func TestValue_IsAskedForFirst(t *testing.T) {
	s, still := start(t, two())
	s.Press("s").Type("bad").Press("enter")
	s.Until("bad is not valid", "esc back")
	s.Press("esc", "s").Type("7")
	s.Until("how many pods: 7")
	s.Press("enter")
	s.Until("Scale statefulset/ledger to 7 pods?", "y yes")
	s.Press("y")
	s.Until("scale: done")
	if acts := still.Acts(); len(acts) != 1 || acts[0].Value != "7" {
		t.Errorf("%v", acts)
	}
}

// TestActions_AreForAllMarked: an act is about all that is marked.
func TestActions_AreForAllMarked(t *testing.T) {
	s, _ := start(t, two())
	s.Press("space", "space", "R")
	s.Until("Restart all containers in all pods of statefulset/ledger, cloneset/web?", "namespace   pay, shop", "this would restart 2")
}

// TestReadOnly_HidesAndRefusesChanges hides what changes the cluster, and refuses it.
func TestReadOnly_HidesAndRefusesChanges(t *testing.T) {
	still := tuitest.NewStill(two())
	s := tuitest.Start(t, tui.Options{Source: still, Actions: still, ReadOnly: true}, middle)
	if frame := s.Until("read-only", "web"); strings.Contains(tuitest.Plain(frame), "promote  ") {
		t.Error("the last line offers to promote")
	}
	s.Press(">")
	s.Until("read-only: nothing is changed from here")
	s.Press("?")
	if frame := s.Until("Everywhere"); strings.Contains(frame, "undo") {
		t.Error("the page of help offers to undo")
	}
}

// TestHelp_ListsKeysAndIsSearched: the page is made of the tables of keys, says where one is, and is searched.
func TestHelp_ListsKeysAndIsSearched(t *testing.T) {
	s, _ := start(t, two())
	s.Press("?")
	s.Until("Act, after a question", "This screen: workloads", "Everywhere", "Go to", "Lists", "roll back to the previous revision")
	s.Press("/").Type(":").Press("enter")
	s.Until("Commands", ":promote", ":quit", "continue with its next step")
	s.Press("esc", "tab")
	s.Until("lines 1 to", "more below")
	s.Press("G")
	s.Until(":quit", "the end")
	s.Press("tab")
	s.Gone(":quit")
	s.Press("esc")
	s.Until("cloneset/web")
}

// TestCommand_CompletesWithTab: tab completes commands and what they take.
func TestCommand_CompletesWithTab(t *testing.T) {
	s, _ := start(t, two())
	s.Press(":").Type("so").Press("tab")
	s.Until(":sort", "health name updated")
	s.Type("na").Press("tab", "enter")
	s.Until("by name")
	s.Press(":").Type("nonsense").Press("enter")
	s.Until("there is no command nonsense")
	s.Press(":").Type("scale 4").Press("enter")
	s.Until("Scale statefulset/ledger to 4 pods?")
	s.Press("esc", ":").Type("q").Press("enter")
	s.Ended()
}

// TestConnection_LostKeepsTheLastState keeps the last state, and its age; then it is there again.
func TestConnection_LostKeepsTheLastState(t *testing.T) {
	s, still := start(t, two())
	w := two()
	w.Now, w.Link = now.Add(40*time.Second), world.Link{Lost: "connection refused"}
	still.Show(w)
	s.Until("lost; as of 40s ago", "cloneset/web", "─ connection refused ─")
	w.Link, w.At = world.Link{}, w.Now
	still.Show(w)
	s.Until("✓ live")
}

// TestLoading_ShowsAScreen: there is something to see before anything is known.
func TestLoading_ShowsAScreen(t *testing.T) {
	s, still := start(t, world.World{Loading: "workloads, 12 of 40 kinds"})
	s.Until("loading workloads, 12 of 40 kinds")
	still.Show(two())
	s.Until("cloneset/web")
}

// TestQuit_AsksWhileARolloutRuns where a rollout would stop with the program.
func TestQuit_AsksWhileARolloutRuns(t *testing.T) {
	w := two()
	w.Running = []cluster.Ref{web}
	s, _ := start(t, w)
	s.Press("q")
	s.Until("Leave while 1 rollout is in progress?", "resume cloneset/web -n shop --context lab", "y yes")
	s.Press("n")
	s.Until("n does nothing here: y leaves, esc stays")
	s.Press("esc")
	s.Gone("Leave while")
	s.Press("q")
	s.Until("y yes")
	s.Press("y")
	s.Ended()
}

// TestQuit_AsksAlsoWhenTheRolloutsHaveEnded: a box with yes and no has a question.
func TestQuit_AsksAlsoWhenTheRolloutsHaveEnded(t *testing.T) {
	w := two()
	w.Running = []cluster.Ref{web}
	s, still := start(t, w)
	s.Press("q")
	s.Until("Leave while")
	still.Show(two())
	s.Until("have ended. Leave now?", "y yes")
}

// TestEscape_AndAKeyRightAfterIt: terminals send both as alt and the key; neither of the two may be lost, or what is typed next
// answers a question that the user has left.
func TestEscape_AndAKeyRightAfterIt(t *testing.T) {
	alt := func(k tea.Key) tea.KeyPressMsg {
		k.Mod |= tea.ModAlt
		return tea.KeyPressMsg(k)
	}
	s, still := start(t, two())
	s.Press("?")
	s.Until("Act, after a question")
	s.Send(alt(tea.Key{Code: tea.KeyEscape}))
	s.Gone("Act, after a question")
	s.Press("u")
	s.Until("y yes")
	s.Send(alt(tea.Key{Code: 's'}))
	s.Type("7")
	s.Until("how many pods: 7")
	s.Send(alt(tea.Key{Code: tea.KeyBackspace})) // deletes a word of the text
	s.Gone("how many pods: 7")
	s.Press("esc")
	s.Press("u")
	s.Until("y yes")
	s.Send(alt(tea.Key{Code: 'y'}))
	s.Until("as YAML")
	s.Send(alt(tea.Key{Code: 'p', Mod: tea.ModShift, ShiftedCode: 'P'}))
	s.Until("Pause or resume")
	if acts := still.Acts(); len(acts) > 0 {
		t.Errorf("%v", acts)
	}
}

// TestAct_OnADeletedWorkload: a line says that it is gone, and nothing is asked about its pods.
func TestAct_OnADeletedWorkload(t *testing.T) {
	s, still := start(t, two())
	s.Press("down", "enter")
	s.Until("› cloneset/web")
	w := two()
	w.Workloads = w.Workloads[:1]
	still.Show(w)
	s.Until("does not exist; esc goes back")
	s.Press("R")
	s.Until("✖ cloneset/web does not exist")
	s.Gone("Restart")
}

// TestResize_FramesHaveTheSize: every size from the smallest to the largest has frames of just that size.
func TestResize_FramesHaveTheSize(t *testing.T) {
	s, _ := start(t, two())
	for _, size := range []tuitest.Size{tuitest.Sizes[0], tuitest.Sizes[2], {Width: 61, Height: 21}, {Width: 61, Height: 22}, {Width: 20, Height: 5}, {Width: 7, Height: 2}, {Width: 1, Height: 1}} {
		s.Send(tea.WindowSizeMsg{Width: size.Width, Height: size.Height})
		frame := s.OfSize(size)
		if !strings.Contains(tuitest.Plain(frame), "q quit") && size.Width >= 60 {
			t.Errorf("%v: no keys:\n%s", size, tuitest.Plain(frame))
		}
	}
}

// TestFrame_IsSafeFromHostileText: what the cluster says cannot do anything to the terminal.
func TestFrame_IsSafeFromHostileText(t *testing.T) {
	w := two()
	w.Workloads[0].Why = "pwned \x1b]0;title\x07 \u202e \u009b2J"
	s, _ := start(t, w)
	if frame := s.Until("pwned"); strings.Contains(frame, "\x1b]0") || strings.ContainsAny(frame, "\x07\u202e\u009b") {
		t.Errorf("%q", frame)
	}
}

// TestNotice_Expires checks that the keys are shown again after a while.
func TestNotice_Expires(t *testing.T) {
	s, still := start(t, two())
	s.Press("esc")
	s.Until("this is the first screen")
	still.Show(two())
	w := two()
	w.Now = now.Add(time.Second)
	still.Show(w)
	s.Until("03:00:01", "this is the first screen")
	w.Now = now.Add(time.Minute)
	still.Show(w)
	s.Until("03:01:00", "enter open")
}
