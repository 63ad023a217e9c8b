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

// twoColumns is from how many columns on what happens stands beside the steps, and rich
// from how many lines on there is a picture, and what a step does below the steps.
const (
	twoColumns = 100
	rich       = 24
	headLines  = 4
)

func wide(env screen.Env) bool { return env.Width >= twoColumns }

func tall(env screen.Env) bool { return env.Height >= rich }

// next skips what is shown in any case.
func (p panel) next(env screen.Env) panel {
	p = (p + 1) % panels
	if p == aboutPanel && tall(env) {
		p = eventPanel
	}
	if p == eventPanel && wide(env) {
		p = stepPanel
	}
	return p
}

// pictureHeight is how many lines the picture has, none where there is no room.
func pictureHeight(env screen.Env) int {
	if !tall(env) {
		return 0
	}
	return min(env.Height/5, 12)
}
