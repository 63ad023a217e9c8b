package tui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
)

// overlay lies over the screen and takes all keys.
type overlay interface {
	key(m Model, k tea.KeyPressMsg) (Model, tea.Cmd)
	// body is drawn over the lines of the screen.
	body(m Model, under []draw.Line) []draw.Line
	// foot takes the place of the keys; false leaves them.
	foot(m Model) (draw.Line, bool)
}

// closed is the model without what lay over the screen.
func (m Model) closed() Model {
	m.over = nil
	return m
}

// pastable is an overlay that text is typed into.
type pastable interface{ paste(text string) overlay }

// paste is text for whoever takes text.
func (m Model) paste(p tea.PasteMsg) (Model, tea.Cmd) {
	if t, ok := m.over.(pastable); ok {
		m.over = t.paste(p.Content)
	}
	if f, ok := m.over.(filtering); ok {
		return f.apply(m)
	}
	return m, nil
}
