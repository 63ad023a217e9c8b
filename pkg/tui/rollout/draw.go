package rollout

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/theme"
)

// Draw is the head, and below it what has room.
func (s Screen) Draw(env screen.Env) []draw.Line {
	if s.detail == nil {
		return s.nothing(env)
	}
	lines := s.head(env)
	a := s.arrange(env, env.Height-len(lines))
	steps, grid := s.stepsAndCauses(env, a.steps), s.overview(env, a.grid)
	if a.beside {
		lines = append(lines, beside(steps, grid, a.steps.width, env.Theme.Symbols.Ellipsis)...)
	} else {
		lines = append(append(lines, steps...), grid...)
	}
	lines = append(lines, s.podTable(env, a.table)...)
	lines = append(lines, s.reason(env, a.reason)...)
	lines = append(lines, s.events(env, a.events)...)
	return append(lines, s.past(env, a.past)...)
}

func (s Screen) nothing(env screen.Env) []draw.Line {
	if env.World.Find(s.ref) == nil && env.World.Unseen == "" {
		return []draw.Line{{}, draw.Text(theme.Faint, "  "+s.Title()+" does not exist; esc goes back")}
	}
	return env.Waiting("the pods of " + s.Title())
}

// beside puts lines beside each other; both have as many.
func beside(left, right []draw.Line, width int, ellipsis string) []draw.Line {
	out := make([]draw.Line, 0, len(left))
	for i := range max(len(left), len(right)) {
		var l, r draw.Line
		if i < len(left) {
			l = left[i]
		}
		if i < len(right) {
			r = right[i]
		}
		out = append(out, l.Fit(width-1, ellipsis).Add(theme.Plain, " ").Join(r))
	}
	return out
}

func heading(text, more string) draw.Line {
	return draw.Text(theme.Header, " "+text).Add(theme.Faint, "  "+more)
}
