package rollout

import (
	"fmt"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/theme"
)

// stepsAndCauses are the ladder, and below it what is in the way: that has the room
// that it needs, up to two thirds.
func (s Screen) stepsAndCauses(env screen.Env, r room) []draw.Line {
	if r.height <= 0 {
		return nil
	}
	causes := s.causes(env, r.width)
	below := min(len(causes), max(r.height*2/3, 1))
	lines := s.steps(env, r.height-below)
	if len(lines)+below < r.height {
		lines = append(lines, draw.Line{})
	}
	return draw.Exactly(append(lines, causes[:below]...), r.height)
}

// steps is the ladder; where not all steps fit, those around the present one.
func (s Screen) steps(env screen.Env, height int) []draw.Line {
	steps, at := s.detail.Plan.Steps, s.detail.Snapshot.Progress.Step
	if !s.detail.Begun || len(steps) == 0 {
		return []draw.Line{heading("STEPS", "no rollout is on record")}
	}
	lines := []draw.Line{heading("STEPS", fmt.Sprintf("%d of %d done", min(at, len(steps)), len(steps)))}
	w := draw.Window{At: min(at, len(steps)-1)}.Keep(len(steps), max(height-1, 1))
	w.Top = max(min(w.At-min(max(height-2, 0), 1), len(steps)-height+1), 0) // the one before it, too, where there is room
	for i := w.Top; i < min(w.Top+height-1, len(steps)); i++ {
		lines = append(lines, s.step(env, i, steps[i]))
	}
	return lines
}

func (s Screen) step(env screen.Env, i int, step plan.Step) draw.Line {
	symbol, style := s.state(env.Theme.Symbols, i, step)
	text := theme.Plain
	if i != s.detail.Snapshot.Progress.Step {
		text = theme.Faint
	}
	return draw.Text(style, "  "+symbol+" ").Add(theme.Strong, fmt.Sprintf("%d %-*s ", i+1, s.longest(), step.Name)).Add(text, step.Title)
}

// longest is the width of the names of steps.
func (s Screen) longest() int {
	n := 0
	for _, step := range s.detail.Plan.Steps {
		n = max(n, len(step.Name))
	}
	return min(n, 12)
}

// state is the symbol of a step: done, under way, waiting for a person, halted, to
// come.
func (s Screen) state(sym theme.Symbols, i int, step plan.Step) (string, theme.Style) {
	p := s.detail.Snapshot.Progress
	switch {
	case i < p.Step || !p.Finished.IsZero():
		return sym.Done, theme.Good
	case i > p.Step:
		return sym.Next, theme.Faint
	case p.Halted != "":
		return sym.Stuck, theme.Bad
	case p.Held != "" || step.Kind == plan.StepPause:
		return sym.Pause, theme.Warn
	}
	return sym.Now, theme.Busy
}

// causes are what is in the way, in the words of `why`.
func (s Screen) causes(env screen.Env, width int) []draw.Line {
	list := s.detail.Diagnosis.Causes
	if len(list) == 0 {
		return []draw.Line{heading("IN THE WAY", "nothing")}
	}
	lines := []draw.Line{heading("IN THE WAY", "")}
	for _, c := range list {
		symbol, style := env.Theme.Symbols.Dot, theme.Plain
		if c.Stuck {
			symbol, style = env.Theme.Symbols.Stuck, theme.Bad
		}
		for i, l := range draw.Wrap(theme.Plain, c.Gate+": "+c.String(), width-6) {
			if i > 0 {
				symbol = " "
			}
			lines = append(lines, draw.Text(style, "  "+symbol+" ").Join(l))
		}
		if c.Hint != "" {
			for _, l := range draw.Wrap(theme.Faint, "hint: "+c.Hint, width-8) {
				lines = append(lines, draw.Text(theme.Plain, "      ").Join(l))
			}
		}
	}
	return lines
}
