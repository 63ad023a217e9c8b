package rollout

import (
	"strconv"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// podTable is the header and the rows that fit, with that of the cursor in sight.
func (s Screen) podTable(env screen.Env, r room) []draw.Line {
	if r.height <= 0 {
		return nil
	}
	all := s.pods.table
	if len(all) == 0 {
		why := "  no pods"
		if s.view.filter != "" {
			why = "  " + screen.NoMatches
		}
		return draw.Exactly([]draw.Line{draw.Text(draw.Faint, why)}, r.height)
	}
	table := draw.Table{
		Columns: s.pods.widths.columns(r.width), Rows: len(all), Window: draw.Window{At: s.pods.place(s.at)}.Keep(len(all), max(r.height-1, 1)),
	}
	return draw.Exactly(table.Draw(env.Theme, r.width, r.height, func(i int) ([]draw.Line, bool) { return all[i].cells(env), s.marked[all[i].UID] }), r.height)
}

// widestCell bounds the columns of names, widest that of the reason.
const widestCell, widest = 40, 200

// wideTable is from how many columns on states have their word, and roomyTable from how many on
// images are named.
const wideTable, roomyTable = 70, 110

// columns are in the order of the screen; the reason takes what is left.
func (w podWidths) columns(width int) []draw.Column {
	name, revision, node := max(w.name, 3), min(max(w.revision, 8), 16), min(max(w.node, 4), widestCell)
	why, images := min(max(w.why, 3), widest), max(w.images, 6)
	list := []draw.Column{
		{Title: "POD", Width: min(name, widestCell), Min: min(name, 24), Give: 1, Keep: true},
		{Title: "STATE", Width: 13, Min: 11, Give: 4, Keep: true},
		{Title: "REVISION", Width: revision, Give: 7},
		{Title: "READY", Width: 5, Right: true, Give: 5},
		{Title: "RESTARTS", Width: 8, Right: true, Give: 3},
		{Title: "AGE", Width: 5, Right: true, Give: 6},
		{Title: "NODE", Width: node, Give: 8},
		{Title: "WHY", Width: why, Min: min(why, max(width/3, 12)), Give: 2},
		{Title: "IMAGES", Width: min(images, 2*widestCell), Min: min(images, 24), Give: 9},
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

func (r *podRow) cells(env screen.Env) []draw.Line {
	symbol, style := picture(r.State, env.Theme.Symbols)
	state := draw.Text(style, symbol+" "+r.State.String())
	if env.Width < wideTable {
		state = draw.Text(style, symbol)
	}
	restarts, ready := draw.Faint, draw.Plain
	if r.restarts > 0 {
		restarts = draw.Warn
	}
	if r.ready < len(r.Containers) {
		ready = draw.Warn
	}
	why := draw.Plain
	if r.State == world.Failing || r.State == world.OutdatedFailing {
		why = draw.Bad
	}
	return []draw.Line{
		draw.Text(draw.Strong, r.name),
		state,
		draw.Text(draw.Faint, r.revision),
		draw.Text(ready, strconv.Itoa(r.ready)+"/"+strconv.Itoa(len(r.Containers))),
		draw.Text(restarts, strconv.Itoa(r.restarts)),
		draw.Text(draw.Faint, screen.Age(env.World.Now, r.Created)),
		draw.Text(draw.Faint, r.Node),
		draw.Text(why, r.why),
		draw.Text(draw.Faint, screen.Images(r.Pod.Pod)),
	}
}

// reason is why the pod of the cursor is not ready, in full; for one that is ready, its
// containers.
func (s Screen) reason(env screen.Env, r room) []draw.Line {
	row := s.pods.shown(s.at)
	if r.height <= 0 || row == nil {
		return draw.Exactly(nil, r.height)
	}
	text := row.name + ": " + row.State.String()
	if row.why != "" {
		text += ", " + row.why
	} else if !row.Deleting {
		text += " since " + screen.Age(env.World.Now, row.ReadySince()) + ", " + screen.Images(row.Pod.Pod)
	}
	return draw.Exactly(draw.Indented(2, draw.Faint, text, max(r.width-3, 1)), r.height)
}
