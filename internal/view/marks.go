package view

import (
	"fmt"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
)

// marks are the symbols of the terminal interface, in ASCII where there is no Unicode.
func (st Style) marks() draw.Symbols { return draw.SymbolsFor(!st.Unicode) }

// styleColors are those of the styles of the terminal interface, for what it draws for lines of text.
var styleColors = map[draw.Style]string{
	draw.Faint: faint, draw.Good: green, draw.Updated: green, draw.Busy: yellow, draw.Wait: yellow, draw.Warn: yellow, draw.Down: yellow, draw.Bad: red,
}

// step is a step in a line, with the mark of how far it is.
func (st Style) step(state draw.StepState, text string) string {
	mark, style := draw.StepMark(st.marks(), state)
	return st.paint(styleColors[style], mark+" "+text)
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

// bar is all pods as the terminal interface draws them, and their numbers.
func bar(c event.Counts, st Style) string {
	t := plan.Tally(c)
	t.Desired = max(t.Desired, t.Total, 1)
	var drawn strings.Builder
	for _, span := range draw.Pods(st.marks(), t, 0, barWidth).Spans {
		drawn.WriteString(st.paint(styleColors[span.Style], span.Text))
	}
	return fmt.Sprintf("%s %d of %d updated, %d of these ready; %d ready in all", drawn.String(), t.Updated, t.Desired, t.UpdatedReady, t.Ready)
}
