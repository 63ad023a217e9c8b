package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// switching is the command that goes to another context of the kubeconfig, where there are
// some: the program around the interface connects there.
func switching(contexts []string) []command {
	if len(contexts) == 0 {
		return nil
	}
	return []command{{
		name: "ctx", help: "another context of the kubeconfig",
		args: func(Model) []string { return contexts },
		run: func(m Model, args []string) (Model, tea.Cmd) {
			if len(args) != 1 || !slices.Contains(contexts, args[0]) {
				m.notice = screen.Say{Text: "ctx NAME: one of " + strings.Join(contexts, ", "), Bad: true}
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
