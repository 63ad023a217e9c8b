package plan

import "github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"

// panel is what is shown below the player where not all fits.
type panel uint8

const (
	stepPanel panel = iota
	aboutPanel
	eventPanel
	panels
)

const (
	// twoColumns is from how many columns on what happens stands beside the steps.
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

// explained reports whether all of what a step does stands below the steps.
func (s Screen) explained(env screen.Env) bool {
	width := env.Width
	if wide(env) {
		width /= 2
	}
	return s.run != nil && len(s.facts(env, width)) <= s.below(env)
}

// pictureHeight is how many lines the picture has, by those of the screen: none where there
// is no room, no time that goes by, or a step that is read instead.
func (s Screen) pictureHeight(env screen.Env) int {
	if env.Height < drawn || s.run.lasts() == 0 || s.panel == aboutPanel && env.Height < rich {
		return 0
	}
	return min(env.Height/5, 12)
}
