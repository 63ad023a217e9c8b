package sidecars

import (
	"fmt"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/theme"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// above is how many lines stand above the rows: the summary and the header. cellWidth
// is that of a cell, gap and gutter are those of tables.
const (
	above     = 2
	cellWidth = 15
	gap       = 2
	gutter    = 2
	mostName  = 40
)

// below is how many lines the cell of the cursor has: a third, and a few at least.
func below(env screen.Env) int { return max(env.Height*2/5, 4) }

func page(env screen.Env) int { return max(env.Height-above-below(env), 1) }

// left is the column at which the matrix begins.
func (z sizes) left() int {
	n := gutter + z.name + gap
	if z.namespaces > 1 {
		n += max(z.namespace, 2) + gap
	}
	return n
}

// shown are the sets for which there is room, that of the cursor among them.
func (s Screen) shown(env screen.Env) (first, last int) {
	room := max((env.Width-s.sizes.left()+gap)/(cellWidth+gap), 1)
	w := draw.Window{At: s.column()}.Keep(len(s.sets), room)
	return w.Top, min(w.Top+room, len(s.sets))
}

// Draw is the matrix, and below it the cell of the cursor.
func (s Screen) Draw(env screen.Env) []draw.Line {
	if !s.known {
		return []draw.Line{{}, draw.Text(theme.Busy, "  loading SidecarSets and their pods ...")}
	}
	lines := []draw.Line{s.summary(env)}
	if len(s.rows) == 0 {
		none := "no pod is matched by any of these sets"
		switch {
		case len(s.sets) == 0:
			none = "no SidecarSets here"
		case s.filter != "":
			none = screen.NoMatches
		}
		return append(lines, draw.Line{}, draw.Text(theme.Faint, "  "+none))
	}
	lines = append(lines, s.matrix(env)...)
	for len(lines) < above+page(env) {
		lines = append(lines, draw.Line{})
	}
	return append(lines, s.about(env)...)
}

func (s Screen) summary(env screen.Env) draw.Line {
	held, upgrading := 0, 0
	for _, set := range s.sets {
		for _, c := range set.Cells {
			held += heldPods(c.Held)
			upgrading += len(c.Upgrading)
		}
	}
	l := draw.Text(theme.Plain, "  "+counted.Of(len(s.sets), kruise.KindSidecarSet))
	if upgrading > 0 {
		l = l.Add(theme.Busy, fmt.Sprintf("  %s %s in a hot upgrade", env.Theme.Symbols.Busy, counted.Of(upgrading, "pod")))
	}
	if held > 0 {
		l = l.Add(theme.Warn, fmt.Sprintf("  %s %s cannot be upgraded", env.Theme.Symbols.Degraded, counted.Of(held, "pod")))
	}
	var right draw.Line
	if s.filter != "" {
		right = draw.Text(theme.Key, " /"+s.filter+" ")
	}
	first, last := s.shown(env)
	if last-first < len(s.sets) {
		right = right.Add(theme.Faint, fmt.Sprintf(" sets %d to %d ", first+1, last))
	}
	return draw.Both(l, right, env.Width, env.Theme.Symbols.Ellipsis)
}

func (s Screen) matrix(env screen.Env) []draw.Line {
	first, last := s.shown(env)
	columns := []draw.Column{
		{Title: "NS", Width: max(s.sizes.namespace, 2)},
		{Title: "WORKLOAD", Width: s.sizes.name, Min: 8, Keep: true, Give: 1},
	}
	if s.sizes.namespaces < 2 {
		columns[0].Width = 0
	}
	for i := first; i < last; i++ {
		pointer := " "
		if i == s.column() {
			pointer = env.Theme.Symbols.Now
		}
		columns = append(columns, draw.Column{Title: pointer + " " + s.sets[i].Name, Width: cellWidth, Keep: true})
	}
	table := draw.Table{Columns: columns, Rows: len(s.rows), Window: s.window, Row: func(i int) []draw.Line { return s.line(env, i, first, last) }}
	return table.Draw(env.Theme, env.Width, page(env)+1)
}

func (s Screen) line(env screen.Env, i, first, last int) []draw.Line {
	r := s.rows[i]
	style := theme.Plain
	if i == 0 {
		style = theme.Strong
	}
	cells := []draw.Line{draw.Text(theme.Faint, r.ref.Namespace), draw.Text(style, name(r.ref))}
	for c := first; c < last; c++ {
		cells = append(cells, picture(env, r.cells[c]))
	}
	return cells
}

// picture is a cell: how many of the pods are updated, and the most urgent thing about
// them.
func picture(env screen.Env, c *world.SidecarCell) draw.Line {
	y := env.Theme.Symbols
	if c == nil {
		return draw.Text(theme.Faint, "  "+y.Dot)
	}
	l := draw.Text(theme.Plain, fmt.Sprintf("  %d/%d ", c.Updated, c.Matched))
	switch held := heldPods(c.Held); {
	case held > 0:
		return l.Add(theme.Warn, fmt.Sprintf("%s%d", y.Degraded, held))
	case len(c.Upgrading) > 0:
		return l.Add(theme.Busy, fmt.Sprintf("%s%d", y.Busy, len(c.Upgrading)))
	case c.Ready < c.Matched:
		return l.Add(theme.Down, fmt.Sprintf("%s%d", y.Down, c.Matched-c.Ready))
	case c.Updated < c.Matched:
		return l.Add(theme.Outdated, y.Old)
	}
	return l.Add(theme.Good, y.Healthy)
}

func heldPods(list []world.Held) int {
	n := 0
	for _, h := range list {
		n += len(h.Pods)
	}
	return n
}
