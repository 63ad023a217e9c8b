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
	p := picture{run: s.run, at: s.at, width: inner(env)}
	lines = append(lines, p.lines(env.Theme.Symbols, s.pictureHeight(env))...)
	lines = append(lines, p.scrubber(env.Theme.Symbols))
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
		return s.table().description(env, env.Width, height)
	case eventPanel:
		return s.events(env, height)
	}
	return s.plan(env, env.Width, height)
}

// plan are the steps and, where there is room, what the one of the cursor does.
func (s Screen) plan(env screen.Env, width, height int) []draw.Line {
	if wide(env) && s.panel == aboutPanel {
		return s.table().description(env, width, height)
	}
	below := s.below(env)
	steps, t := height-below, s.table()
	return append(draw.Exactly(t.lines(env, steps), steps), t.description(env, width, below)...)
}

func (s Screen) table() stepTable { return stepTable{run: s.run, at: s.at, cursor: s.steps.At} }

func heading(text, more string) draw.Line {
	return draw.Text(theme.Header, " "+text).Add(theme.Faint, "  "+more)
}

// panel is what is shown below the player where not all fits.
type panel uint8

const (
	stepPanel panel = iota
	aboutPanel
	eventPanel
	panels
)

const (
	// twoColumns is the least width at which events are beside the steps.
	twoColumns = 100
	// rich is from how many lines on what a step does stands below the steps, however many
	// there are; fewAbout is how many lines of it are worth it where all steps have room.
	rich     = 24
	fewAbout = 5
	// drawn is from how many lines on there is a picture.
	drawn = 15
	// headLines are those above and below the picture.
	headLines = 4
)

func wide(env screen.Env) bool { return env.Width >= twoColumns }

// turned shows the next panel, and skips what is shown in any case.
func (s Screen) turned(env screen.Env) Screen {
	explained := s.explained(env)
	s.panel = (s.panel + 1) % panels
	if s.panel == aboutPanel && explained {
		s.panel = eventPanel
	}
	if s.panel == eventPanel && wide(env) {
		s.panel = stepPanel
	}
	return s
}

// below is how many lines of what a step does stand below the steps.
func (s Screen) below(env screen.Env) int {
	room := max(env.Height-headLines-s.pictureHeight(env), 1)
	left := room - len(s.run.plan.Steps) - 2 // with the heading of the steps, and a free line
	switch {
	case env.Height >= rich:
		return max(left, room-room/2)
	case left < fewAbout:
		return 0
	}
	return left
}

// explained reports whether the whole effect of a step is shown below the steps.
func (s Screen) explained(env screen.Env) bool {
	width := env.Width
	if wide(env) {
		width /= 2
	}
	return s.run != nil && len(s.table().facts(env, width)) <= s.below(env)
}

// pictureHeight is how many lines the picture has, by those of the screen: none where there
// is no room, no time that goes by, or a step that is read instead.
func (s Screen) pictureHeight(env screen.Env) int {
	if env.Height < drawn || s.run.lasts() == 0 || s.panel == aboutPanel && env.Height < rich {
		return 0
	}
	return min(env.Height/5, 12)
}
