package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/theme"
)

// helpPage are all keys, made from the very tables that they are looked up in; top is
// the first line that is seen.
type helpPage struct{ top int }

func (h helpPage) key(m Model, k tea.KeyPressMsg) (Model, tea.Cmd) {
	lines := len(helpLines(m))
	w, ok := draw.Window{At: h.top}.Key(k.String(), max(lines-m.env.Height+1, 1), m.env.Height)
	if !ok {
		return m.closed(), nil
	}
	m.over = helpPage{w.At}
	return m, nil
}

func (h helpPage) body(m Model, _ []draw.Line) []draw.Line {
	lines := helpLines(m)
	return lines[min(h.top, max(len(lines)-1, 0)):]
}

func (helpPage) foot(Model) (draw.Line, bool) {
	return draw.Text(theme.Faint, " any other key closes this page"), true
}

func helpLines(m Model) []draw.Line {
	out := section("This screen: "+m.top().Title(), m.visible(m.top().Keys()))
	out = append(out, section("Lists", moves)...)
	if !m.options.ReadOnly {
		out = append(out, section("Acting, always after a question", m.acts())...)
	}
	e := everywhere
	out = append(out, section("Everywhere", append(jumps(), e.back, e.filter, e.command, e.help, e.quit))...)
	return append(out, section("Commands", m.commandHelp())...)
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
func (m Model) acts() []screen.Binding {
	var out []screen.Binding
	for _, v := range verbs {
		if !m.claimed(v.Keys[0]) {
			out = append(out, v.Binding)
		}
	}
	return out
}

// visible leaves out what changes the cluster where nothing may.
func (m Model) visible(list []screen.Binding) []screen.Binding {
	var out []screen.Binding
	for _, b := range list {
		if !b.Changes || !m.options.ReadOnly {
			out = append(out, b)
		}
	}
	return out
}

func section(title string, list []screen.Binding) []draw.Line {
	lines := []draw.Line{draw.Text(theme.Header, " "+title)}
	for _, b := range list {
		keys := draw.Text(theme.Key, "   "+strings.Join(b.Keys, " ")).Fit(24, "")
		lines = append(lines, keys.Add(theme.Plain, b.Help))
	}
	return append(lines, draw.Line{})
}
