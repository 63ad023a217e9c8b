package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/theme"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// dialog asks before the cluster is changed: it says where, what, and what comes of
// it. A restart, a promotion and a pause are confirmed by y; everything else by a button
// and enter, with the focus on Cancel; in production a name has to be typed.
type dialog struct {
	input
	act world.Act
	// scopes are what a restart may be about, from what the cursor points at to the whole
	// workload; scope is the one that is chosen.
	scopes []scope
	scope  int
	// name has to be typed; empty asks for y or a button.
	name string
	// turn tells its effect from that of any other dialog.
	turn   int
	effect world.Effect
	err    error
	ready  bool
	// calm is true once the question has been seen for a moment without a key: what is
	// typed before answers nothing. waits counts the moments that were waited for.
	calm  bool
	waits int
	// sure is true while the button has the focus that carries the act out.
	sure bool
	// top is the first line that is seen.
	top int
}

func newDialog(m Model, a world.Act) dialog {
	d := dialog{input: newInput(""), act: a, turn: m.asks, scopes: scopesOf(a)}
	if m.env.World.Where.Production {
		d.name = m.env.World.Where.Context
		if len(a.On) == 1 {
			d.name = a.On[0].Name
		}
	}
	return d
}

// moment is for how long a question ignores keys after it has been painted, and after each
// key that it ignores.
const moment = 300 * time.Millisecond

// settled is the end of a moment without keys.
type settled struct{ turn, wait int }

// rest shows the question, and begins a moment at the end of which it hears answers.
func (d dialog) rest(m Model) (Model, tea.Cmd) {
	d.calm = false
	d.waits++
	m.over = d
	return m, m.options.After(moment, settled{d.turn, d.waits})
}

// settles is an overlay that hears answers once no key was pressed for a moment.
type settles interface{ settle(s settled) overlay }

// settle has the question hear answers, unless another key was pressed meanwhile.
func (d dialog) settle(s settled) overlay {
	d.calm = d.calm || d.turn == s.turn && d.waits == s.wait
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
	case name == "/" && d.name == "": // a search, and no answer
		return m.closed().filter(), nil
	case d.err != nil && (name == "enter" || name == "n" || name == "q"):
		return m.closed(), nil
	case !d.ready || d.err != nil:
		return m, nil
	case !d.calm:
		return d.rest(m)
	case name == "tab" && len(d.scopes) > 1:
		return d.rescoped(m)
	case d.name != "":
		return d.named(m, k)
	case d.short():
		return d.letter(m, name)
	}
	return d.button(m, name)
}

// short reports whether y confirms the act.
func (d dialog) short() bool {
	switch d.act.Verb {
	case world.Promote, world.Restart, world.PauseResume:
		return true
	}
	return false
}

// letter is an answer by a letter; any other begins a moment in which nothing counts.
func (d dialog) letter(m Model, name string) (Model, tea.Cmd) {
	switch {
	case name == "n" || name == "N" || name == "q":
		return m.closed(), nil
	case (name == "y" || name == "Y") && d.open(m):
		return m.closed().carry(d.meant())
	}
	return d.rest(m)
}

// button is a key that moves between the buttons or chooses one.
func (d dialog) button(m Model, name string) (Model, tea.Cmd) {
	switch name {
	case "tab", "shift+tab", "left", "right":
		d.sure = !d.sure
		m.over = d
		return m, nil
	case "n", "N", "q":
		return m.closed(), nil
	case "enter":
		if !d.sure {
			return m.closed(), nil
		}
		if d.open(m) {
			return m.closed().carry(d.meant())
		}
		return m, nil
	}
	return d.rest(m)
}

// named is a key of the name that has to be typed.
func (d dialog) named(m Model, k tea.KeyPressMsg) (Model, tea.Cmd) {
	if k.String() == "enter" {
		if d.open(m) && d.Value() == d.name {
			return m.closed().carry(d.meant())
		}
		return m, nil
	}
	d.input = d.press(k)
	m.over = d
	return m, nil
}

// rescoped asks about the next scope of a restart.
func (d dialog) rescoped(m Model) (Model, tea.Cmd) {
	at := (d.scope + 1) % len(d.scopes)
	a := d.act
	a.Pods, a.Containers = d.scopes[at].pods, d.scopes[at].containers
	next, cmd := m.ask(a)
	if asks, ok := next.over.(dialog); ok {
		asks.scopes, asks.scope = d.scopes, at
		next.over = asks
	}
	return next, cmd
}

// open reports whether one may say yes: the effect is known and seen, and there is one.
func (d dialog) open(m Model) bool { return d.ready && d.err == nil && d.calm && askable(m.env) }

// meant is the act, as what was said yes to.
func (d dialog) meant() world.Act {
	d.act.Means = d.effect.Means
	return d.act
}

func (d dialog) paste(text string) overlay {
	if d.calm {
		d.input = d.insert(text)
	}
	return d
}

func (d dialog) foot(Model) (draw.Line, bool) {
	l := draw.Text(theme.Faint, " esc cancel")
	switch {
	case d.err != nil:
		return draw.Text(theme.Faint, " esc back"), true
	case d.name == "" && !d.short():
		l = draw.Text(theme.Faint, " tab choose   enter confirm  ").Join(l)
	case d.name == "" && len(d.scopes) > 1:
		l = draw.Text(theme.Faint, " tab change what is restarted  ").Join(l)
	}
	return l, true
}

func (d dialog) body(m Model, under []draw.Line) []draw.Line { return d.question(m).draw(m, under) }
