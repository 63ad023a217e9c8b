package rollout

import (
	"fmt"
	"strconv"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/theme"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// overview is the grid of all pods below its legend.
func (s Screen) overview(env screen.Env, r room) []draw.Line {
	if r.height <= 0 {
		return nil
	}
	lines := []draw.Line{draw.Both(draw.Heading("PODS", "").Join(s.filterLine(env)), draw.Text(theme.Faint, "by "+s.view.by.String()+" "), r.width, env.Theme.Symbols.Ellipsis)}
	if r.height > 3 {
		lines = append(lines, draw.Text(theme.Plain, " ").Join(s.pods.legend(env.Theme.Symbols)))
	}
	return draw.Exactly(append(lines, s.pods.cells(env.Theme, s.at, s.marked, r.width, r.height-len(lines))...), r.height)
}

// filterLine is how many pods there are, what hides some of them, and their order.
func (s Screen) filterLine(env screen.Env) draw.Line {
	l := draw.Text(theme.Plain, strconv.Itoa(s.pods.grid.size))
	if s.view.filter != "" {
		l = l.Add(theme.Key, "  /"+s.view.filter).Add(theme.Faint, fmt.Sprintf(" (%d)", s.pods.table.size))
	}
	if n := len(s.marked); n > 0 {
		l = l.Add(theme.Mark, fmt.Sprintf("  %s %d marked", env.Theme.Symbols.Mark, n))
	}
	direction := env.Theme.Symbols.Less
	if s.view.order.reversed {
		direction = env.Theme.Symbols.Up
	}
	return l.Add(theme.Faint, "  sorted by "+s.view.order.name()+" "+direction)
}

// gridRow is a part of a group: pods of the grid from a position to another; label is set on the
// first part.
type gridRow struct {
	label    string
	from, to int
}

// gridLayout breaks groups into rows of a number of cells. It knows the sizes of groups alone, so it
// costs the same for a few pods and for many.
type gridLayout struct {
	names        []string
	count        map[string]int
	label, width int
}

// widestLabel is how much of the name of a group is shown.
const widestLabel = 18

func (x *podIndex) layout(width int) gridLayout {
	g := gridLayout{names: x.groups.list(), count: x.groups.count}
	for _, name := range g.names {
		g.label = max(g.label, min(draw.Width(name), widestLabel))
	}
	g.width = max(width-g.label-3, 1)
	return g
}

// height is how many rows there are.
func (g gridLayout) height() int {
	n := 0
	for _, name := range g.names {
		n += g.rowsOf(name)
	}
	return n
}

func (g gridLayout) rowsOf(name string) int { return (g.count[name] + g.width - 1) / g.width }

// rowAt is the row of a cell.
func (g gridLayout) rowAt(cell int) int {
	row := 0
	for _, name := range g.names {
		if cell < g.count[name] {
			return row + cell/g.width
		}
		cell -= g.count[name]
		row += g.rowsOf(name)
	}
	return row
}

// rows returns the rows from one to another.
func (g gridLayout) rows(from, to int) []gridRow {
	var out []gridRow
	row, cell := 0, 0
	for _, name := range g.names {
		for i := max(from-row, 0); i < min(g.rowsOf(name), to-row); i++ {
			r := gridRow{from: cell + i*g.width, to: cell + min((i+1)*g.width, g.count[name])}
			if i == 0 {
				r.label = name
			}
			out = append(out, r)
		}
		row, cell = row+g.rowsOf(name), cell+g.count[name]
	}
	return out
}

// cells are the rows of the grid that fit, with that of the cursor in sight.
func (x *podIndex) cells(th *theme.Theme, at string, marked map[string]bool, width, height int) []draw.Line {
	layout, window := x.layout(width), draw.Window{}
	cursor := x.rows[at]
	if cursor != nil {
		i, _ := x.grid.index(cursor)
		window = draw.Window{At: layout.rowAt(i)}.Keep(layout.height(), height)
	}
	var lines []draw.Line
	for _, r := range layout.rows(window.Top, window.Top+max(height, 0)) {
		l, left := draw.Text(theme.Faint, " "+r.label).Fit(layout.label+2, th.Symbols.Ellipsis), r.to-r.from
		for pod := range x.grid.from(r.from) {
			l = cell(l, th, pod, pod == cursor, marked[pod.UID])
			if left--; left == 0 {
				break
			}
		}
		lines = append(lines, l)
	}
	return lines
}

// cell adds one pod to a line; what looks the same becomes one span.
func cell(l draw.Line, th *theme.Theme, pod *podRow, at, marked bool) draw.Line {
	text, style := picture(pod.State, th.Symbols)
	switch {
	case at:
		style = theme.Found
	case marked:
		text, style = th.Symbols.Mark, theme.Mark
	}
	if n := len(l.Spans) - 1; n > 0 && l.Spans[n].Style == style {
		l.Spans[n].Text += text
		return l
	}
	l.Spans = append(l.Spans, draw.Span{Text: text, Style: style})
	return l
}

// picture is the symbol of a state.
func picture(state world.PodState, s theme.Symbols) (string, theme.Style) {
	switch state {
	case world.Ready:
		return s.New, theme.Updated
	case world.Starting:
		return s.NewDown, theme.Busy
	case world.Failing, world.OutdatedFailing:
		return s.Blocked, theme.Bad
	case world.OutdatedReady:
		return s.Old, theme.Outdated
	case world.OutdatedUnavailable:
		return s.Down, theme.Down
	}
	return s.Leaving, theme.Faint
}

// pictured are the states that look different, in the order of bar and legend.
var pictured = []world.PodState{world.Ready, world.Starting, world.Failing, world.OutdatedReady, world.OutdatedUnavailable, world.Terminating}

// legend explains the symbols of the states that there are.
func (x *podIndex) legend(s theme.Symbols) draw.Line {
	var l draw.Line
	for _, state := range pictured {
		if n := x.countOf(state); n > 0 {
			text, style := picture(state, s)
			l = l.Add(style, text).Add(theme.Faint, fmt.Sprintf(" %d %s  ", n, state))
		}
	}
	return l
}

// countOf is how many pods have the symbol of a state.
func (x *podIndex) countOf(state world.PodState) int {
	if state == world.Failing {
		return x.count[world.Failing] + x.count[world.OutdatedFailing]
	}
	return x.count[state]
}

// bar is all pods in the symbols of the grid, and empty places for those that are missing; a pod
// has one column where there is room.
func (x *podIndex) bar(s theme.Symbols, desired, width int) draw.Line {
	var parts []draw.Part
	for _, state := range pictured {
		text, style := picture(state, s)
		parts = append(parts, draw.Part{Count: x.countOf(state), Symbol: text, Style: style})
	}
	missing := max(desired-x.grid.size, 0)
	parts = append(parts, draw.Part{Count: missing, Symbol: s.Empty, Style: theme.Faint})
	return draw.Bar(min(width, x.grid.size+missing), parts...)
}
