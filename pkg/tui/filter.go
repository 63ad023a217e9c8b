package tui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/theme"
)

// filtering is a filter that is typed; the screen follows every letter.
type filtering struct{ input }

func newFilter(text string) filtering { return filtering{newInput(text)} }

func (f filtering) key(m Model, k tea.KeyPressMsg) (Model, tea.Cmd) {
	switch k.String() {
	case "esc", "ctrl+c":
		return m.closed().pass(screen.Filter{})
	case "enter":
		return m.closed(), nil
	case "up", "down", "pgup", "pgdown":
		return m.pass(k)
	}
	return m.filtered(filtering{f.press(k)})
}

func (f filtering) paste(text string) overlay { return filtering{f.insert(text)} }

// filtered has the screen follow what was typed.
func (m Model) filtered(f filtering) (Model, tea.Cmd) {
	m.over = f
	return m.pass(screen.Filter{Text: f.Value()})
}

func (filtering) body(_ Model, under []draw.Line) []draw.Line { return under }

func (f filtering) foot(Model) (draw.Line, bool) {
	return draw.Text(theme.Key, " /").Join(f.line()).Add(theme.Faint, "  enter keeps it, esc takes it away"), true
}
