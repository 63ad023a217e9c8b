package rollout

import (
	"fmt"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/show"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/theme"
)

// stepsAndCauses are the ladder, and below it what is in the way: that has the room
// that it needs, up to two thirds.
func (s Screen) stepsAndCauses(env screen.Env, r room) []draw.Line {
	if r.height <= 0 {
		return nil
	}
	causes, ladder := s.causes(env, r.width), s.ladder(env, r.width)
	below := min(len(causes), max(r.height*2/3, 1, r.height-len(ladder)))
	lines := ladder
	if len(ladder)+below > r.height {
		lines = s.around(env, r.width, r.height-below)
	}
	if len(lines)+below < r.height {
		lines = append(lines, draw.Line{})
	}
	return draw.Exactly(append(lines, causes[:below]...), r.height)
}

// rung is a step as it is drawn: of the rollout in flight, or of the last one.
type rung struct {
	name, title, symbol, took string
	style, text               theme.Style
}

// ladder is the heading and all steps, their titles in full.
func (s Screen) ladder(env screen.Env, width int) []draw.Line {
	rungs := s.rungs(env)
	lines := []draw.Line{s.stepsHeading(env)}
	for i, r := range rungs {
		head := draw.Text(r.style, "  "+r.symbol+" ").Add(theme.Strong, fmt.Sprintf("%d %-*s ", i+1, longest(rungs), r.name))
		for j, l := range draw.Wrap(r.text, r.title+r.took, max(width-head.Width()-1, 8)) {
			if j > 0 {
				head = draw.Text(theme.Plain, draw.Spaces(head.Width()))
			}
			lines = append(lines, head.Join(l))
		}
	}
	return lines
}

// around are the steps around the present one, each in one line, where not all have room.
func (s Screen) around(env screen.Env, width, height int) []draw.Line {
	rungs := s.rungs(env)
	lines := []draw.Line{s.stepsHeading(env)}
	if len(rungs) == 0 {
		return lines
	}
	at := min(s.detail.Snapshot.Progress.Step, len(rungs)-1)
	w := draw.Window{At: at}.Keep(len(rungs), max(height-1, 1))
	w.Top = max(min(w.At-min(max(height-2, 0), 1), len(rungs)-height+1), 0) // the one before it, too, where there is room
	for i := w.Top; i < min(w.Top+height-1, len(rungs)); i++ {
		r := rungs[i]
		l := draw.Text(r.style, "  "+r.symbol+" ").Add(theme.Strong, fmt.Sprintf("%d %-*s ", i+1, longest(rungs), r.name)).Add(r.text, r.title+r.took)
		lines = append(lines, l.Fit(width, env.Theme.Symbols.Ellipsis))
	}
	return lines
}

func (s Screen) stepsHeading(env screen.Env) draw.Line {
	d := s.detail
	steps, at := len(d.Plan.Steps), d.Snapshot.Progress.Step
	switch {
	case d.Begun && steps > 0 && d.Snapshot.Progress.Finished.IsZero():
		return heading("STEPS", fmt.Sprintf("%d of %d done", min(at, steps), steps))
	case len(d.Rollouts) > 0:
		return heading("STEPS", "of the last rollout: "+s.ended(env, d.Rollouts[0]))
	}
	return heading("STEPS", "no rollout is recorded")
}

// rungs are the steps of the rollout in flight, or else of the last one.
func (s Screen) rungs(env screen.Env) []rung {
	d := s.detail
	var last plan.PastRollout
	if len(d.Rollouts) > 0 {
		last = d.Rollouts[0]
	}
	var out []rung
	if d.Begun {
		for i, step := range d.Plan.Steps {
			symbol, style := s.state(env.Theme.Symbols, i, step)
			r := rung{name: step.Name, title: step.Title, symbol: symbol, style: style, text: theme.Faint}
			if i == d.Snapshot.Progress.Step {
				r.text = theme.Plain
			}
			if i < len(last.Steps) && last.Steps[i].Name == step.Name {
				r.took = took(last.Steps[i])
			}
			out = append(out, r)
		}
		return out
	}
	for _, step := range last.Steps {
		symbol, style := stepMark(env.Theme.Symbols, last.Result, step)
		out = append(out, rung{name: step.Name, title: step.Title, symbol: symbol, style: style, text: theme.Faint, took: took(step)})
	}
	return out
}

// took is how long a step took that is over.
func took(s plan.PastStep) string {
	if !s.Done || s.Begun.IsZero() {
		return ""
	}
	return "  " + ago(s.Took)
}

// longest is the width of the names of steps.
func longest(rungs []rung) int {
	n := 0
	for _, r := range rungs {
		n = max(n, len(r.name))
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
	case p.Halted != "" && p.Aborted:
		return sym.Aborted, theme.Outdated
	case p.Halted != "":
		return sym.Stuck, theme.Bad
	case p.Held != "" || step.Kind == plan.StepPause:
		return sym.Pause, theme.Wait
	}
	return sym.Now, theme.Busy
}

// approvals are gates that a person opens: they are waited for, and no fault.
var approvals = map[string]bool{plan.GatePromote: true, plan.GateHeld: true, plan.GatePaused: true}

// causes are what is in the way, in the words of `why`.
func (s Screen) causes(env screen.Env, width int) []draw.Line {
	list := s.detail.Diagnosis.Causes
	if len(list) == 0 {
		return []draw.Line{heading("BLOCKED BY", "nothing")}
	}
	title := "BLOCKED BY"
	if approvals[list[0].Gate] {
		title = "WAITING FOR"
	}
	lines := []draw.Line{heading(title, "")}
	for _, c := range list {
		symbol, style := env.Theme.Symbols.Dot, theme.Plain
		switch {
		case approvals[c.Gate]:
			symbol, style = env.Theme.Symbols.Paused, theme.Wait
		case c.Stuck:
			symbol, style = env.Theme.Symbols.Stuck, theme.Bad
		}
		for i, l := range draw.Wrap(theme.Plain, c.Gate+": "+c.String(), width-6) {
			if i > 0 {
				symbol = " "
			}
			lines = append(lines, draw.Text(style, "  "+symbol+" ").Join(l))
		}
		if text := show.Remedy(c); text != "" {
			for _, l := range draw.Wrap(theme.Faint, text, width-8) {
				lines = append(lines, draw.Text(theme.Plain, "      ").Join(l))
			}
		}
	}
	return lines
}
