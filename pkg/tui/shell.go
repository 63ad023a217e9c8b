package tui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
)

// shell hands the terminal to a shell in a container, and takes it back when that ends.
func (m Model) shell(s screen.Shell) (Model, tea.Cmd) {
	if m.options.ReadOnly {
		m.notice = screen.Say{Text: "read-only: nothing is changed from here"}
		return m, nil
	}
	program, err := m.options.Actions.Shell(s.Namespace, s.Pod, s.Container)
	if err != nil {
		m.notice = screen.Say{Text: err.Error(), Bad: true}
		return m, nil
	}
	return m, tea.Exec(program, func(err error) tea.Msg {
		if err != nil {
			return screen.Say{Text: "the shell ended: " + err.Error(), Bad: true}
		}
		return screen.Say{Text: "the shell in " + s.Pod + " ended"}
	})
}
