package tui

import (
	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/theme"
)

// input is one line that is typed.
type input struct{ textinput.Model }

func newInput(text string) input {
	in := textinput.New()
	in.Focus()
	in.SetValue(text)
	in.CursorEnd()
	return input{in}
}

func (i input) press(msg tea.Msg) input {
	i.Model, _ = i.Update(msg)
	return i
}

func (i input) insert(text string) input { return i.press(tea.PasteMsg{Content: text}) }

// line is what was typed, with the cursor in it.
func (i input) line() draw.Line {
	text, at := []rune(i.Value()), i.Position()
	under, after := " ", ""
	if at < len(text) {
		under, after = string(text[at]), string(text[at+1:])
	}
	return draw.Of(
		draw.Span{Text: string(text[:at]), Style: theme.Strong},
		draw.Span{Text: under, Style: theme.Found},
		draw.Span{Text: after, Style: theme.Strong},
	)
}
