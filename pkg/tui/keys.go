package tui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// everywhere are the keys that every screen has.
var everywhere = struct{ back, filter, command, help, quit screen.Binding }{
	back:    screen.Binding{Keys: []string{"esc", "left", "backspace"}, Does: "back", Help: "take the filter away, or go back one screen"},
	filter:  screen.Binding{Keys: []string{"/"}, Does: "filter", Help: "letters of a name in their order, words for all of which to look, or label=value"},
	command: screen.Binding{Keys: []string{":"}, Does: "command", Help: "type a command; tab completes it"},
	help:    screen.Binding{Keys: []string{"?"}, Does: "help", Help: "this page"},
	quit:    screen.Binding{Keys: []string{"q", "ctrl+c"}, Does: "quit", Help: "leave; rollouts that run elsewhere go on"},
}

// moves are the keys of all lists, for the page of help.
var moves = []screen.Binding{
	{Keys: []string{"↑", "↓", "k", "j"}, Help: "one line up or down"},
	{Keys: []string{"pgup", "pgdown"}, Help: "a page up or down"},
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
	act("n", "promote", world.Promote, "go on with a rollout that waits for a person", ""),
	act("P", "pause", world.PauseResume, "pause what runs, resume what is paused", ""),
	act("u", "undo", world.Undo, "roll back to the revision before", ""),
	act("a", "abort", world.Abort, "end the rollout where it stands", ""),
	act("R", "restart", world.Restart, "restart containers inside their pods", ""),
	act("s", "scale", world.Scale, "change how many pods there are", "how many pods"),
	act("e", "partition", world.Partition, "change how many pods stay old", "partition: pods that stay old, such as 3 or 40%"),
}

// takes reports whether a value may follow on the command line.
func (v verb) takes() bool { return v.needs != "" || v.verb == world.Undo }

func act(key, does string, v world.Verb, help, needs string) verb {
	return verb{screen.Binding{Keys: []string{key}, Does: does, Help: help, Changes: true}, v, needs}
}

// key is what a key does: in what lies over the screen, everywhere, or in the screen.
func (m Model) key(k tea.KeyPressMsg) (Model, tea.Cmd) {
	m.click = nil
	if m.over != nil { // which hides the notice: it shall be seen afterwards
		return m.over.key(m, k)
	}
	m.notice = screen.Say{}
	name := k.String()
	switch {
	case everywhere.back.Is(name) && !m.claimed(name):
		return m.back()
	case everywhere.quit.Is(name):
		return m.quit()
	case everywhere.help.Is(name):
		m.over = helpPage{}
		return m, nil
	case everywhere.command.Is(name):
		m.over = newCommand(m)
		return m, nil
	case everywhere.filter.Is(name):
		return m.filter(), nil
	}
	for _, v := range verbs {
		if v.Is(name) && !m.claimed(name) {
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

// claimed reports whether the screen uses a key for something of its own.
func (m Model) claimed(key string) bool {
	for _, b := range m.top().Keys() {
		if b.Is(key) {
			return true
		}
	}
	return false
}

// filter begins to filter, where the screen can be.
func (m Model) filter() Model {
	f, ok := m.top().(screen.Filterable)
	if !ok {
		m.notice = screen.Say{Text: "this screen has no filter"}
		return m
	}
	m.over = newFilter(f.Filtered())
	return m
}

// quit leaves, and asks first when that ends a rollout.
func (m Model) quit() (Model, tea.Cmd) {
	if len(m.env.World.Driving) > 0 {
		m.over = leaving{}
		return m, nil
	}
	return m, tea.Quit
}
