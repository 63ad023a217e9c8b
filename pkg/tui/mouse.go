package tui

import (
	"time"

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
		m.click = nil
		by := lines
		if at.Button == tea.MouseWheelUp {
			by = -lines
		}
		return m.pass(screen.Wheel{By: by})
	case tea.MouseClickMsg:
		return m.clicked(screen.Click{X: at.X, Y: at.Y - m.around()/2})
	}
	return m, nil
}

// click is one that a second may follow, and when it was by the time in the cluster.
type click struct {
	screen.Click
	at time.Time
}

// quick is how soon a second click has to follow. The time in the cluster goes on by up
// to a second at once.
const quick = 2 * time.Second

// clicked is a double click where another was at the place just before, on this screen.
func (m Model) clicked(c screen.Click) (Model, tea.Cmd) {
	before, now := m.click, m.env.World.Now
	m.click = &click{c, now}
	if before != nil && before.Click == c && now.Sub(before.at) <= quick {
		c.Double, m.click = true, nil
	}
	return m.pass(c)
}
