package rollout

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// past are the recorded rollouts, the newest first: one line each, and whole where they
// have the screen.
func (s Screen) past(env screen.Env, r room) []draw.Line {
	if len(s.detail.Rollouts) == 0 {
		return r.heading("ROLLOUTS", "none is recorded", nil)
	}
	if s.panel.shown(env) == pastPanel {
		return r.heading("ROLLOUTS", "newest first", wholeRollouts(env, s.detail.Rollouts, r.width))
	}
	var lines []draw.Line
	for _, p := range before(s.detail) {
		symbol, style := resultMark(env.Theme.Symbols, p.Result)
		lines = append(lines, draw.Text(style, "  "+symbol+" ").Add(draw.Plain, result(p, env.World.Now)).Add(draw.Faint, "  "+p.Change))
	}
	return r.heading("ROLLOUTS BEFORE", "newest first", lines)
}

// before are the rollouts before the one whose steps are shown.
func before(d *world.Detail) []plan.PastRollout {
	return d.Rollouts[min(1, len(d.Rollouts)):]
}

// wholeRollouts has the steps and decisions of each rollout.
func wholeRollouts(env screen.Env, list []plan.PastRollout, width int) []draw.Line {
	var lines []draw.Line
	for i, p := range list {
		symbol, style := resultMark(env.Theme.Symbols, p.Result)
		head := draw.Text(style, "  "+symbol+" ").Add(draw.Strong, result(p, env.World.Now))
		if i > 0 {
			lines = append(lines, draw.Line{})
		}
		lines = append(lines, head)
		for _, text := range []string{p.Change, p.Reason} {
			lines = append(lines, draw.Indented(6, draw.Plain, text, width-7)...)
		}
		for _, step := range p.Steps {
			symbol, style := draw.StepMark(env.Theme.Symbols, pastState(p.Result, step))
			lines = append(lines, draw.Text(style, "      "+symbol+" ").Add(draw.Plain, step.Name).Add(draw.Faint, "  "+step.Title+took(step)))
		}
		if p.Left > 0 {
			lines = append(lines, draw.Text(draw.Faint, fmt.Sprintf("      and %s more", counted.Of(p.Left, "step"))))
		}
		for _, d := range p.Decisions {
			text := d.At.UTC().Format("15:04:05") + "  " + d.Summary()
			if d.Detail != "" {
				text += ": " + d.Detail
			}
			lines = append(lines, draw.Indented(6, draw.Faint, text, width-7)...)
		}
	}
	return lines
}

// pastState is the state of a step: one that was started and not completed has the state of
// the rollout.
func pastState(r plan.RolloutResult, step plan.PastStep) draw.StepState {
	switch {
	case step.Done:
		return draw.StepDone
	case step.Begun.IsZero():
		return draw.StepNext
	}
	return results[r]
}

// result is a rollout in a line: its result, when it ended, how long it took, and who started it.
func result(p plan.PastRollout, now time.Time) string {
	parts := []string{string(p.Result)}
	if p.Ended.IsZero() {
		parts[0] += " for " + ago(p.Took(now))
	} else {
		parts[0] += " " + cmp.Or(screen.Age(now, p.Ended), "0s") + " ago"
		parts = append(parts, "took "+ago(p.Took(now)))
	}
	if p.By != "" {
		parts = append(parts, "by "+p.By)
	}
	return strings.Join(parts, ", ")
}

// results are the states of the last step of rollouts with a result, whose symbol is also that of the rollout.
var results = map[plan.RolloutResult]draw.StepState{
	plan.RolloutCompleted: draw.StepDone, plan.RolloutRolledBack: draw.StepDone, plan.RolloutFailed: draw.StepFailed,
	plan.RolloutAborted: draw.StepAborted, plan.RolloutOnHold: draw.StepPaused, plan.RolloutRunning: draw.StepNow,
}

// resultMark is the symbol of a result.
func resultMark(sym draw.Symbols, r plan.RolloutResult) (string, draw.Style) {
	state, known := results[r]
	if !known {
		return sym.Unknown, draw.Faint
	}
	return draw.StepMark(sym, state)
}
