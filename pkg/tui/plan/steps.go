package plan

import (
	"fmt"

	core "github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/show"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/theme"
)

// ladder is the steps, as they stand at the time of the simulation.
func (s Screen) ladder(env screen.Env, height int) []draw.Line {
	steps := s.run.plan.Steps
	lines := []draw.Line{heading("STEPS", show.Count(len(steps), "step")+"; times are those of the simulation")}
	w := draw.Window{At: s.steps.At}.Keep(len(steps), max(height-1, 1))
	for i := w.Top; i < min(w.Top+height-1, len(steps)); i++ {
		lines = append(lines, s.step(env, i))
	}
	return lines
}

func (s Screen) step(env screen.Env, i int) draw.Line {
	step, when := s.run.plan.Steps[i], ""
	if m, ok := s.run.mark(i); i < s.run.from {
		when = "before"
	} else if ok {
		when = clock(m.Begin)
	}
	symbol, style := s.state(env.Theme.Symbols, i)
	pointer := " "
	if i == s.steps.At {
		pointer = env.Theme.Symbols.Cursor
	}
	l := draw.Text(theme.Title, pointer).Add(style, " "+symbol+" ").Add(theme.Faint, fmt.Sprintf("%6s ", when))
	l = l.Add(theme.Strong, step.Name+" ").Add(theme.Plain, step.Title)
	l.Cursor = i == s.steps.At
	return l
}

// state is the symbol of a step at the time of the simulation.
func (s Screen) state(y theme.Symbols, i int) (string, theme.Style) {
	m, reached := s.run.mark(i)
	switch {
	case i < s.run.from:
		return y.Done, theme.Good
	case !reached || m.Begin > s.at:
		return y.Next, theme.Faint
	case m.End >= 0 && m.End <= s.at:
		return y.Done, theme.Good
	case m.End < 0 && s.at >= s.run.lasts():
		return y.Stuck, theme.Bad
	case s.run.plan.Steps[i].Kind == core.StepPause:
		return y.Pause, theme.Wait
	}
	return y.Now, theme.Busy
}
