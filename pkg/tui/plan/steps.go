package plan

import (
	"encoding/json"
	"fmt"
	"strings"

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

// about is what the step of the cursor does: what it sends, which pods it touches and
// why, and what must hold.
func (s Screen) about(env screen.Env, width int) []draw.Line {
	if s.steps.At >= len(s.run.plan.Steps) {
		return nil
	}
	step := s.run.plan.Steps[s.steps.At]
	lines := []draw.Line{heading("STEP "+step.Name, limits(step))}
	for _, p := range step.Patches {
		lines = append(lines, indented(theme.Plain, "sends "+p.Type+" "+body(s.run.plan.Shown(p)), width)...)
	}
	if step.Pull != nil {
		lines = append(lines, indented(theme.Plain, "pulls "+strings.Join(step.Pull.Images, ", "), width)...)
	}
	if step.Containers != nil {
		lines = append(lines, draw.Text(theme.Plain, "  restarts "+strings.Join(step.Containers.Names, ", ")))
	}
	if list := conditions(step.After); list != "" {
		lines = append(lines, indented(theme.Faint, "until "+list, width)...)
	}
	return append(lines, podLines(env, step.Pods)...)
}

// indented is text below a heading.
func indented(style theme.Style, text string, width int) []draw.Line {
	lines := draw.Wrap(style, text, width-4)
	for i, l := range lines {
		lines[i] = draw.Text(theme.Plain, "  ").Join(l)
	}
	return lines
}

func limits(step core.Step) string {
	var parts []string
	if step.Updated+step.Kept > 0 {
		parts = append(parts, fmt.Sprintf("then %d pods are new, %d old", step.Updated, step.Kept))
	}
	if step.Timeout > 0 {
		parts = append(parts, "within "+step.Timeout.String())
	}
	if step.OnFailure != "" {
		parts = append(parts, "else "+string(step.OnFailure))
	}
	return strings.Join(parts, ", ")
}

// body is what a patch sends, as far as anybody may read it.
func body(shown any) string {
	text, err := json.Marshal(shown)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func conditions(list []core.Condition) string {
	var parts []string
	for _, c := range list {
		parts = append(parts, strings.TrimSpace(string(c.Type)+" "+c.Value))
	}
	return strings.Join(parts, ", ")
}

func podLines(env screen.Env, pods []core.PodStep) []draw.Line {
	var lines []draw.Line
	for _, p := range pods {
		l := draw.Text(theme.Faint, "  "+env.Theme.Symbols.Dot+" ").Add(theme.Plain, p.Name).Add(theme.Faint, " "+modeWords[p.Mode])
		if p.Tie > 0 {
			l = l.Add(theme.Faint, ", or another like it")
		}
		lines = append(lines, l)
	}
	return lines
}
