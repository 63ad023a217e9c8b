package rollout

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/show"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/theme"
)

// past are the rollouts on record, the newest first: one line each, and whole where they
// have the screen.
func (s Screen) past(env screen.Env, r room) []draw.Line {
	if r.height <= 0 {
		return nil
	}
	if len(s.detail.Rollouts) == 0 {
		return r.heading("ROLLOUTS", "none is recorded", nil)
	}
	if s.panel.shown(env) == pastPanel {
		return r.heading("ROLLOUTS", "newest first", s.pastWhole(env, r.width))
	}
	return r.heading("ROLLOUTS BEFORE", "newest first", s.pastLines(env))
}

// before are the rollouts before the one whose steps are shown.
func (s Screen) before() []plan.PastRollout {
	return s.detail.Rollouts[min(1, len(s.detail.Rollouts)):]
}

func (s Screen) pastLines(env screen.Env) []draw.Line {
	var lines []draw.Line
	for _, p := range s.before() {
		symbol, style := resultMark(env.Theme.Symbols, p.Result)
		lines = append(lines, draw.Text(style, "  "+symbol+" ").Add(theme.Plain, s.ended(env, p)).Add(theme.Faint, "  "+p.Change))
	}
	return lines
}

// pastWhole has the steps and decisions of each rollout.
func (s Screen) pastWhole(env screen.Env, width int) []draw.Line {
	var lines []draw.Line
	for i, p := range s.detail.Rollouts {
		symbol, style := resultMark(env.Theme.Symbols, p.Result)
		head := draw.Text(style, "  "+symbol+" ").Add(theme.Strong, s.ended(env, p))
		if i > 0 {
			lines = append(lines, draw.Line{})
		}
		lines = append(lines, head)
		for _, text := range []string{p.Change, p.Reason} {
			if text != "" {
				lines = append(lines, indented(draw.Wrap(theme.Plain, text, width-7))...)
			}
		}
		for _, step := range p.Steps {
			lines = append(lines, pastStep(env.Theme.Symbols, p.Result, step))
		}
		if p.Left > 0 {
			lines = append(lines, draw.Text(theme.Faint, fmt.Sprintf("      and %s more", show.Count(p.Left, "step"))))
		}
		for _, d := range p.Decisions {
			text := fmt.Sprintf("%s  %s by %s", d.At.UTC().Format("15:04:05"), d.What, d.By)
			if d.Detail != "" {
				text += ": " + d.Detail
			}
			lines = append(lines, indented(draw.Wrap(theme.Faint, text, width-7))...)
		}
	}
	return lines
}

func indented(lines []draw.Line) []draw.Line {
	out := make([]draw.Line, len(lines))
	for i, l := range lines {
		out[i] = draw.Text(theme.Plain, "      ").Join(l)
	}
	return out
}

// pastStep is a step of a rollout with a result.
func pastStep(sym theme.Symbols, r plan.RolloutResult, step plan.PastStep) draw.Line {
	symbol, style := show.StepMark(sym, pastState(r, step))
	return draw.Text(style, "      "+symbol+" ").Add(theme.Plain, step.Name).Add(theme.Faint, "  "+step.Title+took(step))
}

// pastState is how far a step is: one that was started and not completed is where the rollout
// failed, was aborted, or is.
func pastState(r plan.RolloutResult, step plan.PastStep) show.StepState {
	switch {
	case step.Done:
		return show.StepDone
	case step.Begun.IsZero():
		return show.StepNext
	}
	return results[r]
}

// ended is a rollout in a line: what it came to, when, how long it took and who began it.
func (s Screen) ended(env screen.Env, p plan.PastRollout) string {
	parts := []string{string(p.Result)}
	if p.Ended.IsZero() {
		parts[0] += " for " + ago(p.Took(env.World.Now))
	} else {
		parts[0] += " " + cmp.Or(show.Age(env.World.Now, p.Ended), "0s") + " ago"
		parts = append(parts, "took "+ago(p.Took(env.World.Now)))
	}
	if p.By != "" {
		parts = append(parts, "by "+p.By)
	}
	return strings.Join(parts, ", ")
}

// results are the states of the last step of rollouts with a result, whose symbol stands for the rollout.
var results = map[plan.RolloutResult]show.StepState{
	plan.RolloutCompleted: show.StepDone, plan.RolloutRolledBack: show.StepDone, plan.RolloutFailed: show.StepFailed,
	plan.RolloutAborted: show.StepAborted, plan.RolloutOnHold: show.StepPaused, plan.RolloutRunning: show.StepNow,
}

// resultMark is the symbol of a result.
func resultMark(sym theme.Symbols, r plan.RolloutResult) (string, theme.Style) {
	state, known := results[r]
	if !known {
		return sym.Unknown, theme.Faint
	}
	return show.StepMark(sym, state)
}
