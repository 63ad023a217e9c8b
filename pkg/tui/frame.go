package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
)

// View is the frame, composed in one pass.
func (m Model) View() tea.View {
	v := tea.NewView(m.frame())
	v.AltScreen = true
	v.MouseMode = tea.MouseModeCellMotion
	if _, plain := m.over.(plainText); plain {
		v.MouseMode = tea.MouseModeNone
	}
	v.WindowTitle = "kubectl kruise " + m.top().Title()
	return v
}

func (m Model) frame() string { return frame{m}.text() }

// frame is the model as it is drawn.
type frame struct{ Model }

func (m frame) text() string {
	var b strings.Builder
	b.Grow(m.width * m.height * 2)
	t := m.env.Theme
	head, foot := m.header(), m.footer()
	if m.around() > 2 {
		rule := draw.Text(draw.Faint, strings.Repeat(t.Symbols.Rule, m.width))
		head, foot = append(head, rule), append([]draw.Line{m.lost(rule)}, foot...)
	}
	lost := m.env.World.Link.Lost != "" && m.over == nil
	over := m.around() + m.env.Height - max(m.height, 1) // the last lines are seen where not all have room
	for _, part := range []struct {
		lines []draw.Line
		grey  bool
	}{{head, false}, {m.body(), lost}, {foot, false}} {
		cut := min(max(over, 0), len(part.lines))
		over -= cut
		if b.Len() > 0 && cut < len(part.lines) {
			b.WriteByte('\n')
		}
		draw.Write(&b, t, part.lines[cut:], m.width, part.grey)
	}
	return b.String()
}

// body is the screen and what lies over it, of just the height that there is.
func (m frame) body() []draw.Line {
	var lines []draw.Line
	if m.env.World.Loaded {
		lines = m.top().Draw(m.env)
	} else {
		lines = m.loading()
	}
	lines = draw.Exactly(lines, m.env.Height)
	if m.over != nil {
		lines = draw.Exactly(m.over.body(m.Model, lines), m.env.Height)
	}
	return lines
}

func (m frame) loading() []draw.Line {
	w := m.env.World
	if w.Link.Lost != "" {
		return []draw.Line{{}, draw.Text(draw.Bad, "  no connection: "+w.Link.Lost), draw.Text(draw.Faint, "  trying again ...")}
	}
	return []draw.Line{{}, draw.Text(draw.Busy, "  "+m.spin()+" ").Add(draw.Plain, "loading "+w.Loading)}
}

// lost is the rule below the screen, with the reason in it why no changes arrive.
func (m frame) lost(rule draw.Line) draw.Line {
	why := draw.Clean(m.env.World.Link.Lost)
	if why == "" || !m.env.World.Loaded {
		return rule
	}
	why = draw.Cut(" "+why+" ", m.width-2, m.env.Theme.Symbols.Ellipsis)
	return draw.Text(draw.Faint, m.env.Theme.Symbols.Rule).Add(draw.Bad, why).Join(rule.From(1 + draw.Width(why)))
}

func (m frame) spin() string {
	list := m.env.Theme.Symbols.Spin
	return list[m.env.Beat%len(list)]
}

// header is where one is, at the left, and how the connection is, at the right.
func (m frame) header() []draw.Line {
	l := draw.Text(draw.Plain, " ").Join(m.place())
	for i, s := range m.stack {
		style := draw.Plain
		if i == len(m.stack)-1 {
			style = draw.Title
		}
		l = l.Add(draw.Faint, " "+m.env.Theme.Symbols.Crumb+" ").Add(style, s.Title())
	}
	return []draw.Line{draw.Both(l, m.link().Add(draw.Plain, " "), m.width, m.env.Theme.Symbols.Ellipsis)}
}

func (m frame) place() draw.Line {
	where := m.env.World.Where
	style, name := draw.Strong, where.Context
	if where.Production {
		style, name = draw.Danger, " "+name+" "
	}
	space := where.Namespace
	if space == "" {
		space = "all namespaces"
	}
	if name == "" {
		return draw.Text(draw.Strong, "kruise")
	}
	return draw.Text(style, name).Add(draw.Faint, " "+space)
}

// link is the age of what is shown, and the state of the connection.
func (m frame) link() draw.Line {
	l := draw.Line{}
	if m.options.ReadOnly {
		l = l.Add(draw.Faint, " read-only")
	}
	w, s := m.env.World, m.env.Theme.Symbols
	if n := len(w.Running); n > 0 {
		l = l.Add(draw.Busy, " running "+counted.Of(n, "rollout"))
	}
	switch {
	case w.Link.Lost != "":
		return l.Add(draw.Bad, " "+s.Blocked+" lost; as of "+screen.Age(w.Now, w.At)+" ago")
	case w.Unseen != "" && w.Detail != nil:
		return l.Add(draw.Bad, " "+s.Blocked+" pods as of "+screen.Age(w.Now, w.Detail.Now)+" ago")
	case len(m.works.running) > 0:
		return l.Add(draw.Busy, " "+m.spin()+" "+m.works.running[len(m.works.running)-1].text)
	case !w.Loaded:
		return l.Add(draw.Busy, " "+m.spin())
	case w.Where.Simulated:
		return m.clock(l.Add(draw.Mark, " simulated"))
	}
	return m.clock(l.Add(draw.Good, " "+s.Healthy+" live"))
}

// clock is the time in the cluster, where there is room for it.
func (m frame) clock(l draw.Line) draw.Line {
	if m.width < 80 {
		return l
	}
	return l.Add(draw.Faint, " "+m.env.World.Now.Format("15:04:05"))
}

// footer is what is typed, a notice, or the keys.
func (m frame) footer() []draw.Line {
	if m.over != nil {
		if l, ok := m.over.foot(m.Model); ok {
			return []draw.Line{l}
		}
	}
	switch {
	case m.notice.Bad:
		return []draw.Line{draw.Text(draw.Bad, " "+m.env.Theme.Symbols.Blocked+" "+m.notice.Text)}
	case m.notice.Text != "":
		return []draw.Line{draw.Text(draw.Strong, " "+m.notice.Text)}
	}
	return []draw.Line{m.keyLine()}
}

// keyLine is the keys for which there is room, help always among them.
func (m frame) keyLine() draw.Line {
	end := keyHint(everywhere.help).Join(keyHint(everywhere.quit))
	l, room := draw.Line{}, m.width-end.Width()
	for _, b := range offers(m).hints() {
		if hint := keyHint(b); l.Width()+hint.Width() <= room {
			l = l.Join(hint)
		}
	}
	return draw.Both(l, end, m.width, "")
}

func keyHint(b screen.Binding) draw.Line {
	return draw.Text(draw.Key, " "+b.Keys[0]).Add(draw.Faint, " "+b.Does+" ")
}
