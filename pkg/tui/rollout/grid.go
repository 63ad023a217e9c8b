package rollout

import (
	"fmt"
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/theme"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// grid has a cell for each pod. It is laid out once for a state and a width; only the
// rows that are seen are drawn.
type grid struct {
	by    grouping
	width int
	label int

	pods  []*cluster.Pod
	cells []cell
	rows  []row
	// place is the index of each pod by its UID, count how many look alike.
	place map[string]int
	count [cells]int
}

// row is a part of a group: pods from an index to another; label is set on the first.
type row struct {
	label    string
	from, to int
}

// cell is how a pod looks.
type cell uint8

const (
	newReady cell = iota
	newDown
	newBad
	oldReady
	oldDown
	oldBad
	leaving
	cells
)

// String is the state in words.
func (c cell) String() string {
	return [...]string{"new", "starting", "failing", "old", "old, down", "old, failing", "terminating"}[c]
}

// widestLabel is how much of the name of a group is shown.
const widestLabel = 18

func newGrid(d *world.Detail, by grouping, width int) grid {
	g := grid{by: by, width: width, place: make(map[string]int, len(d.Snapshot.Pods))}
	var names []string
	g.pods, names = by.together(d)
	g.cells = make([]cell, len(g.pods))
	fails := d.Failing()
	for i, p := range g.pods {
		g.cells[i] = look(d, p, fails)
		g.count[g.cells[i]]++
		g.place[p.UID] = i
		g.label = max(g.label, min(draw.Width(names[i]), widestLabel))
	}
	g.rows = rows(names, max(width-g.label-3, 1))
	return g
}

// look is how a pod looks; fails tells those that do not become ready by themselves.
func look(d *world.Detail, p *cluster.Pod, fails func(*cluster.Pod) bool) cell {
	updated, ready := d.Updated[p.UID], p.IsReady()
	switch {
	case p.Deleting:
		return leaving
	case updated && ready:
		return newReady
	case updated && fails(p):
		return newBad
	case updated:
		return newDown
	case ready:
		return oldReady
	case fails(p):
		return oldBad
	}
	return oldDown
}

// rows breaks groups into rows of so many pods.
func rows(names []string, width int) []row {
	var out []row
	for i := 0; i < len(names); {
		end := i
		for end < len(names) && names[end] == names[i] {
			end++
		}
		label := names[i]
		for ; i < end; i += width {
			out = append(out, row{label, i, min(i+width, end)})
			label = ""
		}
		i = end
	}
	return out
}

func (g grid) find(uid string) *cluster.Pod {
	if i, ok := g.place[uid]; ok {
		return g.pods[i]
	}
	return nil
}

// beside is the pod so many places after another, and that itself at the ends.
func (g grid) beside(uid string, by int) string {
	i, ok := g.place[uid]
	if !ok || i+by < 0 || i+by >= len(g.pods) {
		return uid
	}
	return g.pods[i+by].UID
}

func (g grid) rowOf(i int) int {
	return slices.IndexFunc(g.rows, func(r row) bool { return i < r.to })
}

// draw is the rows that fit, with that of the cursor in sight.
func (g grid) draw(th *theme.Theme, at string, marked map[string]bool, height int) []draw.Line {
	w := draw.Window{}
	i, ok := g.place[at]
	if ok {
		w = draw.Window{At: g.rowOf(i)}.Keep(len(g.rows), height)
	}
	var lines []draw.Line
	for _, r := range g.rows[w.Top:min(w.Top+height, len(g.rows))] {
		l := draw.Text(theme.Faint, " "+r.label).Fit(g.label+2, th.Symbols.Ellipsis)
		for j := r.from; j < r.to; j++ {
			l = g.cell(l, th, j, j == i && ok, marked[g.pods[j].UID])
		}
		lines = append(lines, l)
	}
	return lines
}

// cell adds one pod to a line; what looks the same becomes one span.
func (g grid) cell(l draw.Line, th *theme.Theme, i int, at, marked bool) draw.Line {
	text, style := g.cells[i].picture(th.Symbols)
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

func (c cell) picture(s theme.Symbols) (string, theme.Style) {
	switch c {
	case newReady:
		return s.New, theme.Updated
	case newDown:
		return s.NewDown, theme.Busy
	case newBad, oldBad:
		return s.Stuck, theme.Bad
	case oldReady:
		return s.Old, theme.Outdated
	case oldDown:
		return s.Down, theme.Down
	}
	return s.Leaving, theme.Faint
}

// pictured are the cells that look different, in the order of bar and legend.
var pictured = []cell{newReady, newDown, newBad, oldReady, oldDown, leaving}

// legend says what the cells mean, of those that there are.
func (g grid) legend(s theme.Symbols) draw.Line {
	var l draw.Line
	for _, c := range pictured {
		if n := g.of(c); n > 0 {
			text, style := c.picture(s)
			l = l.Add(style, text).Add(theme.Faint, fmt.Sprintf(" %d %s  ", n, c))
		}
	}
	return l
}

// of is how many pods have the picture of a cell.
func (g grid) of(c cell) int {
	if c == newBad {
		return g.count[newBad] + g.count[oldBad]
	}
	return g.count[c]
}

// bar is all pods in the pictures of the grid, and empty places for those that are missing;
// a pod has one column where there is room.
func (g grid) bar(s theme.Symbols, desired, width int) draw.Line {
	var parts []draw.Part
	for _, c := range pictured {
		text, style := c.picture(s)
		parts = append(parts, draw.Part{Count: g.of(c), Symbol: text, Style: style})
	}
	missing := max(desired-len(g.pods), 0)
	parts = append(parts, draw.Part{Count: missing, Symbol: s.Empty, Style: theme.Faint})
	return draw.Bar(min(width, len(g.pods)+missing), parts...)
}
