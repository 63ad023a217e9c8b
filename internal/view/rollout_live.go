package view

import (
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/internal/view/svg"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
)

// RolloutLive is a rollout as a terminal shows it: one picture that is drawn again
// whenever something changes. It holds no terminal: events go in, lines come out.
type RolloutLive struct {
	Style Style
	// Approve is the command that approves a step; "" names none.
	Approve string

	workload string
	plan     event.Plan
	counts   event.Counts
	first    event.Counts
	at       int
	begun    time.Time
	// stepBegun and stepEnded are times by step.
	stepBegun, stepEnded map[int]time.Time
	// state is the type of the last event about its status, blocked what it
	// said.
	state   event.Type
	blocked event.Event
	// idle is how long it has waited for people, idleSince when the present wait began.
	idle      time.Duration
	idleSince time.Time
	back      string
	notice    string
	ended     *event.Event
}

// Event takes one event in.
func (l *RolloutLive) Event(e event.Event) {
	if l.begun.IsZero() {
		l.begun, l.workload = e.Time, nameOf(e.Workload)
	}
	l.count(e)
	switch e.Type {
	case event.Opened:
		l.first = l.counts
		l.begin(*e.Plan)
	case event.RollingBack:
		l.back, l.first = e.Text, l.counts
		l.begin(*e.Plan)
	case event.StepBegun:
		l.at, l.stepBegun[e.Step] = e.Step, e.Time
		l.enter(e, event.StepBegun)
	case event.StepDone:
		l.stepEnded[e.Step], l.at = e.Time, e.Step+1
		l.enter(e, event.StepDone)
	case event.Waiting, event.Paused, event.Halted:
		l.enter(e, e.Type)
	case event.Acted:
		l.enter(e, event.Acted)
		l.notice = e.Request
	case event.Refused:
		l.notice = "refused for now, trying again: " + e.Text
	case event.Note:
		l.notice = e.Text
	case event.Ended:
		l.ended = &e
	}
}

func (l *RolloutLive) count(e event.Event) {
	if e.Counts != nil {
		l.counts = *e.Counts
	}
}

func (l *RolloutLive) begin(p event.Plan) {
	l.plan, l.at, l.state = p, p.At, event.Opened
	l.stepBegun, l.stepEnded = map[int]time.Time{}, map[int]time.Time{}
}

// enter notes a new state, and since when approval is waited for.
func (l *RolloutLive) enter(e event.Event, state event.Type) {
	if l.state == event.Paused && !l.idleSince.IsZero() {
		l.idle += e.Time.Sub(l.idleSince)
		l.idleSince = time.Time{}
	}
	if state == event.Paused {
		l.idleSince = e.Time
	}
	l.state, l.blocked = state, e
}

// Frame is the picture at a time, for a terminal of a width and a height in
// characters; 0 is a terminal without bounds. No line is as wide as the terminal.
func (l *RolloutLive) Frame(now time.Time, width, height int) []string {
	if l.begun.IsZero() {
		return nil
	}
	if l.ended != nil {
		now = l.ended.Time
	}
	head := append([]string{l.headline()}, l.tree()...)
	tail := l.foot(now)
	room := len(l.plan.Steps)
	if height > 0 {
		room = max(height-1-len(head)-len(tail), 3)
	}
	out := append(append(head, l.steps(now, room)...), tail...)
	if height > 0 && len(out) > height-1 {
		out = out[:max(height-1, 1)]
	}
	for i := range out {
		out[i] = cutTo(strings.TrimRight(out[i], " "), width-1)
	}
	return out
}

func (l *RolloutLive) headline() string {
	words := []string{"driver " + l.plan.Driver}
	if l.plan.Mode != "" {
		words = append(words, modeText(rules.UpdateMode(l.plan.Mode), l.plan.Restarts))
	}
	text := l.Style.paint(bold, l.workload) + "  " + strings.Join(words, ", ")
	if l.back != "" {
		text += "  " + l.Style.paint(red, "rolling back: "+l.back)
	}
	return text
}

// tree is the workload's revisions with their pods, those by name that a user has
// to look at, and all of them as a bar.
func (l *RolloutLive) tree() []string {
	c := l.counts
	part, last := l.Style.branches()
	out := []string{
		fmt.Sprintf("%s%s  %s", part, revisionText(l.plan.From, "old"), podsReady(c.Total-c.Updated, c.Ready-c.UpdatedReady)),
		fmt.Sprintf("%s%s  %s", last, revisionText(l.plan.To, "new"), podsReady(c.Updated, c.UpdatedReady)),
	}
	if l.state == event.Waiting || l.state == event.Halted || l.state == event.Paused {
		out = append(out, l.leaves()...)
	}
	return append(out, "  "+bar(c, l.Style))
}

// leaves are pods that the rollout waits for.
func (l *RolloutLive) leaves() []string {
	var out []string
	_, leaf := l.Style.branches()
	more := 0
	for _, b := range l.blocked.Blockers {
		switch {
		case b.Pod == "":
		case len(out) == mostBlockers:
			more++
		default:
			color := yellow
			if urgent[b.Gate] {
				color = red
			}
			out = append(out, "   "+leaf+l.Style.paint(color, plan.Blocker(b).Sentence()))
		}
	}
	if more > 0 {
		out = append(out, fmt.Sprintf("   %sand %d more", leaf, more))
	}
	return out
}

func revisionText(name, what string) string {
	if name == "" {
		return what
	}
	return fmt.Sprintf("%s (%s)", name, what)
}

func podsReady(pods, ready int) string {
	return fmt.Sprintf("%s, %d ready", counted.Of(pods, "pod"), max(ready, 0))
}

// steps are the steps, those around the current one where there is no room for all.
func (l *RolloutLive) steps(now time.Time, room int) []string {
	steps := l.plan.Steps
	from, to := 0, len(steps)
	if to > room { // a line at each end counts those that are left out
		from, to = draw.StepsAround(len(steps), l.at, max(room-2, 1))
	}
	var out []string
	if from > 0 {
		out = append(out, fmt.Sprintf("  ... %s before", counted.Of(from, "step")))
	}
	for i := from; i < to; i++ {
		out = append(out, l.step(now, i))
	}
	if to < len(steps) {
		out = append(out, fmt.Sprintf("  ... %s", counted.Of(len(steps)-to, "more step")))
	}
	return out
}

func (l *RolloutLive) step(now time.Time, i int) string {
	s := l.plan.Steps[i]
	text := fmt.Sprintf("%d %s: %s", i+1, s.Name, s.Title)
	if begun, ok := l.stepBegun[i]; ok {
		end, over := l.stepEnded[i]
		if !over {
			end = now
		}
		text += "  " + svg.Span(end.Sub(begun))
	}
	return "  " + l.Style.step(l.stepState(i), text)
}

func (l *RolloutLive) stepState(i int) draw.StepState {
	completed := l.ended != nil && (l.ended.Outcome == event.Completed || l.ended.Outcome == event.RolledBack)
	switch {
	case i < l.at || completed:
		return draw.StepDone
	case i > l.at:
		return draw.StepNext
	case l.state == event.Halted || l.ended != nil && l.ended.Outcome == event.Failed:
		return draw.StepFailed
	case l.state == event.Paused:
		return draw.StepPaused
	}
	return draw.StepNow
}

// foot describes what happens now, and how long it takes.
func (l *RolloutLive) foot(now time.Time) []string {
	if l.ended != nil {
		text := fmt.Sprintf("%s after %s", outcomeOf[l.ended.Outcome], svg.Span(now.Sub(l.begun)))
		if l.ended.Text != "" {
			text += ": " + plan.InWords(l.ended.Text)
		}
		return []string{l.Style.paint(colorOf[l.ended.Outcome], text)}
	}
	var out []string
	switch l.state {
	case event.Waiting:
		out = append(out, l.Style.paint(faint, "waiting: "+blockersText(l.blocked)))
	case event.Paused:
		out = append(out, l.Style.paint(yellow, pausedText(l.blocked, "")))
		if l.Approve != "" && isApproval(l.blocked) {
			out = append(out, l.Approve) // in a line of its own: lines end at the edge of the terminal
		}
	case event.Halted:
		out = append(out, l.Style.paint(red, "failed: "+blockersText(l.blocked)))
	}
	if l.notice != "" {
		out = append(out, l.Style.paint(faint, "last: "+l.notice))
	}
	return append(out, l.time(now))
}

// time is how long it has taken, and how long it will at the pace so far.
func (l *RolloutLive) time(now time.Time) string {
	text := svg.Span(now.Sub(l.begun)) + " so far"
	if left, ok := l.left(now); ok {
		text += ", about " + svg.Span(left) + " left at this pace"
	}
	return text
}

// left is what the pods that are missing take, at the pace of those that came; time
// in which people were waited for is not counted.
func (l *RolloutLive) left(now time.Time) (time.Duration, bool) {
	came := l.counts.UpdatedReady - l.first.UpdatedReady
	spent := now.Sub(l.begun) - l.idle
	if came <= 0 || spent <= 0 || l.state == event.Paused || l.state == event.Halted {
		return 0, false
	}
	want := 0
	for _, s := range l.plan.Steps {
		want = max(want, s.Updated)
	}
	missing := want - l.counts.UpdatedReady
	if missing <= 0 {
		return 0, false
	}
	return (spent / time.Duration(came) * time.Duration(missing)).Round(time.Second), true
}
