package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/show"
)

// mostCopied is how many bytes are copied at once: terminals take no more.
const mostCopied = 70_000

// copied puts what the cursor is on into the clipboard of the terminal: the text of a page,
// else names of pods or workloads.
func (m Model) copied() (Model, tea.Cmd) {
	text, what := copies(m)
	switch {
	case text == "":
		m.notice = screen.Say{Text: "nothing to copy here"}
		return m, nil
	case len(text) > mostCopied:
		m.notice = screen.Say{Text: fmt.Sprintf("too long to copy: %d kB, a terminal takes %d", len(text)/1000, mostCopied/1000), Bad: true}
		return m, nil
	}
	m.notice = screen.Say{Text: "copied " + what}
	return m, tea.SetClipboard(text)
}

func copies(m Model) (text, what string) {
	if c, ok := m.top().(screen.Copyable); ok {
		text = c.Copied()
		return text, show.Count(strings.Count(text, "\n")+1, "line")
	}
	sel := m.top().Selection(m.env)
	names := sel.Pods
	if len(names) == 0 {
		for _, r := range sel.Workloads {
			names = append(names, strings.ToLower(r.Kind)+"/"+r.Name)
		}
	}
	text = draw.Clean(strings.Join(names, " "))
	return text, text
}
