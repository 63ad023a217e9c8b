package lists

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/diagnose"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// cellWidth is that of a cell, gap and gutter are those of tables.
const (
	cellWidth = 15
	gap       = 2
	gutter    = 2
	mostName  = 40
)

// below is how many lines the cell of the cursor has: a third, and a few at least.
func (Sidecars) below(env screen.Env) int { return max(env.Height*2/5, 4) }

func (s Sidecars) seen(env screen.Env) int { return max(env.Height-above-s.below(env), 1) }

// left is the column at which the matrix begins.
func (s Sidecars) left() int {
	n := gutter + s.sizes.name + gap
	if s.sizes.namespaces > 1 {
		n += max(s.sizes.namespace, 2) + gap
	}
	return n
}

// shown are the sets for which there is room, that of the cursor among them.
func (s Sidecars) shown(env screen.Env) (first, last int) {
	room := max((env.Width-s.left()+gap)/(cellWidth+gap), 1)
	w := draw.Window{At: s.column()}.Keep(len(s.sets), room)
	return w.Top, min(w.Top+room, len(s.sets))
}

// Draw is the matrix, and below it the cell of the cursor.
func (s Sidecars) Draw(env screen.Env) []draw.Line {
	if !s.known {
		return []draw.Line{{}, draw.Text(draw.Busy, "  loading SidecarSets and their pods ...")}
	}
	none := "no pod is matched by any of these sets"
	switch {
	case len(s.sets) == 0:
		none = "no SidecarSets here"
	case s.filter != "":
		none = screen.NoMatches
	}
	lines := s.draw(env, s.summary(env), draw.Text(draw.Faint, "  "+none), s.columns(env), s.seen(env), func(i int) ([]draw.Line, bool) { return s.cells(env, i), false })
	if len(s.rows) == 0 {
		return lines
	}
	return append(draw.Exactly(lines, above+s.seen(env)), s.about(env)...)
}

func (s Sidecars) summary(env screen.Env) draw.Line {
	held, upgrading := 0, 0
	for _, set := range s.sets {
		for _, c := range set.Cells {
			held += heldPods(c.Held)
			upgrading += len(c.Upgrading)
		}
	}
	l := draw.Text(draw.Plain, "  "+counted.Of(len(s.sets), kruise.KindSidecarSet))
	if upgrading > 0 {
		l = l.Add(draw.Busy, fmt.Sprintf("  %s %s in a hot upgrade", env.Theme.Symbols.Busy, counted.Of(upgrading, "pod")))
	}
	if held > 0 {
		l = l.Add(draw.Warn, fmt.Sprintf("  %s %s cannot be upgraded", env.Theme.Symbols.Degraded, counted.Of(held, "pod")))
	}
	var right draw.Line
	if s.filter != "" {
		right = draw.Text(draw.Key, " /"+s.filter+" ")
	}
	first, last := s.shown(env)
	if last-first < len(s.sets) {
		right = right.Add(draw.Faint, fmt.Sprintf(" sets %d to %d ", first+1, last))
	}
	return draw.Both(l, right, env.Width, env.Theme.Symbols.Ellipsis)
}

func (s Sidecars) columns(env screen.Env) []draw.Column {
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
	return columns
}

func (s Sidecars) cells(env screen.Env, i int) []draw.Line {
	first, last := s.shown(env)
	r := s.rows[i]
	style := draw.Plain
	if i == 0 {
		style = draw.Strong
	}
	cells := []draw.Line{draw.Text(draw.Faint, r.ref.Namespace), draw.Text(style, sidecarName(r.ref))}
	for c := first; c < last; c++ {
		cells = append(cells, cell(env, r.cells[c]))
	}
	return cells
}

// cell is how many of the pods are updated, and the most urgent thing about
// them.
func cell(env screen.Env, c *world.SidecarCell) draw.Line {
	y := env.Theme.Symbols
	if c == nil {
		return draw.Text(draw.Faint, "  "+y.Dot)
	}
	l := draw.Text(draw.Plain, fmt.Sprintf("  %d/%d ", c.Updated, c.Matched))
	switch held := heldPods(c.Held); {
	case held > 0:
		return l.Add(draw.Warn, fmt.Sprintf("%s%d", y.Degraded, held))
	case len(c.Upgrading) > 0:
		return l.Add(draw.Busy, fmt.Sprintf("%s%d", y.Busy, len(c.Upgrading)))
	case c.Ready < c.Matched:
		return l.Add(draw.Down, fmt.Sprintf("%s%d", y.Down, c.Matched-c.Ready))
	case c.Updated < c.Matched:
		return l.Add(draw.Outdated, y.Old)
	}
	return l.Add(draw.Good, y.Healthy)
}

func heldPods(list []world.Held) int {
	n := 0
	for _, h := range list {
		n += len(h.Pods)
	}
	return n
}

// about is the set of the cursor on the workload of the cursor: the numbers, why the
// set waits, what cannot be upgraded, and where hot upgrades stand.
func (s Sidecars) about(env screen.Env) []draw.Line {
	set, cell := s.current(), s.cell()
	lines := []draw.Line{s.title(set).Fit(env.Width, env.Theme.Symbols.Ellipsis)}
	if cell == nil {
		return append(lines, draw.Text(draw.Faint, "  it matches no pod of "+sidecarName(s.at)))
	}
	lines = append(lines, numbers(env, cell))
	if w := env.World.Find(s.setRef()); w != nil {
		lines = append(lines, draw.Text(screen.HealthStyle(w.Health), "  "+screen.HealthSymbol(env.Theme, w.Health)+" ").Add(draw.Plain, w.Why))
	}
	for _, h := range cell.Held {
		lines = append(lines, draw.Text(draw.Warn, "  "+env.Theme.Symbols.Degraded+" "+diagnose.Names(h.Pods)+": ").Add(draw.Plain, h.Why))
	}
	for _, pod := range slices.Sorted(maps.Keys(cell.Upgrading)) {
		lines = append(lines, draw.Text(draw.Busy, "  "+env.Theme.Symbols.Busy+" "+pod+": ").Add(draw.Plain, cell.Upgrading[pod]))
	}
	room := s.below(env)
	if whole := wrapped(lines, env.Width); len(whole) <= room {
		return whole
	}
	if len(lines) <= room {
		return lines
	}
	return append(lines[:room-1:room-1], draw.Text(draw.Faint, fmt.Sprintf("    and %d more", len(lines)-room+1)))
}

// wrapped breaks what is too long for one line.
func wrapped(lines []draw.Line, width int) []draw.Line {
	var out []draw.Line
	for _, l := range lines {
		if l.Width() <= width {
			out = append(out, l)
			continue
		}
		first := l.Spans[0]
		text := strings.TrimPrefix(l.String(), first.Text)
		for i, part := range draw.Wrap(draw.Plain, text, max(width-draw.Width(first.Text)-1, 10)) {
			if i == 0 {
				out = append(out, draw.Of(first).Join(part))
				continue
			}
			out = append(out, draw.Text(draw.Plain, "    ").Join(part))
		}
	}
	return out
}

// title is the set: its containers, and what its strategy says.
func (s Sidecars) title(set *world.SidecarSet) draw.Line {
	l := draw.Text(draw.Header, " "+set.Name).Add(draw.Faint, " on "+sidecarName(s.at)+" ")
	for _, c := range set.Containers {
		l = l.Add(draw.Plain, " "+c.Name+" ").Add(draw.Faint, draw.Image(c.Image))
		if c.Hot {
			l = l.Add(draw.Busy, " hot")
		}
	}
	switch {
	case set.Frozen:
		l = l.Add(draw.Warn, "  only new pods get it (NotUpdate)")
	case set.Paused:
		l = l.Add(draw.Warn, "  paused in its spec")
	}
	if set.Partition != "" && set.Partition != "0" {
		l = l.Add(draw.Plain, "  partition "+set.Partition)
	}
	if set.Revision != "" {
		l = l.Add(draw.Faint, "  "+set.Revision)
	}
	return l
}

func numbers(env screen.Env, c *world.SidecarCell) draw.Line {
	t := plan.Tally{Desired: c.Matched, Total: c.Matched, Ready: c.Ready, Updated: c.Updated, UpdatedReady: c.UpdatedReady}
	l := draw.Text(draw.Plain, "  ").Join(draw.Pods(env.Theme.Symbols, t, 0, min(max(env.Width/4, 10), 40)))
	l = l.Add(draw.Plain, fmt.Sprintf("  %d matched, %d updated, %d ready", c.Matched, c.Updated, c.Ready))
	if n := heldPods(c.Held); n > 0 {
		l = l.Add(draw.Warn, fmt.Sprintf(", %d not upgradable", n))
	}
	return l
}
