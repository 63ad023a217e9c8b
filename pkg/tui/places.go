package tui

import (
	"context"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// namespaceMsg is another namespace that is looked at, or why it is not.
type namespaceMsg struct {
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
	return []screen.Binding{{Keys: []string{allSpaces}, Does: "all namespaces", Help: "all namespaces"}}
}

// moving is the command that goes to another namespace, where the source can.
func moving(m Model) []command {
	mover, ok := m.options.Source.(world.Mover)
	if !ok {
		return nil
	}
	return []command{{
		name: "ns", help: "look at another namespace; without a name at all of them",
		args: m.env.World.Namespaces,
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
	return m, func() tea.Msg { return namespaceMsg{number, to, mover.Move(ctx, to)} }
}

// move takes the screens of the old namespace away.
func (m Model) move(to namespaceMsg) (Model, tea.Cmd) {
	if m.works = m.works.end(to.number); to.number != m.going {
		return m, nil
	}
	if to.err != nil {
		m.notice = screen.Notice{Text: to.err.Error(), Bad: true}
		return m, nil
	}
	m.notice = screen.Notice{Text: spaceName(to.to)}
	return m.leave(1).pass(screen.Changed{})
}

func spaceName(namespace string) string {
	if namespace == "" {
		return "all namespaces"
	}
	return "namespace " + namespace
}

// switching is the command that goes to another context of the kubeconfig, where there are
// some: the program around the interface connects there.
func switching(contexts []string) []command {
	if len(contexts) == 0 {
		return nil
	}
	return []command{{
		name: "ctx", help: "another context of the kubeconfig",
		args: contexts,
		run: func(m Model, args []string) (Model, tea.Cmd) {
			if len(args) != 1 || !slices.Contains(contexts, args[0]) {
				m.notice = screen.Notice{Text: "ctx NAME: one of " + strings.Join(contexts, ", "), Bad: true}
				return m, nil
			}
			m.next = args[0]
			return m.quit()
		},
	}}
}

// Next is the context in which the interface is to be opened again, empty where it was left
// for good.
func (m Model) Next() string { return m.next }

// short are usual short names of kinds.
var short = map[string]string{"deploy": kruise.KindDeployment, "sts": kruise.KindStatefulSet, "ds": kruise.KindDaemonSet, "rs": kruise.KindReplicaSet}

// kindOf is the kind of workloads that a word means, one of those in the list; empty for none.
func kindOf(list *world.World, word string) string {
	word = strings.ToLower(word)
	for _, w := range list.Workloads {
		name := strings.ToLower(w.Kind)
		if word == name || word == name+"s" || short[word] == w.Kind {
			return w.Kind
		}
	}
	return ""
}
