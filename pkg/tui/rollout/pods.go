package rollout

import (
	"fmt"
	"strconv"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/show"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/theme"
)

// overview is the grid of all pods below its legend.
func (s Screen) overview(env screen.Env, r room) []draw.Line {
	if r.height <= 0 {
		return nil
	}
	lines := []draw.Line{draw.Both(heading("PODS", "").Join(s.narrowed(env)), draw.Text(theme.Faint, "by "+s.by.String()+" "), r.width, env.Theme.Symbols.Ellipsis)}
	if r.height > 3 {
		lines = append(lines, draw.Text(theme.Plain, " ").Join(s.grid.legend(env.Theme.Symbols)))
	}
	return draw.Exactly(append(lines, s.grid.draw(env.Theme, s.at, s.marked, r.height-len(lines))...), r.height)
}

// narrowed is how many pods there are, what hides some of them, and their order.
func (s Screen) narrowed(env screen.Env) draw.Line {
	l := draw.Text(theme.Plain, strconv.Itoa(len(s.grid.pods)))
	if s.filter != "" {
		l = l.Add(theme.Key, "  /"+s.filter).Add(theme.Faint, fmt.Sprintf(" (%d)", len(s.table.rows)))
	}
	if n := len(s.marked); n > 0 {
		l = l.Add(theme.Mark, fmt.Sprintf("  %s %d marked", env.Theme.Symbols.Mark, n))
	}
	way := env.Theme.Symbols.Less
	if s.order.turned {
		way = env.Theme.Symbols.Up
	}
	return l.Add(theme.Faint, "  sorted by "+s.order.name()+" "+way)
}

// reason is why the pod of the cursor is not ready, whole; for one that is ready, its
// containers.
func (s Screen) reason(env screen.Env, r room) []draw.Line {
	i, ok := s.table.place[s.at]
	if r.height <= 0 || !ok {
		return draw.Exactly(nil, r.height)
	}
	row := &s.table.rows[i]
	text := row.name + ": " + row.cell.String()
	if row.why != "" {
		text += ", " + row.why
	} else if !row.pod.Deleting {
		text += " since " + show.Age(env.World.Now, row.pod.ReadySince()) + ", " + show.Images(row.pod)
	}
	var lines []draw.Line
	for _, l := range draw.Wrap(theme.Faint, text, max(r.width-3, 1)) {
		lines = append(lines, draw.Text(theme.Plain, "  ").Join(l))
	}
	return draw.Exactly(lines, r.height)
}
