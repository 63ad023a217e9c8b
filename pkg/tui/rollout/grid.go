package rollout

import (
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/diagnose"
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
	// place is the index of each pod by its UID.
	place map[string]int
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
	leaving
)

// widestLabel is how much of the name of a group is shown.
const widestLabel = 18

func newGrid(d *world.Detail, by grouping, width int) grid {
	g := grid{by: by, width: width, place: make(map[string]int, len(d.Snapshot.Pods))}
	var names []string
	g.pods, names = by.together(d)
	g.cells = make([]cell, len(g.pods))
	for i, p := range g.pods {
		g.cells[i] = look(d, p)
		g.place[p.UID] = i
		g.label = max(g.label, min(draw.Width(names[i]), widestLabel))
	}
	g.rows = rows(names, max(width-g.label-3, 1))
	return g
}

func look(d *world.Detail, p *cluster.Pod) cell {
	updated, ready := d.Updated[p.UID], p.IsReady()
	switch {
	case p.Deleting:
		return leaving
	case updated && ready:
		return newReady
	case updated:
		if _, ok := diagnose.Troubled(p); ok {
			return newBad
		}
		return newDown
	case ready:
		return oldReady
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

// lineOf is the pod so many rows below another, as near to its column as there is one.
func (g grid) lineOf(uid string, by int) string {
	i, ok := g.place[uid]
	if !ok {
		return uid
	}
	at := g.rowOf(i)
	to := g.rows[max(min(at+by, len(g.rows)-1), 0)]
	return g.pods[min(to.from+i-g.rows[at].from, to.to-1)].UID
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
	case newBad:
		return s.Stuck, theme.Bad
	case oldReady:
		return s.Old, theme.Outdated
	case oldDown:
		return s.Down, theme.Down
	}
	return s.Leaving, theme.Faint
}

// legend says what the cells mean.
func legend(s theme.Symbols) draw.Line {
	var l draw.Line
	for c, word := range [...]string{"new", "starting", "in trouble", "old", "old, down", "leaving"} {
		text, style := cell(c).picture(s)
		l = l.Add(style, text).Add(theme.Faint, " "+word+"  ")
	}
	return l
}
