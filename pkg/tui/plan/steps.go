package plan

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	core "github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
)

// stepLines are the steps in the state that they have at the time of the simulation.
func (s Screen) stepLines(env screen.Env, height int) []draw.Line {
	steps := s.run.plan.Steps
	lines := []draw.Line{draw.Heading("STEPS", counted.Of(len(steps), "step")+"; times are those of the simulation")}
	w := draw.Window{At: s.steps.At}.Keep(len(steps), max(height-1, 1))
	for i := w.Top; i < min(w.Top+height-1, len(steps)); i++ {
		lines = append(lines, s.row(env, i))
	}
	return lines
}

func (s Screen) row(env screen.Env, i int) draw.Line {
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
	l := draw.Text(draw.Title, pointer).Add(style, " "+symbol+" ").Add(draw.Faint, fmt.Sprintf("%6s ", when))
	l = l.Add(draw.Strong, step.Name+" ").Add(draw.Plain, step.Title)
	l.Cursor = i == s.steps.At
	return l
}

// state is the symbol of a step at the time of the simulation.
func (s Screen) state(y draw.Symbols, i int) (string, draw.Style) {
	m, reached := s.run.mark(i)
	switch {
	case i < s.run.from:
		return y.Done, draw.Good
	case !reached || m.Begin > s.at:
		return y.Next, draw.Faint
	case m.End >= 0 && m.End <= s.at:
		return y.Done, draw.Good
	case m.End < 0 && s.at >= s.run.duration():
		return y.Blocked, draw.Bad
	case s.run.plan.Steps[i].Kind == core.StepPause:
		return y.Pause, draw.Wait
	}
	return y.Now, draw.Busy
}

// description is what the step of the cursor does, in exactly height lines: what it sends,
// which pods it touches and why, and what must hold. Lines that have no room are counted.
func (s Screen) description(env screen.Env, width, height int) []draw.Line {
	lines := s.facts(env, width)
	if more := len(lines) - height + 1; more > 1 && height > 1 {
		lines = append(lines[:height-1:height-1], draw.Text(draw.Faint, "  and "+counted.Of(more, "more line")))
	}
	return draw.Exactly(lines, height)
}

func (s Screen) facts(env screen.Env, width int) []draw.Line {
	if s.steps.At >= len(s.run.plan.Steps) {
		return nil
	}
	step := s.run.plan.Steps[s.steps.At]
	lines := []draw.Line{draw.Heading("STEP "+step.Name, limits(step))}
	for _, p := range step.Patches {
		lines = append(lines, s.patch(env, p, width)...)
	}
	if step.Pull != nil {
		lines = append(lines, draw.Indented(2, draw.Plain, "pulls "+strings.Join(step.Pull.Images, ", "), width-4)...)
	}
	if step.Containers != nil {
		lines = append(lines, draw.Text(draw.Plain, "  restarts "+strings.Join(step.Containers.Names, ", ")))
	}
	if list := core.ConditionsText(step.After); list != "" {
		lines = append(lines, draw.Indented(2, draw.Faint, "until "+list, width-4)...)
	}
	return append(lines, podLines(env, step.Pods)...)
}

// patch is what a step sends: its type and what it is sent to, and each field that it writes.
func (s Screen) patch(env screen.Env, p core.Patch, width int) []draw.Line {
	kind := cmp.Or(p.Type, core.PatchMerge)
	if kind == core.PatchJSON {
		kind = "JSON"
	}
	what := "sends a " + kind + " patch"
	if p.Target != nil {
		what += " to " + strings.ToLower(p.Target.Kind) + "/" + p.Target.Name
	}
	if p.Subresource != "" {
		what += " to its " + p.Subresource
	}
	if p.Reached > 0 {
		what += " once " + counted.Of(p.Reached, "pod") + " are updated"
	}
	lines := draw.Indented(2, draw.Plain, what, width-4)
	fields := s.run.plan.PatchFields(p)
	if fields == nil {
		return append(lines, draw.Indented(2, draw.Plain, draw.Value(s.run.plan.Masked(p)), width-4)...)
	}
	for _, f := range fields {
		lines = append(lines, field(env, f, width)...)
	}
	return lines
}

// fieldIndent is how far fields are indented.
const fieldIndent = 4

// field is one that a patch writes: in one line, or in more where it has no room.
func field(env screen.Env, f core.PatchField, width int) []draw.Line {
	room := max(width-fieldIndent-1, 1)
	path, value := f.Path+": ", draw.Value(f.Value)
	switch {
	case f.Op == "remove":
		value = "removed"
	case f.Op == "test":
		value = "must be " + value
	case f.Was != nil:
		value = draw.Value(f.Was) + " -> " + value
	}
	if l := draw.Text(draw.Faint, draw.Spaces(fieldIndent)+path).Add(draw.Plain, value); l.Width() < width {
		return []draw.Line{l}
	}
	if draw.Width(path) > room { // its end says most
		runes := []rune(path)
		path = env.Theme.Symbols.Ellipsis + string(runes[max(len(runes)-room+1, 0):])
	}
	return append([]draw.Line{draw.Text(draw.Faint, draw.Spaces(fieldIndent)+path)}, draw.Indented(fieldIndent+2, draw.Plain, value, max(room-2, 1))...)
}

func limits(step core.Step) string {
	var parts []string
	if step.Updated+step.Kept > 0 {
		parts = append(parts, fmt.Sprintf("then %s up to date, %d old", counted.Of(step.Updated, "pod"), step.Kept))
	}
	if step.Timeout > 0 {
		parts = append(parts, "within "+step.Timeout.String())
	}
	if step.OnFailure != "" {
		parts = append(parts, "else "+string(step.OnFailure))
	}
	return strings.Join(parts, ", ")
}

func podLines(env screen.Env, pods []core.PodStep) []draw.Line {
	var lines []draw.Line
	for _, p := range pods {
		l := draw.Text(draw.Faint, "  "+env.Theme.Symbols.Dot+" ").Add(draw.Plain, p.Name).Add(draw.Faint, " "+modeWords[p.Mode])
		if p.Tie > 0 {
			l = l.Add(draw.Faint, ", or another like it")
		}
		lines = append(lines, l)
	}
	return lines
}
