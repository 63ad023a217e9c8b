package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// moved is another namespace that is looked at, or why it is not.
type moved struct {
	number int
	to     string
	err    error
}

// allSpaces is the key that looks at all namespaces.
const allSpaces = "0"

// allSpacesKey is that key, where the source can.
func allSpacesKey(source world.Source) []screen.Binding {
	if _, ok := source.(world.Mover); !ok {
		return nil
	}
	return []screen.Binding{{Keys: []string{allSpaces}, Help: "all namespaces"}}
}

// moving is the command that goes to another namespace, where the source can.
func moving(source world.Source) []command {
	mover, ok := source.(world.Mover)
	if !ok {
		return nil
	}
	return []command{{
		name: "ns", help: "look at another namespace; without a name at all of them",
		args: func(m Model) []string { return m.env.World.Namespaces },
		run: func(m Model, args []string) (Model, tea.Cmd) {
			to := ""
			if len(args) > 0 && args[0] != "all" {
				to = args[0]
			}
			return m.travel(mover, to)
		},
	}}
}

// travel begins to go to a namespace, and does not go on to the one before.
func (m Model) travel(mover world.Mover, to string) (Model, tea.Cmd) {
	if m.stop != nil {
		m.stop()
	}
	works, number := m.works.begin("going to " + spaceName(to))
	m.works = works
	ctx, stop := context.WithCancel(m.ctx)
	m.stop = stop
	m.going = number
	return m, func() tea.Msg { return moved{number, to, mover.Move(ctx, to)} }
}

// move takes the screens of the old namespace away.
func (m Model) move(to moved) (Model, tea.Cmd) {
	if m.works = m.works.end(to.number); to.number != m.going {
		return m, nil
	}
	if to.err != nil {
		m.notice = screen.Say{Text: to.err.Error(), Bad: true}
		return m, nil
	}
	m.notice = screen.Say{Text: spaceName(to.to)}
	return m.leave(1).pass(screen.Changed{})
}

func spaceName(namespace string) string {
	if namespace == "" {
		return "all namespaces"
	}
	return "namespace " + namespace
}
