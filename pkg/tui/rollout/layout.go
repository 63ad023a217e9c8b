package rollout

import (
	"math"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
)

// Draw is the head, and below it what has room.
func (s Screen) Draw(env screen.Env) []draw.Line {
	switch {
	case s.detail != nil:
	case env.World.Gone(s.Ref):
		return env.Missing(s.Title())
	default:
		return env.Waiting("the pods of " + s.Title())
	}
	lines := s.header(env)
	a := s.arrange(env, env.Height-len(lines))
	steps, grid := s.stepsAndCauses(env, a.steps), s.overview(env, a.grid)
	if a.beside {
		lines = append(lines, draw.Beside(steps, grid, a.steps.width, env.Theme.Symbols.Ellipsis)...)
	} else {
		lines = append(append(lines, steps...), grid...)
	}
	lines = append(lines, s.podTable(env, a.table)...)
	lines = append(lines, s.reason(env, a.reason)...)
	lines = append(lines, s.events(env, a.events)...)
	return append(lines, s.past(env, a.past)...)
}

// panel is what the screen shows: all parts, or one of them.
type panel uint8

const (
	overview panel = iota
	podPanel
	stepPanel
	pastPanel
	eventPanel
	panels
)

// panelNames are those of the command show.
var panelNames = []string{"all", "pods", "steps", "rollouts", "events"}

// next passes over the overview where there is no room for it.
func (p panel) next(env screen.Env) panel {
	return ((p + 1) % panels).shown(env)
}

// shown is the panel on a screen of a height.
func (p panel) shown(env screen.Env) panel {
	if p == overview && env.Height < rich {
		return podPanel
	}
	return p
}

// room is how much one part has; none is not shown.
type room struct{ width, height int }

// arrangement is the room of each part. Beside is true where the grid is beside steps and
// blockers.
type arrangement struct {
	beside                                   bool
	steps, grid, table, reason, events, past room
}

// twoColumns is the least width at which the grid is beside the steps, and rich the least
// height that has room for all parts.
const (
	twoColumns = 100
	rich       = 20
	usualTable = 9
	usualPast  = 4
)

// needs are the lines that each part would take to show everything.
type needs struct{ steps, grid, table, events, past int }

func (s Screen) needs(env screen.Env, width int) needs {
	gridWidth := env.Width
	if s.panel.shown(env) == overview {
		_, gridWidth, _ = columns(env)
	}
	rows, _ := s.pods.gridRows(gridWidth)
	n := needs{
		steps:  len(stepList{s.detail}.all(env, width)) + 1 + len(blockers(env, s.detail, width, math.MaxInt)),
		grid:   len(rows) + 2,
		table:  len(s.pods.table) + 2,
		events: 1,
	}
	for _, h := range s.feed[:min(len(s.feed), mostWhole)] {
		n.events += len(h.lines(env.World.Now, env.Width))
	}
	if list := before(s.detail); len(list) > 0 {
		n.past = len(list) + 1
	}
	return n
}

// lines divides lines among parts.
type lines struct{ left int }

// grow gives lines to a part until it has a number of them, or none are left.
func (l *lines) grow(part *int, to int) {
	more := min(max(to-*part, 0), l.left)
	*part += more
	l.left -= more
}

// columns is the width of steps and of the grid.
func columns(env screen.Env) (steps, grid int, beside bool) {
	if env.Width < twoColumns || env.Height < rich {
		return env.Width, env.Width, false
	}
	return env.Width / 2, env.Width - env.Width/2, true
}

// arrange divides the room below the header. Each part first gets its minimum, the most
// important part first, and then what is left: nothing is cut while lines are left over.
func (s Screen) arrange(env screen.Env, left int) arrangement {
	steps, grid, beside := columns(env)
	a := arrangement{beside: beside, steps: room{width: steps}, grid: room{width: grid}}
	for _, r := range []*room{&a.table, &a.reason, &a.events, &a.past} {
		r.width = env.Width
	}
	l := &lines{left: max(left, 0)}
	n := s.needs(env, steps)
	switch s.panel.shown(env) {
	case podPanel:
		a.onlyPods(l, n)
	case stepPanel:
		a.beside = false
		a.steps = room{env.Width, l.left}
	case pastPanel:
		l.grow(&a.past.height, l.left)
	case eventPanel:
		l.grow(&a.events.height, l.left)
	default:
		a.allParts(l, n)
	}
	return a
}

// onlyPods has a small grid, and the table in the rest of the room.
func (a *arrangement) onlyPods(l *lines, n needs) {
	a.beside = false
	a.grid.width = a.table.width
	l.grow(&a.table.height, min(n.table, 4))
	l.grow(&a.grid.height, min(n.grid, 2+l.left/4))
	l.grow(&a.table.height, n.table)
	l.grow(&a.reason.height, 3)
	l.grow(&a.grid.height, n.grid)
	l.grow(&a.table.height, a.table.height+l.left)
}

// allParts has the steps above or beside the grid, the table, events and past rollouts.
func (a *arrangement) allParts(l *lines, n needs) {
	top, whole := &a.steps.height, l.left
	l.grow(top, min(n.steps, 5))
	if !a.beside {
		l.grow(&a.grid.height, min(n.grid, 3))
	}
	l.grow(&a.table.height, min(n.table, 4))
	l.grow(&a.events.height, 3)
	l.grow(top, min(n.steps, whole/2))
	l.grow(&a.table.height, min(n.table, usualTable))
	if a.beside {
		l.grow(top, min(max(n.steps, n.grid), whole/2))
	} else {
		l.grow(&a.grid.height, min(n.grid, max(whole/6, 3)))
	}
	l.grow(&a.reason.height, 2)
	l.grow(&a.events.height, min(n.events, max(whole/5, 5)))
	if l.left > 1 {
		l.grow(&a.past.height, min(n.past, usualPast))
	}
	l.grow(&a.table.height, n.table)
	l.grow(top, n.steps)
	l.grow(&a.past.height, n.past)
	l.grow(&a.events.height, a.events.height+l.left)
	if a.beside {
		a.grid.height = *top
	}
}

// heading is the first line of a part.
func (r room) heading(text, more string, below []draw.Line) []draw.Line {
	if r.height <= 0 {
		return nil
	}
	return draw.Exactly(append([]draw.Line{draw.Heading(text, more)}, below...), r.height)
}
