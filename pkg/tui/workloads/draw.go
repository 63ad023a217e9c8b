package workloads

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/show"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/theme"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// Draw is a summary, and the rows that fit.
func (s Screen) Draw(env screen.Env) []draw.Line {
	lines := []draw.Line{s.summary(env)}
	if len(s.rows) == 0 {
		return append(lines, draw.Line{}, s.nothing())
	}
	table := draw.Table{
		Columns: s.columns(env), Rows: len(s.rows), Window: s.window,
		Row:    func(i int) []draw.Line { return cells(env, s.rows[i]) },
		Marked: func(i int) bool { return s.marked[s.rows[i].Ref] },
	}
	lines = append(lines, table.Draw(env.Theme, env.Width, env.Height-1-below(env))...)
	reason := s.reason(env, max(env.Height-len(lines), 1))
	for len(lines)+len(reason) < env.Height {
		lines = append(lines, draw.Line{})
	}
	return append(lines, reason...)
}

// reason is why the row of the cursor is as it is, in at most so many lines.
func (s Screen) reason(env screen.Env, most int) []draw.Line {
	w := s.rows[s.window.At]
	head := draw.Text(show.HealthStyle(w.Health), "  "+show.HealthSymbol(env.Theme, w.Health)+" "+w.Name+": ")
	lines := draw.Wrap(theme.Plain, w.Why, max(env.Width-5, 10))
	if first := env.Width - head.Width() - 1; len(lines) > 0 && first > env.Width/3 {
		lines = draw.Wrap(theme.Plain, draw.Spaces(head.Width()-4)+w.Why, env.Width-5)
		lines[0] = draw.Text(theme.Plain, strings.TrimLeft(lines[0].String(), " "))
	}
	if len(lines) == 0 {
		lines = []draw.Line{{}}
	}
	if len(lines) > most { // the rest is on the screen of the workload
		last := lines[most-1].String()
		lines = append(lines[:most-1:most-1], draw.Text(theme.Plain, last+env.Theme.Symbols.Ellipsis))
	}
	for i, l := range lines {
		if i == 0 {
			lines[i] = head.Join(l)
		} else {
			lines[i] = draw.Text(theme.Plain, "    ").Join(l)
		}
	}
	return lines
}

// summary counts all workloads by health, and says what hides some of them.
func (s Screen) summary(env screen.Env) draw.Line {
	l := draw.Text(theme.Plain, "  "+counted.Of(s.counts.all, "workload"))
	right := s.narrowed(env)
	return draw.Both(l.Join(show.Counts(env.Theme, s.counts.health, env.Width-l.Width()-right.Width())), right, env.Width, env.Theme.Symbols.Ellipsis)
}

// narrowed is what hides rows, and their order.
func (s Screen) narrowed(env screen.Env) draw.Line {
	var l draw.Line
	if n := len(s.marked); n > 0 {
		l = l.Add(theme.Mark, fmt.Sprintf(" %s %d marked", env.Theme.Symbols.Mark, n))
	}
	if s.faults {
		l = l.Add(theme.Warn, " problems only")
	}
	if s.filter != "" {
		l = l.Add(theme.Key, " /"+s.filter)
	}
	if s.faults || s.filter != "" {
		l = l.Add(theme.Faint, fmt.Sprintf(" (%d)", len(s.rows)))
	}
	if env.Width >= wide {
		way := env.Theme.Symbols.Less
		if s.order.reversed {
			way = env.Theme.Symbols.Up
		}
		l = l.Add(theme.Faint, " by "+s.order.name()+" "+way)
	}
	return l.Add(theme.Plain, " ")
}

// wide is from how many columns on there is room for what is only nice to know.
const wide = 90

func (s Screen) nothing() draw.Line {
	switch {
	case s.counts.all == 0:
		return draw.Text(theme.Faint, "  no workloads here")
	case s.faults && s.filter == "":
		return draw.Text(theme.Good, "  no problems; f shows all workloads")
	}
	return draw.Text(theme.Faint, "  no matches; esc clears the filter")
}

// columns are in the order of the screen; why takes what is left, and is kept longer than
// what is less important: the driver, the age, the picture, the step.
func (s Screen) columns(env screen.Env) []draw.Column {
	list := []draw.Column{
		{Title: "HEALTH", Width: 13, Min: 1, Give: 1, Keep: true},
		{Title: "NS", Width: max(s.sizes.namespace, 4), Min: leastSpace(env), Give: 5},
		{Title: "WORKLOAD", Width: max(s.sizes.name, 8), Min: 20, Keep: true},
		{Title: "UPDATED", Width: 9, Min: 7, Right: true, Give: 2, Keep: true},
		{Title: "", Width: bar, Give: 9},
		{Title: "STEP", Width: stepWidth(env), Give: 8},
		{Title: "READY", Width: 9, Min: 7, Right: true, Give: 2, Keep: true},
		{Title: "DRIVER", Width: 6, Give: 11},
		{Title: "AGE", Width: 5, Right: true, Give: 10},
		{Title: "WHY", Width: 200, Min: leastWhy(env), Give: 7},
	}
	if env.Width >= narrow {
		list[0].Min = list[0].Width
	}
	if s.counts.namespaces < 2 || env.World.Where.Namespace != "" {
		list[1].Width, list[1].Min = 0, 0
	}
	return list
}

// leastSpace is how much room namespaces have at least: their names often begin alike.
func leastSpace(env screen.Env) int {
	switch {
	case env.Width < medium:
		return 4
	case env.Width < wide:
		return 8
	}
	return 12
}

// medium is from how many columns on there is room for most of a namespace's name.
const medium = 80

// leastWhy is how much room the reason has at least, or is left out.
func leastWhy(env screen.Env) int {
	if env.Width < wide {
		return 12
	}
	return min(env.Width/3, 60)
}

// narrow is below how many columns the word of the health may be cut.
const narrow = 60

// stepWidth has room for the name of the step where the screen is wide.
func stepWidth(env screen.Env) int {
	if env.Width < named {
		return 5
	}
	return 18
}

// named is from how many columns on steps are named.
const named = 150

// bar is how wide the picture of pods is.
const bar = 10

func cells(env screen.Env, w *world.Workload) []draw.Line {
	return []draw.Line{
		show.Health(env.Theme, w.Health),
		draw.Text(theme.Plain, w.Namespace),
		draw.Of(draw.Span{Text: kind(w), Style: theme.Faint}, draw.Span{Text: w.Name, Style: theme.Strong}),
		draw.Text(theme.Plain, fraction(w.Pods.Updated, max(w.Pods.Desired, w.Pods.Total))),
		show.Pods(env.Theme.Symbols, w.Pods, w.Failing, bar),
		step(env, w),
		ready(w),
		draw.Text(theme.Faint, string(w.Driver)),
		draw.Text(theme.Faint, show.Age(env.World.Now, w.Created)),
		why(w),
	}
}

func kind(w *world.Workload) string {
	name := show.Name(w.Ref)
	return name[:len(name)-len(w.Name)]
}

func step(env screen.Env, w *world.Workload) draw.Line {
	if w.Steps == 0 {
		return draw.Line{}
	}
	l := draw.Text(theme.Plain, fraction(w.Step+1, w.Steps))
	if env.Width < named {
		return l
	}
	return l.Add(theme.Faint, " "+w.StepName)
}

func ready(w *world.Workload) draw.Line {
	style := theme.Plain
	if w.Pods.Ready < w.Pods.Desired {
		style = theme.Warn
	}
	return draw.Text(style, fraction(w.Pods.Ready, w.Pods.Desired))
}

func fraction(part, of int) string { return strconv.Itoa(part) + "/" + strconv.Itoa(of) }

// why is empty where there is nothing to do about it.
func why(w *world.Workload) draw.Line {
	if w.Health == world.Healthy {
		return draw.Line{}
	}
	return draw.Text(theme.Plain, w.Why)
}
