package tui

import (
	"errors"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// effect is what an act would do, or why it cannot be done.
type effect struct {
	turn int
	world.Effect
	err error
}

// done is what an act has done.
type done struct {
	number int
	text   string
	err    error
}

// act starts the action of a key on the selection of the screen.
func (m Model) act(v verb) (Model, tea.Cmd) {
	if m.options.ReadOnly {
		m.notice = screen.Notice{Text: "read-only: nothing is changed from here"}
		return m, nil
	}
	sel := m.top().Selection(m.env)
	if len(sel.Workloads) == 0 {
		m.notice = screen.Notice{Text: "nothing is selected to " + v.Does}
		return m, nil
	}
	if ref := sel.Workloads[0]; m.top().Want().Workload == ref && m.env.World.Gone(ref) {
		m.notice = screen.Notice{Text: ref.String() + " does not exist", Bad: true}
		return m, nil
	}
	a := v.on(sel)
	if i := slices.IndexFunc(a.On, func(r cluster.Ref) bool { return !v.fits(r) }); i >= 0 {
		m.notice = screen.Notice{Text: names(a.On[i:i+1]) + " has no " + fields[v.verb], Bad: true}
		return m, nil
	}
	for _, row := range rowsOf(m.env.World, a.On) {
		if v.verb == world.PauseResume && row.Approval {
			why := errors.New(row.String() + ": waits for approval, nothing to pause")
			m.notice = screen.Notice{Text: offers{m}.refused(why), Bad: true}
			return m, nil
		}
	}
	if v.needs != "" {
		m.over = valuePrompt{newInput(""), v, a}
		return m, nil
	}
	return m.ask(a)
}

// on is the act of a verb on what is pointed at: pods and containers narrow a restart, all
// else is about the whole workload.
func (v verb) on(sel screen.Selection) world.Act {
	a := world.Act{Verb: v.verb, On: sel.Workloads}
	if v.verb == world.Restart {
		a.Pods, a.Containers = sel.Pods, sel.Containers
	}
	return a
}

// ask shows what an act is about, and works out what it would do.
func (m Model) ask(a world.Act) (Model, tea.Cmd) {
	if m.options.ReadOnly {
		return m.act(verb{})
	}
	m.asks++
	d := newDialog(m, a)
	m.over = d
	ctx, actions := m.ctx, m.options.Actions
	return m, func() tea.Msg {
		e, err := actions.Effect(ctx, a)
		return effect{d.turn, e, err}
	}
}

// takeEffect takes the effect into the dialog, unless it was closed. Where a key that the footer
// does not offer leads nowhere, a line says why, and the question is gone.
func (m Model) takeEffect(e effect) (Model, tea.Cmd) {
	d, ok := m.over.(dialog)
	switch {
	case !ok || d.turn != e.turn:
		return m, nil
	case e.err != nil && !offers{m}.offered(d.act):
		m.notice = screen.Notice{Text: offers{m}.refused(e.err), Bad: true}
		return m.closed(), nil
	}
	d.effect, d.err, d.ready = e.Effect, e.err, true
	return d.rest(m)
}

// carry does what was confirmed.
func (m Model) carry(a world.Act) (Model, tea.Cmd) {
	works, number := m.works.begin(string(a.Verb) + " " + names(a.On))
	m.works = works
	ctx, actions := m.ctx, m.options.Actions
	return m, func() tea.Msg {
		text, err := actions.Do(ctx, a)
		return done{number, text, err}
	}
}

// valuePrompt is a value that an act needs.
type valuePrompt struct {
	input
	verb verb
	act  world.Act
}

func (t valuePrompt) key(m Model, k tea.KeyPressMsg) (Model, tea.Cmd) {
	switch k.String() {
	case "esc", "ctrl+c":
		return m.closed(), nil
	case "enter":
		if t.act.Value = strings.TrimSpace(t.Value()); t.act.Value == "" {
			return m.closed(), nil
		}
		return m.ask(t.act)
	}
	t.input = t.press(k)
	m.over = t
	return m, nil
}

func (t valuePrompt) paste(text string) overlay {
	t.input = t.insert(text)
	return t
}

func (t valuePrompt) foot(Model) (draw.Line, bool) {
	return draw.Text(draw.Key, " "+t.verb.Does+" "+names(t.act.On)).
		Add(draw.Plain, "  "+t.verb.needs+": ").Join(t.line()), true
}

// shell hands the terminal to a shell in a container, and takes it back when that ends.
func (m Model) shell(s screen.Shell) (Model, tea.Cmd) {
	if m.options.ReadOnly {
		m.notice = screen.Notice{Text: "read-only: nothing is changed from here"}
		return m, nil
	}
	program, err := m.options.Actions.Shell(s.Namespace, s.Pod, s.Container)
	if err != nil {
		m.notice = screen.Notice{Text: err.Error(), Bad: true}
		return m, nil
	}
	return m, tea.Exec(program, func(err error) tea.Msg {
		if err != nil {
			return screen.Notice{Text: "the shell ended: " + err.Error(), Bad: true}
		}
		return screen.Notice{Text: "the shell in " + s.Pod + " ended"}
	})
}

// works is what is carried out in the background, the newest last; count is of all that ever was.
type works struct {
	running []work
	count   int
}

// work is something that is carried out in the background; its number tells its end from that of others.
type work struct {
	number int
	text   string
}

// begin returns the works with another one, and its number.
func (w works) begin(text string) (works, int) {
	w.count++
	w.running = append(slices.Clip(w.running), work{w.count, text})
	return w, w.count
}

// end returns the works without the one of a number.
func (w works) end(number int) works {
	w.running = slices.DeleteFunc(slices.Clone(w.running), func(w work) bool { return w.number == number })
	return w
}
