package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
)

// helpPage are all keys, made from the very tables that they are looked up in: those that act first, in columns and
// a few words each; a filter, or tab, shows whole sentences. top is the first line that is seen.
type helpPage struct {
	input
	top int
	// typing is true while a filter is typed.
	typing bool
	// whole is true where each key has its sentence.
	whole bool
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
	case name == "tab":
		h.whole, h.top = !h.whole, 0
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
	case len(lines) > 0 && len(lines) <= page:
		place = ""
	case len(lines) == 0:
		place = " no match"
	case end < len(lines):
		place += fmt.Sprintf("   %s %d more below: down, pgdown", m.env.Theme.Symbols.Less, len(lines)-end)
	case top > 0:
		place += "   the end"
	}
	return append(draw.Exactly(append([]draw.Line{}, lines[top:end]...), page), draw.Text(draw.Faint, place))
}

func (h helpPage) foot(Model) (draw.Line, bool) {
	if h.typing {
		return draw.Text(draw.Key, " /").Join(h.line()).Add(draw.Faint, "  enter apply, esc clear"), true
	}
	more := "tab whole sentences"
	if h.whole {
		more = "tab short"
	}
	return draw.Text(draw.Faint, " / filter   "+more+"   esc close"), true
}

// lines are the page: in short or, where that is asked for, the sentences that match the filter.
func (h helpPage) lines(m Model) []draw.Line {
	if !h.whole && h.Value() == "" {
		return shortHelp(m)
	}
	var out []draw.Line
	want := strings.ToLower(h.Value())
	for _, s := range helpSections(m) {
		var list []draw.Line
		for _, l := range s.lines(m.env.Width) {
			if strings.Contains(strings.ToLower(l.String()), want) {
				list = append(list, l)
			}
		}
		if len(list) > 0 {
			out = append(append(append(out, draw.Text(draw.Header, " "+s.title)), list...), draw.Line{})
		}
	}
	return out
}

// helpSection is a part of the page.
type helpSection struct {
	title string
	keys  []screen.Binding
	place helpPlace
}

// helpPlace is where the short page has the keys of a section: in a column, one after the other, or not at all.
type helpPlace uint8

const (
	inColumn helpPlace = iota
	inLine
	inFull
)

func helpSections(m Model) []helpSection {
	var out []helpSection
	if !m.options.ReadOnly {
		out = append(out, helpSection{title: "Act, after a question", keys: acts(m.top())})
	}
	var typed []screen.Binding
	for _, c := range commands(m) {
		typed = append(typed, screen.Binding{Keys: []string{":" + c.name}, Help: c.help})
	}
	e := everywhere
	return append(
		out,
		helpSection{title: "This screen: " + m.top().Title(), keys: visible(m.top().Keys(), m.options.ReadOnly)},
		helpSection{"Everywhere", []screen.Binding{e.back, e.filter, e.command, e.copy, e.name, e.help, e.quit}, inLine},
		helpSection{"Go to", append(jumps(), allSpacesKey(m.options.Source)...), inLine},
		helpSection{"Lists", moves, inLine},
		helpSection{"Commands", typed, inFull},
	)
}

// shortHelp has a column for each section, as far as there is room beside each other, and below them, one after the
// other, the keys that need no line.
func shortHelp(m Model) []draw.Line {
	width := m.env.Width
	var columns []helpSection
	var lines, below []draw.Line
	for _, s := range helpSections(m) {
		switch s.place {
		case inLine:
			below = append(below, s.inShort(width)...)
		case inColumn:
			columns = append(columns, s)
		}
	}
	wide := width
	if len(columns) > 1 && width >= 2*narrowHelp {
		wide = width / len(columns)
	}
	for _, s := range columns {
		column := append([]draw.Line{draw.Text(draw.Header, " "+s.title)}, s.short(wide-1)...)
		if wide == width {
			lines = append(lines, column...)
			continue
		}
		for len(lines) < len(column) {
			lines = append(lines, draw.Line{})
		}
		used := lines[0].Width()
		for i := range lines {
			var cell draw.Line
			if i < len(column) {
				cell = column[i]
			}
			lines[i] = lines[i].Fit(used, "").Join(cell.Fit(wide, m.env.Theme.Symbols.Ellipsis))
		}
	}
	return append(lines, below...)
}

// narrowHelp is how wide a column of keys is at least.
const narrowHelp = 38

// jumps are the keys that open a screen from anywhere.
func jumps() []screen.Binding {
	var out []screen.Binding
	for _, r := range routes {
		if r.key != "" {
			out = append(out, screen.Binding{Keys: []string{r.key}, Does: r.name, Help: r.help})
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

// keyColumn is how wide the keys are on the page of help, and shortKeys where it is in columns.
const keyColumn, shortKeys = 24, 12

// lines are the keys with a sentence each.
func (s helpSection) lines(width int) []draw.Line {
	var lines []draw.Line
	for _, b := range s.keys {
		keys := draw.Text(draw.Key, "   "+strings.Join(b.Keys, " "))
		keys = keys.Fit(max(keyColumn, keys.Width()+1), "")
		lines = append(lines, draw.Hang(keys, draw.Plain, b.Help, max(width-keyColumn-1, 10))...)
	}
	return lines
}

// short are the keys with as many words as have room: the sentence, else what the last line says.
func (s helpSection) short(width int) []draw.Line {
	var lines []draw.Line
	for _, b := range s.keys {
		text := b.Help
		if draw.Width(text) > width-shortKeys && b.Does != "" {
			text = b.Does
		}
		keys := draw.Text(draw.Key, "  "+strings.Join(b.Keys[:min(len(b.Keys), 2)], " "))
		lines = append(lines, keys.Fit(max(shortKeys, keys.Width()+1), "").Add(draw.Plain, text))
	}
	return lines
}

// inShort are the keys of a section one after the other, with a word each where they have one.
func (s helpSection) inShort(width int) []draw.Line {
	lines := []draw.Line{draw.Text(draw.Header, fmt.Sprintf(" %-11s", s.title))}
	indent := lines[0].Width()
	for _, b := range s.keys {
		entry := draw.Text(draw.Key, strings.Join(b.Keys, " ")).Add(draw.Plain, " "+b.Does+"  ")
		if last := lines[len(lines)-1]; last.Width() > indent && last.Width()+entry.Width()-2 > width {
			lines = append(lines, draw.Text(draw.Plain, draw.Spaces(indent)))
		}
		lines[len(lines)-1] = lines[len(lines)-1].Join(entry)
	}
	return lines
}
