package view

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/internal/view/svg"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// RolloutLines prints a rollout for a pipe or a log: a line with a time for each
// thing that changes, a heartbeat when nothing does, and one summary at the end.
type RolloutLines struct {
	Out   io.Writer
	Style Style
	// Approve is the command that approves a step; "" names none.
	Approve string

	plan   event.Plan
	counts event.Counts
	begun  time.Time
	last   time.Time
	// waits is what the rollout waits for, repeated as a heartbeat, and gate what
	// kind of thing that is.
	waits, gate string
	// counted is when the counts were printed last, stale whether they have changed
	// since.
	counted time.Time
	stale   bool
	err     error
}

// heartbeat is how long nothing is printed at most.
const heartbeat = 10 * time.Second

// Event prints one event.
func (l *RolloutLines) Event(e event.Event) {
	if l.begun.IsZero() {
		l.begun = e.Time
	}
	switch e.Type {
	case event.Opened:
		l.open(e)
	case event.RollingBack:
		l.plan = *e.Plan
		l.line(e.Time, yellow, "rolling back, because %s", e.Text)
	case event.StepBegun:
		l.line(e.Time, bold, "%s: %s", l.stepName(e.Step), e.Text)
	case event.StepDone:
		l.count(e.Time, 0)
		l.gate = ""
		l.line(e.Time, green, "%s is done", l.stepName(e.Step))
	case event.Acted:
		l.line(e.Time, "", "  %s", e.Request)
	case event.Refused:
		l.line(e.Time, yellow, "  refused for now, trying again: %s", e.Text)
	case event.Pods:
		l.counts, l.stale = *e.Counts, true
		l.count(e.Time, atMost)
	case event.Waiting:
		l.wait(e)
	case event.Paused:
		l.waits = pausedText(e, l.Approve)
		l.line(e.Time, yellow, "  %s", l.waits)
	case event.Halted:
		l.line(e.Time, red, "failed: %s", blockersText(e))
	case event.Note:
		l.line(e.Time, "", "%s", e.Text)
	case event.Ended:
		l.end(e)
	}
}

// atMost is how often counts are printed: thousands of pods change thousands of
// times.
const atMost = time.Second

// count prints the pods, unless it has just done so.
func (l *RolloutLines) count(at time.Time, every time.Duration) {
	if !l.stale || at.Sub(l.counted) < every {
		return
	}
	l.stale, l.counted = false, at
	l.line(at, "", "  %s", countsText(l.counts))
}

// wait prints what the rollout waits for when that is another kind of thing than
// before; numbers that go up are in the counts.
func (l *RolloutLines) wait(e event.Event) {
	l.waits = "waiting: " + blockersText(e)
	var gates []string
	for i, b := range e.Blockers {
		if i == 0 || urgent[b.Gate] {
			gates = append(gates, b.Gate)
		}
		if urgent[b.Gate] {
			gates = append(gates, b.Pod)
		}
	}
	if gate := strings.Join(gates, " "); gate != l.gate {
		l.gate = gate
		l.line(e.Time, faint, "  %s", l.waits)
	}
}

// urgent are gates that need attention.
var urgent = map[string]bool{
	plan.GateCrash: true, plan.GateImage: true, plan.GateSchedule: true, plan.GateBudget: true, plan.GateHook: true,
}

// Beat prints a heartbeat when nothing was printed for long enough.
func (l *RolloutLines) Beat(now time.Time) {
	l.count(now, atMost)
	if l.last.IsZero() || now.Sub(l.last) < heartbeat {
		return
	}
	text := "in progress"
	if l.waits != "" {
		text = l.waits
	}
	l.line(now, faint, "  %s; %s", text, countsText(l.counts))
}

// Err returns the first error of writing.
func (l *RolloutLines) Err() error { return l.err }

func (l *RolloutLines) open(e event.Event) {
	l.plan, l.counts = *e.Plan, *e.Counts
	words := []string{nameOf(e.Workload), "driver " + l.plan.Driver, counted.Of(len(l.plan.Steps), "step")}
	if l.plan.Mode != "" {
		words = append(words, modeText(rules.UpdateMode(l.plan.Mode), l.plan.Restarts))
	}
	l.line(e.Time, "", "%s; %s", strings.Join(words, ", "), countsText(l.counts))
	if l.plan.At > 0 && l.plan.At < len(l.plan.Steps) {
		l.line(e.Time, "", "continuing at %s", l.stepName(l.plan.At))
	}
}

func nameOf(w event.Workload) string {
	name := w.Name
	if w.Namespace != "" {
		name = w.Namespace + "/" + name
	}
	return strings.ToLower(w.Kind) + " " + name
}

func (l *RolloutLines) stepName(i int) string {
	if i < 0 || i >= len(l.plan.Steps) {
		return "step"
	}
	return fmt.Sprintf("step %d/%d %s", i+1, len(l.plan.Steps), l.plan.Steps[i].Name)
}

func (l *RolloutLines) end(e event.Event) {
	text := fmt.Sprintf("%s after %s: %s", outcomeOf[e.Outcome], svg.Span(e.Time.Sub(l.begun)), countsText(*e.Counts))
	if e.Text != "" {
		text += "; " + plan.InWords(e.Text)
	}
	l.line(e.Time, colorOf[e.Outcome], "%s", text)
}

var outcomeOf = map[event.Outcome]string{
	event.Completed: "completed", event.Failed: "failed", event.RolledBack: "rolled back", event.AtPause: "paused",
	event.TimedOut: "timed out", event.Interrupted: "interrupted", event.TakenOver: "taken over",
}

var colorOf = map[event.Outcome]string{
	event.Completed: green, event.Failed: red, event.RolledBack: red, event.AtPause: yellow,
	event.TimedOut: red, event.Interrupted: yellow, event.TakenOver: yellow,
}

func countsText(c event.Counts) string {
	return fmt.Sprintf("%d of %d updated, %d ready", c.Updated, max(c.Desired, c.Total), c.Ready)
}

// blockersText names what is missing, the first few.
func blockersText(e event.Event) string {
	if len(e.Blockers) == 0 {
		return e.Text
	}
	var out []string
	for _, b := range e.Blockers {
		out = append(out, plan.Blocker(b).Sentence())
	}
	if len(out) > mostBlockers {
		out = append(out[:mostBlockers], fmt.Sprintf("and %d more", len(out)-mostBlockers))
	}
	return strings.Join(out, "; ")
}

// pausedText reports that the rollout waits for a user, and with which command approve they go on.
func pausedText(e event.Event, approve string) string {
	text := blockersText(e)
	switch {
	case !isApproval(e):
		return "paused: " + text
	case approve != "":
		return text + ": '" + approve + "' approves and continues"
	}
	return text
}

// isApproval reports whether an event is about a step that waits for approval.
func isApproval(e event.Event) bool {
	return len(e.Blockers) > 0 && e.Blockers[0].Gate == plan.GatePromote
}

// mostBlockers is how many a line names.
const mostBlockers = 3

func (l *RolloutLines) line(at time.Time, color, format string, args ...any) {
	l.last = at
	text := at.Local().Format(time.TimeOnly) + " " + l.Style.paint(color, fmt.Sprintf(format, args...))
	if _, err := fmt.Fprintln(l.Out, text); err != nil && l.err == nil {
		l.err = err
	}
}
