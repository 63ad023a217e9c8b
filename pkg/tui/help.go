package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/theme"
)

// helpPage are all keys, made from the very tables that they are looked up in; top is
// the first line that is seen.
type helpPage struct {
	input
	top int
	// typing is true while a search is typed, of which only matches are shown.
	typing bool
}

func newHelp() helpPage { return helpPage{input: newInput("")} }

func (h helpPage) key(m Model, k tea.KeyPressMsg) (Model, tea.Cmd) {
	name := k.String()
	if h.typing && name != "up" && name != "down" && name != "pgup" && name != "pgdown" {
		return h.search(m, k)
	}
	w, ok := draw.Window{At: h.top}.Key(name, max(len(h.lines(m))-h.page(m)+1, 1), h.page(m))
	switch {
	case ok:
		h.top = w.At
		m.over = h
	case name == "/":
		h.typing = true
		m.over = h
	case name == "esc" && h.Value() != "":
		m.over = newHelp()
	case name == "esc" || name == "?" || name == "q" || name == "ctrl+c" || name == "left" || name == "backspace":
		return m.closed(), nil
	}
	return m, nil
}

// search is a key of the text that is searched.
func (h helpPage) search(m Model, k tea.KeyPressMsg) (Model, tea.Cmd) {
	switch k.String() {
	case "esc", "ctrl+c":
		h = newHelp()
	case "enter":
		h.typing = false
	default:
		h.input, h.top = h.press(k), 0
	}
	m.over = h
	return m, nil
}

func (h helpPage) paste(text string) overlay {
	if h.typing {
		h.input, h.top = h.insert(text), 0
	}
	return h
}

// page is how many lines are seen at once: all but the one that says where one is.
func (helpPage) page(m Model) int { return max(m.env.Height-1, 1) }

func (h helpPage) body(m Model, _ []draw.Line) []draw.Line {
	lines, page := h.lines(m), h.page(m)
	top := min(h.top, max(len(lines)-page, 0))
	end := min(top+page, len(lines))
	place := fmt.Sprintf(" lines %d to %d of %d", min(top+1, end), end, len(lines))
	switch {
	case len(lines) == 0:
		place = " no match"
	case end < len(lines):
		place += fmt.Sprintf("   %s %d more below: down, pgdown", m.env.Theme.Symbols.Less, len(lines)-end)
	case top > 0:
		place += "   the end"
	}
	return append(draw.Exactly(append([]draw.Line{}, lines[top:end]...), page), draw.Text(theme.Faint, place))
}

func (h helpPage) foot(Model) (draw.Line, bool) {
	if h.typing {
		return draw.Text(theme.Key, " /").Join(h.line()).Add(theme.Faint, "  enter apply, esc clear"), true
	}
	return draw.Text(theme.Faint, " arrows scroll   / search   esc close"), true
}

// lines are those that match the search, with the titles of their sections.
func (h helpPage) lines(m Model) []draw.Line {
	var out []draw.Line
	want := strings.ToLower(h.Value())
	for _, s := range helpSections(m) {
		var list []draw.Line
		for _, l := range s[1:] {
			if strings.Contains(strings.ToLower(l.String()), want) {
				list = append(list, l)
			}
		}
		if len(list) > 0 {
			out = append(append(append(out, s[0]), list...), draw.Line{})
		}
	}
	return out
}

func helpSections(m Model) [][]draw.Line {
	width := m.env.Width
	out := [][]draw.Line{
		section("This screen: "+m.top().Title(), visible(m.top().Keys(), m.options.ReadOnly), width),
		section("Lists", moves, width),
	}
	if !m.options.ReadOnly {
		out = append(out, section("Acting, always after a question", acts(m.top()), width))
	}
	e := everywhere
	keys := append(jumps(), allSpacesKey(m.options.Source)...)
	return append(
		out,
		section("Everywhere", append(keys, e.back, e.filter, e.command, e.copy, e.help, e.quit), width),
		section("Commands", commandHelp(commands(m)), width),
	)
}

// jumps are the keys that open a screen from anywhere.
func jumps() []screen.Binding {
	var out []screen.Binding
	for _, r := range routes {
		if r.key != "" {
			out = append(out, screen.Binding{Keys: []string{r.key}, Help: r.help})
		}
	}
	return out
}

// acts are the verbs whose keys the screen does not use for something of its own.
func acts(s screen.Screen) []screen.Binding {
	var out []screen.Binding
	for _, v := range verbs {
		if !claims(s, v.Keys[0]) {
			out = append(out, v.Binding)
		}
	}
	return out
}

// visible leaves out what changes the cluster where nothing may.
func visible(list []screen.Binding, readOnly bool) []screen.Binding {
	var out []screen.Binding
	for _, b := range list {
		if !b.Changes || !readOnly {
			out = append(out, b)
		}
	}
	return out
}

// keyColumn is how wide the keys are on the page of help.
const keyColumn = 24

func section(title string, list []screen.Binding, width int) []draw.Line {
	lines := []draw.Line{draw.Text(theme.Header, " "+title)}
	for _, b := range list {
		keys := draw.Text(theme.Key, "   "+strings.Join(b.Keys, " "))
		keys = keys.Fit(max(keyColumn, keys.Width()+1), "")
		for i, l := range draw.Wrap(theme.Plain, b.Help, max(width-keyColumn-1, 10)) {
			if i > 0 {
				keys = draw.Text(theme.Plain, draw.Spaces(keyColumn))
			}
			lines = append(lines, keys.Join(l))
		}
	}
	return lines
}
