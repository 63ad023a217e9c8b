package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// command is one that can be typed after a colon.
type command struct {
	name, help string
	// args are what may follow, for completion.
	args []string
	run  func(m Model, args []string) (Model, tea.Cmd)
}

// commands are those of the interface and those of the screen that is seen.
func commands(m Model) []command {
	var names []string
	for _, w := range m.env.World.Workloads {
		names = append(names, w.String())
	}
	list := append(opening(names), command{"pods", "the pods of a workload", names, func(m Model, args []string) (Model, tea.Cmd) {
		r, _ := route(screen.Rollout)
		return r.openNamed(m, args)
	}})
	list = append(append(list, moving(m)...), switching(m.options.Contexts)...)
	if !m.options.ReadOnly {
		list = append(list, acting()...)
	}
	if s, ok := m.top().(screen.Ordered); ok {
		for _, o := range s.Orders() {
			list = append(list, command{
				o.Name, o.Help, o.Args,
				func(m Model, args []string) (Model, tea.Cmd) { return m.pass(screen.Order{Name: o.Name, Args: args}) },
			})
		}
	}
	return append(list, command{"quit", everywhere.quit.Help, nil, func(m Model, _ []string) (Model, tea.Cmd) { return m.quit() }})
}

// opening are the screens that need no more than a name, and the one of a workload.
func opening(names []string) []command {
	var list []command
	for _, r := range routes {
		if r.help == "" {
			continue
		}
		c := command{name: r.name, help: r.help}
		if !r.alone {
			c.args = names
		}
		c.run = r.openNamed
		list = append(list, c)
	}
	return list
}

// openNamed opens a screen of what is named, or of what the screen points at.
func (r destination) openNamed(m Model, args []string) (Model, tea.Cmd) {
	o := screen.Open{Screen: r.name}
	if sel := m.top().Selection(m.env); len(args) == 0 && len(sel.Workloads) > 0 {
		o.Ref = sel.Workloads[0]
	}
	if len(args) > 0 {
		row := named(m.env.World, args[0])
		if row == nil {
			m.notice = screen.Notice{Text: "there is no workload " + args[0], Bad: true}
			return m, nil
		}
		o.Ref = row.Ref
	}
	return m.open(o)
}

// named is the workload that a name means, nil for none.
func named(w *world.World, name string) *world.Workload {
	i := slices.IndexFunc(w.Workloads, func(row *world.Workload) bool {
		return row.String() == name || row.Namespace+"/"+row.String() == name
	})
	if i < 0 {
		return nil
	}
	return w.Workloads[i]
}

// acting are the verbs; those that need a value take it from what was typed.
func acting() []command {
	var list []command
	for _, v := range verbs {
		list = append(list, command{v.Does, v.Help, nil, func(m Model, args []string) (Model, tea.Cmd) {
			if takes := v.needs != "" || v.verb == world.Undo; len(args) > 1 || len(args) == 1 && !takes {
				m.notice = screen.Notice{Text: v.Does + ": what it is about is marked or pointed at, not typed", Bad: true}
				return m, nil
			}
			sel := m.top().Selection(m.env)
			if len(args) == 0 || len(sel.Workloads) == 0 {
				return m.act(v)
			}
			a := v.on(sel)
			a.Value = args[0]
			return m.ask(a)
		}})
	}
	return list
}

// run carries out what was typed.
func run(m Model, text string) (Model, tea.Cmd) {
	words := strings.Fields(text)
	if len(words) == 0 {
		return m, nil
	}
	for _, c := range commands(m) {
		if c.name == words[0] || c.name[:1] == words[0] && c.name == "quit" {
			return c.run(m, words[1:])
		}
	}
	if kind := kindOf(m.env.World, words[0]); kind != "" && len(words) == 1 {
		m, cmd := m.open(screen.Open{Screen: screen.Workloads})
		m, more := m.pass(screen.Filter{Text: strings.ToLower(kind) + "/"})
		return m, tea.Batch(cmd, more)
	}
	m.notice = screen.Notice{Text: "there is no command " + words[0] + "; ? lists them", Bad: true}
	return m, nil
}

// commandPrompt is a command that is typed.
type commandPrompt struct {
	input
	// tabs counts completions in a row, of what stood there before them.
	tabs   int
	before string
}

func (c commandPrompt) key(m Model, k tea.KeyPressMsg) (Model, tea.Cmd) {
	switch k.String() {
	case "esc", "ctrl+c":
		return m.closed(), nil
	case "enter":
		return run(m.closed(), c.Value())
	case "tab", "shift+tab":
		m.over = c.complete(m, k.String() == "tab")
		return m, nil
	}
	m.over = commandPrompt{input: c.press(k)}
	return m, nil
}

func (c commandPrompt) paste(text string) overlay { return commandPrompt{input: c.insert(text)} }

// foot is the command, and what it may become.
func (c commandPrompt) foot(m Model) (draw.Line, bool) {
	l := draw.Text(draw.Key, " :").Join(c.line()).Add(draw.Plain, " ")
	list := c.candidates(m, c.Value())
	for _, word := range list[:min(len(list), 8)] {
		l = l.Add(draw.Faint, " "+word)
	}
	return l, true
}

// complete puts the next candidate in the place of the last word.
func (c commandPrompt) complete(m Model, forward bool) commandPrompt {
	if c.tabs == 0 {
		c.before = c.Value()
	}
	list := c.candidates(m, c.before)
	if len(list) == 0 {
		return c
	}
	step := 1
	if !forward {
		step = len(list) - 1
	}
	next := commandPrompt{tabs: c.tabs + step, before: c.before}
	head := c.before[:len(c.before)-len(last(c.before))]
	text := head + list[(next.tabs-1)%len(list)]
	if len(list) == 1 {
		text, next.tabs = text+" ", 0
	}
	next.input = newInput(text)
	return next
}

// candidates are the words that may stand where one types: names of commands first,
// then what the command takes.
func (c commandPrompt) candidates(m Model, text string) []string {
	word, first := last(text), text == last(text)
	var list []string
	for _, cmd := range commands(m) {
		switch {
		case first:
			list = append(list, cmd.name)
		case strings.HasPrefix(text, cmd.name+" "):
			list = append(list, cmd.args...)
		}
	}
	return slices.DeleteFunc(list, func(s string) bool { return !strings.HasPrefix(s, word) })
}

// last is the word that is being typed, empty after a space.
func last(text string) string { return text[strings.LastIndexByte(text, ' ')+1:] }

// filterPrompt is a filter that is typed; the screen follows every letter.
type filterPrompt struct {
	input
	// nothing is true on a screen with nothing to search: what is typed goes nowhere.
	nothing bool
}

func (f filterPrompt) key(m Model, k tea.KeyPressMsg) (Model, tea.Cmd) {
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

func (f filterPrompt) paste(text string) overlay {
	f.input = f.insert(text)
	return f
}

// apply has the screen follow what was typed.
func (f filterPrompt) apply(m Model) (Model, tea.Cmd) {
	m.over = f
	if f.nothing {
		return m, nil
	}
	return m.pass(screen.Filter{Text: f.Value()})
}

func (f filterPrompt) foot(Model) (draw.Line, bool) {
	hint := "  enter apply, esc clear"
	if f.nothing {
		hint = "  nothing to search on this screen: enter or esc"
	}
	return draw.Text(draw.Key, " /").Join(f.line()).Add(draw.Faint, hint), true
}
