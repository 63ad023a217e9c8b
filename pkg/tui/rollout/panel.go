package rollout

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
)

// panel is what is shown where not all fits.
type panel uint8

const (
	podPanel panel = iota
	stepPanel
	eventPanel
	panels
)

// room is how much one part has; none is not shown.
type room struct{ width, height int }

// arrangement is who has which room. Beside is true where steps and causes stand
// beside the pods, and not above them.
type arrangement struct {
	beside              bool
	steps, grid, events room
	moving              int
}

// twoColumns is from how many columns on parts stand beside each other, and rich from
// how many lines on there is room for all of them.
const (
	twoColumns = 100
	rich       = 20
	headLines  = 3
)

// arrange divides the screen. It depends on the size alone, so that nothing jumps
// while pods come and go.
func (s Screen) arrange(env screen.Env) arrangement {
	left := max(env.Height-headLines, 1)
	if env.Height < rich {
		whole := room{env.Width, left}
		switch s.panel {
		case stepPanel:
			return arrangement{steps: whole, grid: room{width: env.Width}}
		case eventPanel:
			return arrangement{events: whole, grid: room{width: env.Width}}
		}
		return arrangement{grid: room{env.Width, max(left-3, 1)}, moving: 3}
	}
	events := max(left/4, 4)
	left -= events
	if env.Width < twoColumns {
		steps := left / 2
		return arrangement{steps: room{env.Width, steps}, grid: room{env.Width, left - steps - 3}, moving: 3, events: room{env.Width, events}}
	}
	steps, below := env.Width/2, max(left/3, 4)
	return arrangement{
		beside: true, steps: room{steps, left}, grid: room{env.Width - steps, left - below}, moving: below, events: room{env.Width, events},
	}
}
