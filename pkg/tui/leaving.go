package tui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/theme"
)

// leaving asks before the program is left that carries rollouts out.
type leaving struct{}

func (leaving) key(m Model, k tea.KeyPressMsg) (Model, tea.Cmd) {
	switch k.String() {
	case "y", "Y", "ctrl+c":
		return m, tea.Quit
	case "n", "N", "esc", "q":
		return m.closed(), nil
	}
	return m, nil
}

func (leaving) body(m Model, under []draw.Line) []draw.Line {
	lines := draw.Wrap(theme.Strong, names(m.env.World.Driving), draw.BoxWidth(m.env.Width))
	text := "This program carries that out. When you leave it stops where it stands; `rollout resume` goes on from there, on any machine."
	lines = append(lines, draw.Wrap(theme.Plain, text, draw.BoxWidth(m.env.Width))...)
	return question{"leave", append(lines, draw.Line{}), dialog{ready: true}.answer(), 0}.draw(m, under)
}

func (leaving) foot(Model) (draw.Line, bool) { return draw.Line{}, true }
