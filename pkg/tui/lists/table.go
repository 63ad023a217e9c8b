package lists

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// Draw counts all workloads by health, says what hides some of them, and has the rows that fit.
func (s Workloads) Draw(env screen.Env) []draw.Line {
	count, right := draw.Text(draw.Plain, "  "+counted.Of(s.counts.all, "workload")), s.filterLine(env)
	count = count.Join(screen.Counts(env.Theme, s.counts.health, env.Width-count.Width()-right.Width()))
	none := draw.Text(draw.Faint, "  "+screen.NoMatches)
	switch {
	case s.counts.all == 0:
		none = draw.Text(draw.Faint, "  no workloads here")
	case s.faults && s.filter == "":
		none = draw.Text(draw.Good, "  no problems; f shows all workloads")
	}
	lines := s.draw(env, draw.Both(count, right, env.Width, env.Theme.Symbols.Ellipsis), none, s.columns(env), s.seen(env), func(i int) ([]draw.Line, bool) {
		return workloadCells(env, s.rows[i]), s.marked[s.refs[i]]
	})
	if len(s.rows) == 0 {
		return lines
	}
	reason := s.reason(env, max(env.Height-len(lines), 1))
	return append(draw.Exactly(lines, max(env.Height-len(reason), len(lines))), reason...)
}

// reason is why the row of the cursor is as it is, in at most so many lines.
func (s Workloads) reason(env screen.Env, most int) []draw.Line {
	w := s.rows[s.window.At]
	head := draw.Text(screen.HealthStyle(w.Health), "  "+screen.HealthSymbol(env.Theme, w.Health)+" "+w.Name+": ")
	lines := draw.Wrap(draw.Plain, w.Why, max(env.Width-5, 10))
	if first := env.Width - head.Width() - 1; len(lines) > 0 && first > env.Width/3 {
		lines = draw.Wrap(draw.Plain, draw.Spaces(head.Width()-4)+w.Why, env.Width-5)
		lines[0] = draw.Text(draw.Plain, strings.TrimLeft(lines[0].String(), " "))
	}
	if len(lines) == 0 {
		lines = []draw.Line{{}}
	}
	lines = draw.First(lines, most, env.Theme.Symbols.Ellipsis) // the rest is on the screen of the workload
	for i, l := range lines {
		if i == 0 {
			lines[i] = head.Join(l)
		} else {
			lines[i] = draw.Text(draw.Plain, "    ").Join(l)
		}
	}
	return lines
}

// filterLine is what hides rows, and their order.
func (s Workloads) filterLine(env screen.Env) draw.Line {
	var l draw.Line
	if n := len(s.marked); n > 0 {
		l = l.Add(draw.Mark, fmt.Sprintf(" %s %d marked", env.Theme.Symbols.Mark, n))
	}
	if s.faults {
		l = l.Add(draw.Warn, " problems only")
	}
	if s.filter != "" {
		l = l.Add(draw.Key, " /"+s.filter)
	}
	if s.faults || s.filter != "" {
		l = l.Add(draw.Faint, fmt.Sprintf(" (%d)", len(s.rows)))
	}
	if env.Width >= wide {
		l = l.Add(draw.Faint, " by "+workloadSorts.Title(s.sort, env.Theme.Symbols))
	}
	return l.Add(draw.Plain, " ")
}

// wide is from how many columns on there is room for what is only nice to know.
const wide = 90

// columns are in the order of the screen; why takes what is left, and is kept longer than
// what is less important: the driver, the age, the picture, the step.
func (s Workloads) columns(env screen.Env) []draw.Column {
	space := 12 // that namespaces have at least: their names often begin alike
	switch {
	case env.Width < medium:
		space = 4
	case env.Width < wide:
		space = 8
	}
	list := []draw.Column{
		{Title: "HEALTH", Width: 13, Min: 1, Give: 1, Keep: true},
		{Title: "NS", Width: max(s.sizes.namespace, 4), Min: space, Give: 5},
		{Title: "WORKLOAD", Width: max(s.sizes.name, 8), Min: 20, Keep: true},
		{Title: "UPDATED", Width: 9, Min: 7, Right: true, Give: 2, Keep: true},
		{Title: "", Width: bar, Give: 9},
		{Title: "STEP", Width: 18, Give: 8}, // with room for its name
		{Title: "READY", Width: 9, Min: 7, Right: true, Give: 2, Keep: true},
		{Title: "DRIVER", Width: 6, Give: 11},
		{Title: "AGE", Width: 5, Right: true, Give: 10},
		{Title: "WHY", Width: 200, Min: min(env.Width/3, 60), Give: 7}, // which it has at least, or is left out
	}
	if env.Width < named {
		list[5].Width = 5
	}
	if env.Width < wide {
		list[9].Min = 12
	}
	if env.Width >= narrow {
		list[0].Min = list[0].Width
	}
	if s.counts.namespaces < 2 || env.World.Where.Namespace != "" {
		list[1].Width, list[1].Min = 0, 0
	}
	return list
}

// medium is from how many columns on there is room for most of a namespace's name.
const medium = 80

// narrow is below how many columns the word of the health may be cut.
const narrow = 60

// named is from how many columns on steps are named.
const named = 150

// bar is how wide the picture of pods is.
const bar = 10

func workloadCells(env screen.Env, w *world.Workload) []draw.Line {
	ready, why := draw.Plain, w.Why
	if w.Pods.Ready < w.Pods.Desired {
		ready = draw.Warn
	}
	if w.Health == world.Healthy { // there is nothing to do about it
		why = ""
	}
	return []draw.Line{
		screen.Health(env.Theme, w.Health),
		draw.Text(draw.Plain, w.Namespace),
		draw.Of(draw.Span{Text: kind(w), Style: draw.Faint}, draw.Span{Text: w.Name, Style: draw.Strong}),
		draw.Text(draw.Plain, fraction(w.Pods.Updated, max(w.Pods.Desired, w.Pods.Total))),
		draw.Pods(env.Theme.Symbols, w.Pods, w.Failing, bar),
		step(env, w),
		draw.Text(ready, fraction(w.Pods.Ready, w.Pods.Desired)),
		draw.Text(draw.Faint, string(w.Driver)),
		draw.Text(draw.Faint, screen.Age(env.World.Now, w.Created)),
		draw.Text(draw.Plain, why),
	}
}

func kind(w *world.Workload) string {
	name := w.String()
	return name[:len(name)-len(w.Name)]
}

func step(env screen.Env, w *world.Workload) draw.Line {
	if w.Steps == 0 {
		return draw.Line{}
	}
	l := draw.Text(draw.Plain, fraction(w.Step+1, w.Steps))
	if env.Width < named {
		return l
	}
	return l.Add(draw.Faint, " "+w.StepName)
}

func fraction(part, of int) string { return strconv.Itoa(part) + "/" + strconv.Itoa(of) }
