package tui

import (
	"fmt"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
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

// paste gives pasted text to the overlay that takes text.
func (m Model) paste(p tea.PasteMsg) (Model, tea.Cmd) {
	if t, ok := m.over.(pastable); ok {
		m.over = t.paste(p.Content)
	}
	if f, ok := m.over.(filterPrompt); ok {
		return f.apply(m)
	}
	return m, nil
}

// question is a box with something to read above its answer, which is always seen; where
// not all has room, top is the first line that is.
type question struct {
	title  string
	lines  []draw.Line
	answer draw.Line
	top    int
}

// askable reports whether there is room for a question: what cannot be seen is not confirmed.
func askable(env screen.Env) bool { return env.Height >= 6 && env.Width >= 30 }

// roomOf is how many lines of a question are seen above its answer.
func roomOf(env screen.Env) int { return max(env.Height-3, 1) }

// scrolled is the first line that is seen after a key, where it is one that scrolls.
func (q question) scrolled(m Model, key string) (int, bool) {
	page := max(roomOf(m.env)-2, 1)
	by, ok := map[string]int{"up": -1, "down": 1, "pgup": -page, "pgdown": page}[key]
	return min(max(q.top+by, 0), max(len(q.lines)-roomOf(m.env)+1, 0)), ok
}

func (q question) draw(m Model, under []draw.Line) []draw.Line {
	if !askable(m.env) {
		return []draw.Line{draw.Text(draw.Bad, " "+q.title+": too small to ask here")}
	}
	lines := q.lines
	if room := roomOf(m.env); len(lines) > room {
		top := min(q.top, len(lines)-room+1)
		end := top + room - 1
		more := fmt.Sprintf("%s %d above, %d below: up, down", m.env.Theme.Symbols.Less, top, len(lines)-end)
		lines = append(append([]draw.Line{}, lines[top:end]...), draw.Text(draw.Warn, more))
	}
	return draw.Box(m.env.Theme, under, q.title, append(append([]draw.Line{}, lines...), q.answer), m.env.Width, m.env.Height)
}

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

// body is the screen as it is: what is typed stands in the last line.
func (input) body(_ Model, under []draw.Line) []draw.Line { return under }

func (i input) insert(text string) input { return i.press(tea.PasteMsg{Content: text}) }

// line is what was typed, with the cursor in it.
func (i input) line() draw.Line {
	text, at := []rune(i.Value()), i.Position()
	under, after := " ", ""
	if at < len(text) {
		under, after = string(text[at]), string(text[at+1:])
	}
	return draw.Of(
		draw.Span{Text: string(text[:at]), Style: draw.Strong},
		draw.Span{Text: under, Style: draw.Found},
		draw.Span{Text: after, Style: draw.Strong},
	)
}
