package tui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// everywhere are the keys that every screen has.
var everywhere = struct{ back, filter, command, copy, help, quit screen.Binding }{
	back:    screen.Binding{Keys: []string{"esc", "left", "backspace"}, Does: "back", Help: "clear the filter or the search, or go back one screen"},
	filter:  screen.Binding{Keys: []string{"/"}, Does: "filter", Help: "type a text: lists filter by it (letters of a name in order, words, label=value), pages search for it"},
	command: screen.Binding{Keys: []string{":"}, Does: "command", Help: "type a command; tab completes it"},
	copy:    screen.Binding{Keys: []string{"c"}, Does: "copy", Help: "copy the name of what the cursor is on to the clipboard of the terminal (OSC 52)"},
	help:    screen.Binding{Keys: []string{"?"}, Does: "help", Help: "this page"},
	quit:    screen.Binding{Keys: []string{"q", "ctrl+c"}, Does: "quit", Help: "leave; rollouts that run elsewhere continue"},
}

// moves are the keys of all lists, for the page of help.
var moves = []screen.Binding{
	{Keys: []string{"↑", "↓", "k", "j"}, Help: "one line up or down"},
	{Keys: []string{"pgup", "pgdown"}, Help: "a page up or down"},
	{Keys: []string{"ctrl+u", "ctrl+d"}, Help: "half a page up or down"},
	{Keys: []string{"g", "G"}, Help: "to the first or the last line"},
}

// verb is a key that changes the cluster.
type verb struct {
	screen.Binding
	verb world.Verb
	// needs is what has to be typed first, empty for nothing.
	needs string
}

var verbs = []verb{
	act("n", "promote", world.Promote, "approve the pause of a rollout: continue with its next step", ""),
	act("P", "pause", world.PauseResume, "pause what runs, resume what is paused, retry what has failed", ""),
	act("u", "undo", world.Undo, "roll back to the previous revision", ""),
	act("a", "abort", world.Abort, "end the rollout; pods stay as they are", ""),
	act("R", "restart", world.Restart, "restart containers in place: of the pod of the cursor, of marked ones, or of all", ""),
	act("s", "scale", world.Scale, "change how many pods there are", "how many pods"),
	act("e", "partition", world.Partition, "change how many pods stay on the old revision", "pods that stay on the old revision, such as 3 or 40%"),
}

// takes reports whether a value may follow on the command line.
func (v verb) takes() bool { return v.needs != "" || v.verb == world.Undo }

func act(key, does string, v world.Verb, help, needs string) verb {
	return verb{screen.Binding{Keys: []string{key}, Does: does, Help: help, Changes: true}, v, needs}
}

// key is what a key does: in what lies over the screen, everywhere, or in the screen.
func (m Model) key(k tea.KeyPressMsg) (Model, tea.Cmd) {
	m.click = nil
	if m.over != nil { // which hides the notice: it is seen afterwards
		return m.over.key(m, k)
	}
	m.notice = screen.Say{}
	name := k.String()
	switch {
	case everywhere.back.Is(name) && !claims(m.top(), name):
		return m.back()
	case everywhere.quit.Is(name):
		m.next = ""
		return m.quit()
	case everywhere.help.Is(name):
		m.over = newHelp()
		return m, nil
	case everywhere.command.Is(name):
		m.over = newCommand(m)
		return m, nil
	case everywhere.filter.Is(name):
		return m.filter(), nil
	case everywhere.copy.Is(name) && !claims(m.top(), name):
		return m.copied()
	case name == allSpaces && !claims(m.top(), name):
		if mover, ok := m.options.Source.(world.Mover); ok {
			return m.travel(mover, "")
		}
	}
	for _, v := range verbs {
		if v.Is(name) && !claims(m.top(), name) {
			return m.act(v)
		}
	}
	for _, r := range routes {
		if r.key == name {
			return m.open(screen.Open{Screen: r.name})
		}
	}
	return m.pass(k)
}

// claims reports whether a screen uses a key for something of its own.
func claims(s screen.Screen, key string) bool {
	for _, b := range s.Keys() {
		if b.Is(key) {
			return true
		}
	}
	return false
}

// filter has text typed on every screen; one with nothing to search takes it, too, so that
// none of it acts.
func (m Model) filter() Model {
	f, ok := m.top().(screen.Filterable)
	if !ok {
		m.over = filtering{input: newInput(""), nothing: true}
		return m
	}
	m.over = newFilter(f.Filtered())
	return m
}

// quit leaves, and asks first when that ends a rollout.
func (m Model) quit() (Model, tea.Cmd) {
	if len(m.env.World.Driving) > 0 {
		return askToLeave(m)
	}
	return m, tea.Quit
}
