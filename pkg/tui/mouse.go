package tui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
)

// lines is how far a wheel turns.
const lines = 3

// mouse gives clicks and turns of the wheel to the screen; a second click at one place
// is a double one.
func (m Model) mouse(msg tea.MouseMsg) (Model, tea.Cmd) {
	if m.over != nil {
		return m, nil
	}
	at := msg.Mouse()
	switch msg.(type) {
	case tea.MouseWheelMsg:
		by := lines
		if at.Button == tea.MouseWheelUp {
			by = -lines
		}
		return m.pass(screen.Wheel{By: by})
	case tea.MouseClickMsg:
		c := screen.Click{X: at.X, Y: at.Y - m.around()/2}
		c.Double = c == m.click
		m.click = c
		return m.pass(c)
	}
	return m, nil
}
