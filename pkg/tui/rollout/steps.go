package rollout

import (
	"fmt"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/diagnose"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// stepsAndCauses are the steps, and below them what blocks the rollout, which takes up to two
// thirds of the room.
func (s Screen) stepsAndCauses(env screen.Env, r room) []draw.Line {
	if r.height <= 0 {
		return nil
	}
	steps := stepList{s.detail}
	lines := steps.all(env, r.width)
	causes := blockers(env, s.detail, r.width, max(r.height*2/3, 1, r.height-len(lines)))
	below := len(causes)
	if len(lines)+below > r.height {
		lines = steps.around(env, r.width, r.height-below)
	}
	if len(lines)+below < r.height {
		lines = append(lines, draw.Line{})
	}
	return draw.Exactly(append(lines, causes...), r.height)
}

// stepList is the steps of a workload's rollout: of the one in progress, or else of the last one.
type stepList struct{ detail *world.Detail }

// stepLine is a step as it is drawn.
type stepLine struct {
	head  draw.Line
	title string
	text  draw.Style
}

// all is the heading and all steps, their titles in full.
func (s stepList) all(env screen.Env, width int) []draw.Line {
	steps := s.lines(env.Theme.Symbols)
	lines := []draw.Line{s.heading(env)}
	for _, r := range steps {
		lines = append(lines, draw.Hang(r.head, r.text, r.title, max(width-r.head.Width()-1, 8))...)
	}
	return lines
}

// around are the steps around the current one, each in one line, where not all have room.
func (s stepList) around(env screen.Env, width, height int) []draw.Line {
	steps := s.lines(env.Theme.Symbols)
	lines := []draw.Line{s.heading(env)}
	if len(steps) == 0 {
		return lines
	}
	from, to := draw.StepsAround(len(steps), min(s.detail.Snapshot.Progress.Step, len(steps)-1), height-1)
	for _, r := range steps[from:to] {
		lines = append(lines, r.head.Add(r.text, r.title).Fit(width, env.Theme.Symbols.Ellipsis))
	}
	return lines
}

func (s stepList) heading(env screen.Env) draw.Line {
	d := s.detail
	steps, at := len(d.Plan.Steps), d.Snapshot.Progress.Step
	switch {
	case d.Begun && steps > 0 && d.Snapshot.Progress.Finished.IsZero():
		return draw.Heading("STEPS", fmt.Sprintf("%d of %d done", min(at, steps), steps))
	case len(d.Rollouts) > 0:
		return draw.Heading("STEPS", "of the last rollout: "+result(d.Rollouts[0], env.World.Now))
	}
	return draw.Heading("STEPS", "no rollout is recorded")
}

func (s stepList) lines(symbols draw.Symbols) []stepLine {
	d := s.detail
	var last plan.PastRollout
	if len(d.Rollouts) > 0 {
		last = d.Rollouts[0]
	}
	steps := last.Steps
	if d.Begun {
		steps = make([]plan.PastStep, len(d.Plan.Steps))
		for i, step := range d.Plan.Steps {
			if steps[i] = (plan.PastStep{Name: step.Name}); i < len(last.Steps) && last.Steps[i].Name == step.Name {
				steps[i] = last.Steps[i]
			}
			steps[i].Title = step.Title
		}
	}
	longest := 0
	for _, step := range steps {
		longest = min(max(longest, len(step.Name)), 12)
	}
	var out []stepLine
	for i, step := range steps {
		state, text := pastState(last.Result, step), draw.Faint
		if d.Begun {
			state = s.state(i, d.Plan.Steps[i])
			if i == d.Snapshot.Progress.Step {
				text = draw.Plain
			}
		}
		symbol, style := draw.StepMark(symbols, state)
		head := draw.Text(style, "  "+symbol+" ").Add(draw.Strong, fmt.Sprintf("%d %-*s ", i+1, longest, step.Name))
		out = append(out, stepLine{head, step.Title + took(step), text})
	}
	return out
}

// took is the duration of a completed step.
func took(s plan.PastStep) string {
	if !s.Done || s.Begun.IsZero() {
		return ""
	}
	return "  " + ago(s.Took)
}

// state is the state of a step of the rollout in progress.
func (s stepList) state(i int, step plan.Step) draw.StepState {
	p := s.detail.Snapshot.Progress
	switch {
	case i < p.Step || !p.Finished.IsZero():
		return draw.StepDone
	case i > p.Step:
		return draw.StepNext
	case p.Failed != "" && p.Aborted:
		return draw.StepAborted
	case p.Failed != "":
		return draw.StepFailed
	case p.PausedBy != "" || step.Kind == plan.StepPause:
		return draw.StepPaused
	}
	return draw.StepNow
}

// approvals are the gates that a user opens; they are not problems.
var approvals = map[string]bool{plan.GatePromote: true, plan.GateHeld: true, plan.GatePaused: true}

// cause is a blocker as it is drawn, and what to do about it.
type cause struct{ text, hint []draw.Line }

// blockers are the causes of the diagnosis, in the words of `why`, in at most so many lines: what to do about the first
// one is there in any case, and what is left out is counted.
func blockers(env screen.Env, d *world.Detail, width, height int) []draw.Line {
	list := d.Diagnosis.Causes
	if len(list) == 0 {
		return []draw.Line{draw.Heading("BLOCKED BY", "nothing")}
	}
	title := "BLOCKED BY"
	if approvals[list[0].Gate] {
		title = "WAITING FOR"
	}
	lines, ellipsis := []draw.Line{draw.Heading(title, "")}, env.Theme.Symbols.Ellipsis
	for i, c := range list {
		drawn, left := causeOf(env, c, width), height-len(lines)
		if i == 0 {
			hint := draw.First(drawn.hint, max(min(len(drawn.hint), left-1), 0), ellipsis)
			lines = append(append(lines, draw.First(drawn.text, left-len(hint), ellipsis)...), hint...)
			continue
		}
		if len(drawn.text)+len(drawn.hint) > left {
			lines[0] = draw.Heading(title, fmt.Sprintf("and %d more: tab", len(list)-i))
			break
		}
		lines = append(append(lines, drawn.text...), drawn.hint...)
	}
	return lines
}

func causeOf(env screen.Env, c diagnose.Cause, width int) cause {
	symbol, style := env.Theme.Symbols.Dot, draw.Plain
	switch {
	case approvals[c.Gate]:
		symbol, style = env.Theme.Symbols.Paused, draw.Wait
	case c.Blocked:
		symbol, style = env.Theme.Symbols.Blocked, draw.Bad
	}
	return cause{
		draw.Hang(draw.Text(style, "  "+symbol+" "), draw.Plain, c.Gate+": "+c.String(), width-6),
		draw.Indented(6, draw.Faint, screen.Remedy(c, env.Hint), width-8),
	}
}
