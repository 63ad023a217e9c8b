package rollout

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
)

// header is the top of the screen: the status of a workload, and its pods as bars.
func (s Screen) header(env screen.Env) []draw.Line {
	down, executor := s.unavailable(env), draw.Text(draw.Faint, "  "+s.executor()+" ")
	if down.Width()+executor.Width() <= env.Width {
		down = draw.Both(down, executor, env.Width, "")
	}
	// What is said of the blockers, where the screen has them, is not said above.
	shown := s.panel.shown(env)
	explained := (shown == overview || shown == stepPanel) && len(s.detail.Diagnosis.Causes) > 0
	return append(s.answer(env, explained), s.updated(env), down)
}

// answer is the health and, whole where there is room, the sentence of the diagnosis: without its reason where that is
// explained below, and without the word of the health before it.
func (s Screen) answer(env screen.Env, explained bool) []draw.Line {
	d, room := s.detail, min(max(env.Height/5, 1), 4)
	answer := d.Diagnosis.Answer
	switch status := d.Diagnosis.Status; {
	case status.Reason != "" && explained && status.Reason == d.Diagnosis.Causes[0].String():
		if answer = ""; status.Step > 0 {
			answer = status.Head()
		}
	case status.Reason != "" && status.Step == 0:
		answer = status.Reason
	}
	answer = strings.TrimPrefix(answer, d.Health.String())
	answer = strings.TrimPrefix(strings.TrimPrefix(answer, ":"), " ")
	mark := draw.Text(draw.Plain, " ").Join(screen.Health(env.Theme, d.Health)).Add(draw.Plain, "  ")
	text := draw.Hang(mark, draw.Plain, answer, max(env.Width-mark.Width()-1, 10))
	switch {
	case len(text) == 0:
		return []draw.Line{mark}
	case len(text) <= room:
		return text
	case room == 1:
		return []draw.Line{mark.Add(draw.Plain, answer)}
	}
	text = draw.Indented(3, draw.Plain, answer, max(env.Width-4, 10))
	return append([]draw.Line{mark}, draw.First(text, room-1, env.Theme.Symbols.Ellipsis)...)
}

// executor is the driver, the executor, and how long the step takes.
func (s Screen) executor() string {
	d := s.detail
	text := "driver " + string(d.Driver)
	switch {
	case d.Holder != "":
		text += ", run by " + d.Holder
	case d.Begun && d.Diagnosis.Status.State == plan.StatusApproval:
		text += ", no process runs it: " + screen.Promote + " promotes and runs it"
	case d.Begun && d.Snapshot.Progress.State(d.Plan) == plan.StateRunning:
		text += ", no process runs it: " + screen.PauseResume + " resumes it here"
	}
	if p := d.Snapshot.Progress; d.Begun && !p.Started.IsZero() && p.Finished.IsZero() {
		text += ", step for " + ago(d.Now.Sub(p.Started))
	}
	if s.pods.left > 0 {
		text += ", about " + ago(s.pods.left) + " to go"
	}
	return text
}

func ago(d time.Duration) string { return duration.HumanDuration(max(d, 0)) }

// widestBar is how wide bars get.
const widestBar = 60

// updated is the pods by revision.
func (s Screen) updated(env screen.Env) draw.Line {
	n := s.detail.Pods
	text := fmt.Sprintf(" %d/%d updated, %d of these ready; old %d", n.Updated, max(n.Desired, n.Total), n.UpdatedReady, max(n.Total-n.Updated, 0))
	return draw.Text(draw.Header, " pods ").Join(s.pods.bar(env.Theme.Symbols, n.Desired, barWidth(env))).Add(draw.Plain, text)
}

// unavailable is the number of unavailable pods, against maxUnavailable.
func (s Screen) unavailable(env screen.Env) draw.Line {
	d := s.detail
	down, budget := max(d.Pods.Desired-d.Pods.Ready, 0), d.Plan.Limits.MaxUnavailable
	bar := draw.Bar(
		min(barWidth(env), max(budget, down)),
		draw.Part{Count: min(down, budget), Symbol: env.Theme.Symbols.Down, Style: draw.Warn},
		draw.Part{Count: down - budget, Symbol: env.Theme.Symbols.Down, Style: draw.Bad},
		draw.Part{Count: budget - down, Symbol: env.Theme.Symbols.Empty, Style: draw.Faint},
	)
	style := draw.Plain
	if down > budget {
		style = draw.Bad
	}
	text := fmt.Sprintf(" %d, at most %d", down, budget)
	if surge := d.Plan.Limits.MaxSurge; surge > 0 {
		text += fmt.Sprintf("; surge at most %d", surge)
	}
	return draw.Text(draw.Header, " unavailable ").Join(bar).Add(style, text)
}

func barWidth(env screen.Env) int { return max(min(env.Width/3, widestBar), 10) }
