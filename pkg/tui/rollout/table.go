package rollout

import (
	"strconv"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/match"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/show"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/theme"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// podRow is one pod of the table.
type podRow struct {
	pod             *cluster.Pod
	cell            cell
	name, revision  string
	ready, restarts int
	why             string
}

// podTable has the pods that pass the filter, in order. It is worked out when the world,
// the filter or the order has changed; a frame draws the rows that are seen.
type podTable struct {
	rows []podRow
	// place is the index of each row by the UID of its pod.
	place map[string]int
	// These are how wide the longest text of each column is.
	name, revision, node, why, images int
}

func newPodTable(d *world.Detail, filter string, by order) podTable {
	t := podTable{rows: make([]podRow, 0, len(d.Snapshot.Pods)), place: make(map[string]int, len(d.Snapshot.Pods))}
	m, fails := match.New(filter), d.Failing()
	for _, p := range d.Snapshot.Pods {
		r := newPodRow(d, p, fails)
		if filter != "" && !m.Row(p.Labels, r.name, r.cell.String(), r.revision, p.Node, r.why, show.Images(p)) {
			continue
		}
		t.rows = append(t.rows, r)
		t.name, t.revision, t.node = max(t.name, draw.Width(r.name)), max(t.revision, draw.Width(r.revision)), max(t.node, draw.Width(p.Node))
		t.why = max(t.why, draw.Width(r.why))
		if len(t.rows) <= measured {
			t.images = max(t.images, draw.Width(show.Images(p)))
		}
	}
	by.sort(t.rows)
	for i := range t.rows {
		t.place[t.rows[i].pod.UID] = i
	}
	return t
}

func newPodRow(d *world.Detail, p *cluster.Pod, fails func(*cluster.Pod) bool) podRow {
	r := podRow{pod: p, cell: look(d, p, fails), name: world.PodName(d.Ref, p), revision: revisionOf(d.Ref, p), restarts: show.Restarts(p), why: show.Reason(p)}
	for i := range p.Containers {
		if p.Containers[i].Ready {
			r.ready++
		}
	}
	return r
}

// revisionOf is the revision of a pod without the name of the workload in front.
func revisionOf(ref cluster.Ref, p *cluster.Pod) string {
	name := p.Labels[cluster.RevisionLabel]
	if name == "" {
		name = p.Labels["pod-template-hash"]
	}
	if rest, ok := cutName(name, ref.Name); ok {
		return rest
	}
	return name
}

func cutName(text, name string) (string, bool) {
	if len(text) > len(name)+1 && text[:len(name)] == name && text[len(name)] == '-' {
		return text[len(name)+1:], true
	}
	return text, false
}

// step is the pod so many rows below another, the first or last one beyond the ends, and
// the first one where that is not shown.
func (t podTable) step(uid string, by int) string {
	if len(t.rows) == 0 {
		return uid
	}
	i, ok := t.place[uid]
	if !ok {
		return t.rows[0].pod.UID
	}
	return t.rows[max(min(i+by, len(t.rows)-1), 0)].pod.UID
}

// draw is the header and the rows that fit, with that of the cursor in sight.
func (t podTable) draw(env screen.Env, at string, marked map[string]bool, r room) []draw.Line {
	if r.height <= 0 {
		return nil
	}
	if len(t.rows) == 0 {
		return draw.Exactly([]draw.Line{draw.Text(theme.Faint, "  no matches; esc clears the filter")}, r.height)
	}
	table := draw.Table{
		Columns: t.columns(r.width), Rows: len(t.rows), Window: draw.Window{At: t.place[at]}.Keep(len(t.rows), max(r.height-1, 1)),
		Row:    func(i int) []draw.Line { return t.rows[i].cells(env) },
		Marked: func(i int) bool { return marked[t.rows[i].pod.UID] },
	}
	return draw.Exactly(table.Draw(env.Theme, r.width, r.height), r.height)
}

// widestCell bounds the columns of names; measured is of how many pods the images are
// measured, which are much alike.
const widestCell, measured = 40, 100

// columns are in the order of the screen; the reason takes what is left.
func (t podTable) columns(width int) []draw.Column {
	revision, node := min(max(t.revision, 8), 16), min(max(t.node, 4), widestCell)
	why := min(max(t.why, 3), 200)
	list := []draw.Column{
		{Title: "POD", Width: min(max(t.name, 3), widestCell), Min: min(max(t.name, 3), 24), Give: 1, Keep: true},
		{Title: "STATE", Width: 13, Min: 11, Give: 4, Keep: true},
		{Title: "REVISION", Width: revision, Give: 7},
		{Title: "READY", Width: 5, Right: true, Give: 5},
		{Title: "RESTARTS", Width: 8, Right: true, Give: 3},
		{Title: "AGE", Width: 5, Right: true, Give: 6},
		{Title: "NODE", Width: node, Give: 8},
		{Title: "WHY", Width: why, Min: min(why, max(width/3, 12)), Give: 2},
		{Title: "IMAGES", Width: min(max(t.images, 6), 2*widestCell), Min: min(max(t.images, 6), 24), Give: 9},
	}
	if width < wideTable { // the symbol says the same
		list[1].Width, list[1].Min = 1, 1
		list[1].Title = ""
	}
	if width < roomyTable {
		list[8].Width, list[8].Min = 0, 0
	}
	return list
}

// wideTable is from how many columns on states have their word, and roomyTable from how
// many on images are named.
const wideTable, roomyTable = 70, 110

func (r podRow) cells(env screen.Env) []draw.Line {
	symbol, style := r.cell.picture(env.Theme.Symbols)
	state := draw.Text(style, symbol+" "+r.cell.String())
	if env.Width < wideTable {
		state = draw.Text(style, symbol)
	}
	restarts, ready := theme.Faint, theme.Plain
	if r.restarts > 0 {
		restarts = theme.Warn
	}
	if r.ready < len(r.pod.Containers) {
		ready = theme.Warn
	}
	why := theme.Plain
	if r.cell == newBad || r.cell == oldBad {
		why = theme.Bad
	}
	return []draw.Line{
		draw.Text(theme.Strong, r.name),
		state,
		draw.Text(theme.Faint, r.revision),
		draw.Text(ready, strconv.Itoa(r.ready)+"/"+strconv.Itoa(len(r.pod.Containers))),
		draw.Text(restarts, strconv.Itoa(r.restarts)),
		draw.Text(theme.Faint, show.Age(env.World.Now, r.pod.Created)),
		draw.Text(theme.Faint, r.pod.Node),
		draw.Text(why, r.why),
		draw.Text(theme.Faint, show.Images(r.pod)),
	}
}
