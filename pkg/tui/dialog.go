package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/theme"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// dialog asks before the cluster is changed: it says where, what, and what comes of
// it. In production a name has to be typed.
type dialog struct {
	input
	act world.Act
	// name has to be typed; empty asks for y.
	name string
	// turn tells its effect from that of any other dialog.
	turn   int
	effect world.Effect
	err    error
	ready  bool
	// top is the first line that is seen.
	top int
}

func newDialog(m Model, a world.Act) dialog {
	d := dialog{input: newInput(""), act: a, turn: m.asks}
	if m.env.World.Where.Production {
		d.name = m.env.World.Where.Context
		if len(a.On) == 1 {
			d.name = a.On[0].Name
		}
	}
	return d
}

func (d dialog) key(m Model, k tea.KeyPressMsg) (Model, tea.Cmd) {
	name := k.String()
	if top, ok := d.question(m).turned(m, name); ok {
		d.top = top
		m.over = d
		return m, nil
	}
	switch {
	case name == "esc" || name == "ctrl+c":
		return m.closed(), nil
	case d.err != nil && (name == "enter" || name == "n" || name == "q"):
		return m.closed(), nil
	case d.name == "":
		return d.short(m, name)
	case name == "enter" && d.open(m) && d.Value() == d.name:
		return m.closed().carry(d.meant())
	case name == "enter":
		return m, nil
	}
	d.input = d.press(k)
	m.over = d
	return m, nil
}

// short is the dialog that one letter answers.
func (d dialog) short(m Model, name string) (Model, tea.Cmd) {
	switch {
	case name == "n" || name == "N" || name == "q":
		return m.closed(), nil
	case (name == "y" || name == "Y") && d.open(m):
		return m.closed().carry(d.meant())
	}
	return m, nil
}

// open reports whether one may say yes: the effect is known and seen, and there is one.
func (d dialog) open(m Model) bool { return d.ready && d.err == nil && m.askable() }

// meant is the act, as what somebody has said yes to.
func (d dialog) meant() world.Act {
	d.act.Means = d.effect.Means
	return d.act
}

func (d dialog) paste(text string) overlay {
	d.input = d.insert(text)
	return d
}

func (d dialog) foot(Model) (draw.Line, bool) {
	return draw.Text(theme.Faint, " esc leaves everything as it is"), true
}

func (d dialog) body(m Model, under []draw.Line) []draw.Line { return d.question(m).draw(m, under) }

func (d dialog) question(m Model) question {
	lines := []draw.Line{m.contextLine(m.env.World.Where)}
	if space := spaces(d.act); space != "" {
		lines = append(lines, draw.Text(theme.Faint, "namespace  ").Add(theme.Plain, space))
	}
	label := "what       "
	for _, l := range draw.Wrap(theme.Strong, d.what(), draw.BoxWidth(m.env.Width)-len(label)) {
		lines = append(lines, draw.Text(theme.Faint, label).Join(l))
		label = draw.Spaces(len(label))
	}
	lines = append(append(lines, draw.Line{}), d.effects(m)...)
	lines = append(lines, m.evidence(d.turn, draw.BoxWidth(m.env.Width))...)
	lines, answer, width := append(lines, draw.Line{}), d.answer(), draw.BoxWidth(m.env.Width)
	if d.name != "" && d.ready && d.err == nil && answer.Width() > width { // what is typed is seen in any case
		lines = append(lines, draw.Wrap(theme.Strong, "type "+d.name+" and enter:", width)...)
		typed := d.line()
		answer = typed.From(max(typed.Width()-width, 0))
	}
	return question{string(d.act.Verb), lines, answer, d.top}
}

func (m Model) contextLine(where world.Where) draw.Line {
	l := draw.Text(theme.Faint, "context    ").Add(theme.Strong, where.Context)
	if where.Production {
		l = l.Add(theme.Plain, " ").Add(theme.Danger, " production ")
	}
	return l
}

// spaces are the namespaces of an act; what is of the whole cluster has none.
func spaces(a world.Act) string {
	var list []string
	seen := map[string]bool{}
	for _, r := range a.On {
		if !seen[r.Namespace] {
			list = append(list, r.Namespace)
			seen[r.Namespace] = true
		}
	}
	return strings.Join(list, ", ")
}

func (d dialog) what() string {
	text := string(d.act.Verb) + " " + names(d.act.On)
	if len(d.act.Pods) > 0 {
		text += ": " + strings.Join(d.act.Pods, ", ")
	}
	if len(d.act.Containers) > 0 {
		text += ", containers " + strings.Join(d.act.Containers, ", ")
	}
	if d.act.Value != "" {
		text += " to " + d.act.Value
	}
	return text
}

func (d dialog) effects(m Model) []draw.Line {
	switch {
	case d.err != nil:
		return draw.Wrap(theme.Bad, d.err.Error(), draw.BoxWidth(m.env.Width))
	case !d.ready:
		return []draw.Line{draw.Text(theme.Faint, "working out what that would do ...")}
	}
	var lines []draw.Line
	for _, text := range d.effect.Lines {
		lines = append(lines, draw.Wrap(theme.Plain, text, draw.BoxWidth(m.env.Width))...)
	}
	return lines
}

func (d dialog) answer() draw.Line {
	switch {
	case d.err != nil:
		return draw.Text(theme.Key, "esc").Add(theme.Plain, " back")
	case !d.ready:
		return draw.Text(theme.Key, "n").Add(theme.Plain, " no")
	case d.name != "":
		return draw.Text(theme.Plain, "type ").Add(theme.Strong, d.name).Add(theme.Plain, " and enter: ").Join(d.line())
	}
	return draw.Text(theme.Key, "y").Add(theme.Plain, " yes   ").Add(theme.Key, "n").Add(theme.Plain, " no")
}
