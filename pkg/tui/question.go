package tui

import (
	"fmt"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/theme"
)

// question is a box with something to read above its answer, which is always seen; where
// not all has room, top is the first line that is.
type question struct {
	title  string
	lines  []draw.Line
	answer draw.Line
	top    int
}

// askable reports whether there is room for a question: nobody says yes to what cannot
// be seen.
func askable(env screen.Env) bool { return env.Height >= 6 && env.Width >= 30 }

// roomOf is how many lines of a question are seen above its answer.
func roomOf(env screen.Env) int { return max(env.Height-3, 1) }

// turned is the first line that is seen after a key, where it is one that scrolls.
func (q question) turned(m Model, key string) (int, bool) {
	page := max(roomOf(m.env)-2, 1)
	by, ok := map[string]int{"up": -1, "down": 1, "pgup": -page, "pgdown": page}[key]
	return min(max(q.top+by, 0), max(len(q.lines)-roomOf(m.env)+1, 0)), ok
}

func (q question) draw(m Model, under []draw.Line) []draw.Line {
	if !askable(m.env) {
		return []draw.Line{draw.Text(theme.Bad, " "+q.title+": too small to ask here")}
	}
	lines := q.lines
	if room := roomOf(m.env); len(lines) > room {
		top := min(q.top, len(lines)-room+1)
		end := top + room - 1
		more := fmt.Sprintf("%s %d above, %d below: up, down", m.env.Theme.Symbols.Less, top, len(lines)-end)
		lines = append(append([]draw.Line{}, lines[top:end]...), draw.Text(theme.Warn, more))
	}
	return draw.Box(m.env.Theme, under, q.title, append(append([]draw.Line{}, lines...), q.answer), m.env.Width, m.env.Height)
}
