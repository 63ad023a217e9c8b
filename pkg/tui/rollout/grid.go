package rollout

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// overview is the grid of all pods below its legend.
func (s Screen) overview(env screen.Env, r room) []draw.Line {
	if r.height <= 0 {
		return nil
	}
	lines := []draw.Line{draw.Both(draw.Heading("PODS", "").Join(s.filterLine(env)), draw.Text(draw.Faint, "by "+groupNames[s.view.by]+" "), r.width, env.Theme.Symbols.Ellipsis)}
	if r.height > 3 {
		lines = append(lines, draw.Text(draw.Plain, " ").Join(s.pods.legend(env.Theme.Symbols)))
	}
	return draw.Exactly(append(lines, s.pods.cells(env.Theme, s.at, s.marked, r.width, r.height-len(lines))...), r.height)
}

// filterLine is how many pods there are, what hides some of them, and their order.
func (s Screen) filterLine(env screen.Env) draw.Line {
	l := draw.Text(draw.Plain, strconv.Itoa(len(s.pods.grid)))
	if s.view.filter != "" {
		l = l.Add(draw.Key, "  /"+s.view.filter).Add(draw.Faint, fmt.Sprintf(" (%d)", len(s.pods.table)))
	}
	if n := len(s.marked); n > 0 {
		l = l.Add(draw.Mark, fmt.Sprintf("  %s %d marked", env.Theme.Symbols.Mark, n))
	}
	return l.Add(draw.Faint, "  sorted by "+podSorts.Title(s.view.sort, env.Theme.Symbols))
}

// gridRow is pods of one group; label is set on its first row.
type gridRow struct {
	label string
	pods  []*podRow
}

// widestLabel is how much of the name of a group is shown.
const widestLabel = 18

// gridRows breaks groups into rows, behind labels of a width.
func (l podList) gridRows(width int) (rows []gridRow, label int) {
	for _, pods := range l.groups {
		label = max(label, min(draw.Width(pods[0].group), widestLabel))
	}
	for _, pods := range l.groups {
		name := pods[0].group
		for part := range slices.Chunk(pods, max(width-label-3, 1)) {
			rows = append(rows, gridRow{name, part})
			name = ""
		}
	}
	return rows, label
}

// cells are the rows of the grid that fit, with that of the cursor in sight.
func (l podList) cells(th *draw.Theme, at string, marked map[string]bool, width, height int) []draw.Line {
	rows, label := l.gridRows(width)
	cursor := l.rows[at]
	under := slices.IndexFunc(rows, func(r gridRow) bool { return slices.Contains(r.pods, cursor) })
	window := draw.Window{At: under}.Keep(len(rows), height)
	var lines []draw.Line
	for _, r := range rows[window.Top:min(window.Top+max(height, 0), len(rows))] {
		line := draw.Text(draw.Faint, " "+r.label).Fit(label+2, th.Symbols.Ellipsis)
		for _, pod := range r.pods {
			line = cell(line, th, pod, pod == cursor, marked[pod.UID])
		}
		lines = append(lines, line)
	}
	return lines
}

// cell adds one pod to a line; what looks the same becomes one span.
func cell(l draw.Line, th *draw.Theme, pod *podRow, at, marked bool) draw.Line {
	text, style := picture(pod.State, th.Symbols)
	switch {
	case at:
		style = draw.Found
	case marked:
		text, style = th.Symbols.Mark, draw.Mark
	}
	if n := len(l.Spans) - 1; n > 0 && l.Spans[n].Style == style {
		l.Spans[n].Text += text
		return l
	}
	l.Spans = append(l.Spans, draw.Span{Text: text, Style: style})
	return l
}

// picture is the symbol of a state.
func picture(state world.PodState, s draw.Symbols) (string, draw.Style) {
	switch state {
	case world.Ready:
		return s.New, draw.Updated
	case world.Starting:
		return s.NewDown, draw.Busy
	case world.Failing, world.OutdatedFailing:
		return s.Blocked, draw.Bad
	case world.OutdatedReady:
		return s.Old, draw.Outdated
	case world.OutdatedUnavailable:
		return s.Down, draw.Down
	}
	return s.Leaving, draw.Faint
}

// pictured are the states that look different, in the order of bar and legend.
var pictured = []world.PodState{world.Ready, world.Starting, world.Failing, world.OutdatedReady, world.OutdatedUnavailable, world.Terminating}

// legend explains the symbols of the states that there are.
func (l podList) legend(s draw.Symbols) draw.Line {
	var line draw.Line
	for _, state := range pictured {
		if n := l.countOf(state); n > 0 {
			text, style := picture(state, s)
			line = line.Add(style, text).Add(draw.Faint, fmt.Sprintf(" %d %s  ", n, state))
		}
	}
	return line
}

// countOf is how many pods have the symbol of a state.
func (l podList) countOf(state world.PodState) int {
	if state == world.Failing {
		return l.count[world.Failing] + l.count[world.OutdatedFailing]
	}
	return l.count[state]
}

// bar is all pods in the symbols of the grid, and empty places for those that are missing; a pod
// has one column where there is room.
func (l podList) bar(s draw.Symbols, desired, width int) draw.Line {
	var parts []draw.Part
	for _, state := range pictured {
		text, style := picture(state, s)
		parts = append(parts, draw.Part{Count: l.countOf(state), Symbol: text, Style: style})
	}
	missing := max(desired-len(l.grid), 0)
	parts = append(parts, draw.Part{Count: missing, Symbol: s.Empty, Style: draw.Faint})
	return draw.Bar(min(width, len(l.grid)+missing), parts...)
}
