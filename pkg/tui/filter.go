package tui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/theme"
)

// filtering is a filter that is typed; the screen follows every letter.
type filtering struct {
	input
	// nothing is true on a screen with nothing to search: what is typed goes nowhere.
	nothing bool
}

func newFilter(text string) filtering { return filtering{input: newInput(text)} }

func (f filtering) key(m Model, k tea.KeyPressMsg) (Model, tea.Cmd) {
	switch k.String() {
	case "esc", "ctrl+c":
		return m.closed().pass(screen.Filter{})
	case "enter":
		return m.closed(), nil
	case "up", "down", "pgup", "pgdown":
		return m.pass(k)
	}
	f.input = f.press(k)
	return f.apply(m)
}

func (f filtering) paste(text string) overlay {
	f.input = f.insert(text)
	return f
}

// apply has the screen follow what was typed.
func (f filtering) apply(m Model) (Model, tea.Cmd) {
	m.over = f
	if f.nothing {
		return m, nil
	}
	return m.pass(screen.Filter{Text: f.Value()})
}

func (filtering) body(_ Model, under []draw.Line) []draw.Line { return under }

func (f filtering) foot(Model) (draw.Line, bool) {
	hint := "  enter apply, esc clear"
	if f.nothing {
		hint = "  nothing to search on this screen: enter or esc"
	}
	return draw.Text(theme.Key, " /").Join(f.line()).Add(theme.Faint, hint), true
}
