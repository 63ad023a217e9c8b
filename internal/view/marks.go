package view

import (
	"fmt"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/theme"
)

// marks are the symbols of the terminal interface, in ASCII where there is no Unicode.
func (st Style) marks() theme.Symbols { return theme.SymbolsFor(!st.Unicode) }

// standing is how far a step is.
type standing uint8

const (
	stepNext standing = iota
	stepNow
	stepPaused
	stepFailed
	stepOver
)

// step is a step in a line, with the mark of how far it is.
func (st Style) step(s standing, text string) string {
	m := st.marks()
	mark, color := m.Next, faint
	switch s {
	case stepNow:
		mark, color = m.Now, yellow
	case stepPaused:
		mark, color = m.Pause, yellow
	case stepFailed:
		mark, color = m.Stuck, red
	case stepOver:
		mark, color = m.Done, green
	}
	return st.paint(color, mark+" "+text)
}

// branches are what comes before the parts of a tree, and before the last of them.
func (st Style) branches() (part, last string) {
	if st.Unicode {
		return "├─ ", "└─ "
	}
	return "|- ", "`- "
}

// barWidth is how many characters stand for all pods.
const barWidth = 30

// bar draws all pods in the symbols of the interface: updated and ready ones, updated ones
// that are not ready, old ones, and places without a pod.
func bar(c event.Counts, st Style) string {
	m, all := st.marks(), max(c.Desired, c.Total, 1)
	ready := barWidth * c.UpdatedReady / all
	updated := barWidth*c.Updated/all - ready
	old := max(barWidth*min(max(c.Total, c.Updated), all)/all-ready-updated, 0)
	text := st.paint(green, strings.Repeat(m.New, ready)) + st.paint(yellow, strings.Repeat(m.NewDown, updated)) +
		strings.Repeat(m.Old, old) + st.paint(faint, strings.Repeat(m.Empty, barWidth-ready-updated-old))
	return fmt.Sprintf("%s %d of %d updated, %d of these ready; %d ready in all", text, c.Updated, all, c.UpdatedReady, c.Ready)
}
