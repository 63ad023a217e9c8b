package plan

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/theme"
)

// Draw is what the plan is, the player, and below it steps and what happens.
func (s Screen) Draw(env screen.Env) []draw.Line {
	if s.run == nil {
		return s.nothing(env)
	}
	lines := s.head(env)
	lines = append(lines, s.picture(env, s.pictureHeight(env))...)
	lines = append(lines, s.scrubber(env))
	height := max(env.Height-len(lines), 1)
	if !wide(env) {
		return append(lines, s.narrow(env, height)...)
	}
	left, right := s.plan(env, env.Width/2, height), s.events(env, height)
	for i := range height {
		lines = append(lines, left[i].Fit(env.Width/2-1, env.Theme.Symbols.Ellipsis).Add(theme.Plain, " ").Join(right[i]))
	}
	return lines
}

func (s Screen) nothing(env screen.Env) []draw.Line {
	switch {
	case s.detail == nil && env.World.Find(s.ref) == nil && env.World.Unseen == "":
		return []draw.Line{{}, draw.Text(theme.Faint, "  "+s.ref.String()+" does not exist; esc goes back")}
	case s.detail == nil:
		return env.Waiting("the pods of " + s.ref.String())
	}
	return []draw.Line{{}, draw.Text(theme.Busy, "  simulating ...")}
}

func (s Screen) narrow(env screen.Env, height int) []draw.Line {
	switch s.panel {
	case aboutPanel:
		return s.about(env, env.Width, height)
	case eventPanel:
		return s.events(env, height)
	}
	return s.plan(env, env.Width, height)
}

// plan are the steps and, where there is room, what the one of the cursor does.
func (s Screen) plan(env screen.Env, width, height int) []draw.Line {
	if wide(env) && s.panel == aboutPanel {
		return s.about(env, width, height)
	}
	below := s.below(env)
	steps := height - below
	return append(draw.Exactly(s.ladder(env, steps), steps), s.about(env, width, below)...)
}

func heading(text, more string) draw.Line {
	return draw.Text(theme.Header, " "+text).Add(theme.Faint, "  "+more)
}
