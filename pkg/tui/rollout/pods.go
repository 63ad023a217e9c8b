package rollout

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/match"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/show"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// podIndex has the pods of a workload in the orders and with the counts that frames are drawn
// from. A new state of the workload changes it only where pods have changed; another filter,
// order or grouping goes over all pods once. Copies of a screen share it, and only the newest
// copy may be used.
type podIndex struct {
	detail *world.Detail
	view   podView
	filter match.Match

	rows map[string]*podRow // by UID
	// table has those that pass the filter, grid all of them by group, ready those at the update
	// revision by the time at which they became ready.
	table, grid, ready *ordered[*podRow]
	groups             groups
	count              [world.PodStates]int
	widths             podWidths
}

// podView is how a user wants to see the pods.
type podView struct {
	filter string
	order  order
	by     grouping
}

// podRow is a pod as it is shown; it never changes.
type podRow struct {
	world.Pod
	name, revision, group string
	ready, restarts       int
	why                   string
	// shown is true if it passes the filter.
	shown bool
}

// podWidths is how wide the texts of each column are.
type podWidths struct{ name, revision, node, why, images widths }

// update takes in a state of the workload, and how the user wants to see it.
func (x *podIndex) update(d *world.Detail, v podView) {
	switch {
	case x.detail == nil || x.view.by == byZone && !sameZones(x.detail, d):
		x.fill(d, v)
		return
	case d != x.detail:
		gone, come := d.Since(x.detail)
		x.detail = d
		for _, p := range gone {
			x.remove(p.UID)
		}
		for _, p := range come {
			x.add(x.newRow(p))
		}
	}
	if v != x.view {
		x.fill(d, v)
	}
}

// fill goes over all pods.
func (x *podIndex) fill(d *world.Detail, v podView) {
	members := d.Members()
	*x = podIndex{detail: d, view: v, filter: match.New(v.filter), rows: make(map[string]*podRow, len(members))}
	all, ready := make([]*podRow, len(members)), []*podRow(nil)
	var shown []*podRow
	for i, p := range members {
		r := x.newRow(p)
		all[i] = r
		x.tally(r, 1)
		if r.shown {
			shown = append(shown, r)
		}
		if r.State == world.Ready {
			ready = append(ready, r)
		}
	}
	x.table, x.grid, x.ready = newOrdered(shown, v.order.compare), newOrdered(all, compareGroups), newOrdered(ready, compareReady)
}

func (x *podIndex) newRow(p world.Pod) *podRow {
	r := &podRow{
		Pod: p, name: world.PodName(x.detail.Ref, p.Pod), revision: revisionOf(x.detail.Ref, p.Pod), group: x.view.by.of(x.detail, p),
		restarts: show.Restarts(p.Pod), why: show.Reason(p.Pod),
	}
	for i := range p.Containers {
		if p.Containers[i].Ready {
			r.ready++
		}
	}
	r.shown = x.view.filter == "" || x.filter.Row(p.Labels, r.name, p.State.String(), r.revision, p.Node, r.why, show.Images(p.Pod))
	return r
}

func (x *podIndex) add(r *podRow) {
	x.tally(r, 1)
	x.grid.insert(r)
	if r.shown {
		x.table.insert(r)
	}
	if r.State == world.Ready {
		x.ready.insert(r)
	}
}

func (x *podIndex) remove(uid string) {
	r := x.rows[uid]
	if r == nil {
		return
	}
	x.grid.remove(r)
	x.table.remove(r)
	x.ready.remove(r)
	x.tally(r, -1)
	delete(x.rows, uid)
}

// tally counts a row, or takes it off the counts again.
func (x *podIndex) tally(r *podRow, by int) {
	x.rows[r.UID] = r
	x.count[r.State] += by
	x.groups.add(r.group, by)
	if !r.shown {
		return
	}
	w := &x.widths
	w.name.add(draw.Width(r.name), by)
	w.revision.add(draw.Width(r.revision), by)
	w.node.add(draw.Width(r.Node), by)
	w.why.add(draw.Width(r.why), by)
	w.images.add(draw.Width(show.Images(r.Pod.Pod)), by)
}

// find returns the pod with a UID, nil if there is none.
func (x *podIndex) find(uid string) *cluster.Pod {
	if r := x.rows[uid]; r != nil {
		return r.Pod.Pod
	}
	return nil
}

// shown returns the row of a pod that passes the filter, nil for any other.
func (x *podIndex) shown(uid string) *podRow {
	if r := x.rows[uid]; r != nil && r.shown {
		return r
	}
	return nil
}

// place is the position of a pod in the table; the first one for a pod that is not in it.
func (x *podIndex) place(uid string) int {
	if r := x.shown(uid); r != nil {
		i, _ := x.table.index(r)
		return i
	}
	return 0
}

// below is the pod some rows of the table below another, the first or last one beyond the ends,
// and the first one if the other is not shown.
func (x *podIndex) below(uid string, by int) string {
	switch {
	case x.table == nil || x.table.size == 0:
		return uid
	case x.shown(uid) == nil:
		return x.table.at(0).UID
	}
	return x.table.at(max(min(x.place(uid)+by, x.table.size-1), 0)).UID
}

// next is the pod some cells of the grid after another, and that itself at the ends.
func (x *podIndex) next(uid string, by int) string {
	r := x.rows[uid]
	if r == nil {
		return uid
	}
	i, _ := x.grid.index(r)
	if i+by < 0 || i+by >= x.grid.size {
		return uid
	}
	return x.grid.at(i + by).UID
}

// recent is how many pods the pace is taken from: the last ones, so a pause long ago does not
// count.
const recent = 20

// timeLeft is how long the missing pods take at the pace at which the last ones became ready.
// It is read off the pods, so it is the same in every process.
func (x *podIndex) timeLeft() (time.Duration, bool) {
	d := x.detail
	missing := max(d.Pods.Desired, d.Pods.Total) - d.Pods.UpdatedReady
	if d.Health != world.Progressing || missing <= 0 || x.ready.size < 3 {
		return 0, false
	}
	n := min(x.ready.size, recent)
	first, last := x.ready.at(x.ready.size-n), x.ready.at(x.ready.size-1)
	each := last.ReadySince().Sub(first.ReadySince()) / time.Duration(n-1)
	return (each * time.Duration(missing)).Round(time.Second), each > 0
}

func compareReady(a, b *podRow) int {
	return cmp.Or(a.ReadySince().Compare(b.ReadySince()), strings.Compare(a.UID, b.UID))
}

// revisionOf is the revision of a pod without the name of the workload in front.
func revisionOf(ref cluster.Ref, p *cluster.Pod) string {
	name := p.Labels[cluster.RevisionLabel]
	if name == "" {
		name = p.Labels["pod-template-hash"]
	}
	if rest, ok := strings.CutPrefix(name, ref.Name+"-"); ok && rest != "" {
		return rest
	}
	return name
}

// order is how the table of pods is sorted; its zero value has the pods first that need attention.
type order struct {
	by       int
	reversed bool
}

// orders are what pods can be sorted by, in the direction that is wanted more often.
var orders = []struct {
	name    string
	compare func(a, b *podRow) int
}{
	{"state", func(a, b *podRow) int { return cmp.Compare(urgency[a.State], urgency[b.State]) }},
	{"name", func(a, b *podRow) int { return strings.Compare(a.name, b.name) }},
	{"revision", func(a, b *podRow) int { return strings.Compare(a.revision, b.revision) }},
	{"restarts", func(a, b *podRow) int { return cmp.Compare(b.restarts, a.restarts) }},
	{"age", func(a, b *podRow) int { return b.Created.Compare(a.Created) }},
	{"node", func(a, b *podRow) int { return strings.Compare(a.Node, b.Node) }},
	{"ready", func(a, b *podRow) int { return cmp.Compare(a.ready, b.ready) }},
	{"why", func(a, b *podRow) int {
		return cmp.Or(cmp.Compare(min(len(b.why), 1), min(len(a.why), 1)), strings.Compare(a.why, b.why))
	}},
}

// urgency orders states: what fails, what is about to change, what is well.
var urgency = [world.PodStates]int{
	world.Failing: 0, world.OutdatedFailing: 1, world.Starting: 2, world.OutdatedUnavailable: 3, world.Terminating: 4, world.Ready: 5, world.OutdatedReady: 6,
}

func (o order) name() string { return orders[o.by].name }

func (o order) next() order { return order{by: (o.by + 1) % len(orders)} }

// compare orders rows, equal ones by name.
func (o order) compare(a, b *podRow) int {
	c := orders[o.by].compare(a, b)
	if o.reversed {
		c = -c
	}
	return cmp.Or(c, strings.Compare(a.name, b.name), strings.Compare(a.UID, b.UID))
}

// grouping is what the pods of the grid are grouped by.
type grouping uint8

const (
	byRevision grouping = iota
	byNode
	byZone
	bySubset
	groupings
)

func (g grouping) String() string {
	return [...]string{"revision", "node", "zone", "subset"}[g]
}

// next passes over subsets if there are none.
func (g grouping) next(d *world.Detail) grouping {
	g = (g + 1) % groupings
	if g == bySubset && (d == nil || len(d.Subsets) == 0) {
		g = byRevision
	}
	return g
}

// of is the group of a pod.
func (g grouping) of(d *world.Detail, p world.Pod) string {
	switch g {
	case byNode:
		return cmp.Or(p.Node, "no node")
	case byZone:
		if n := d.Snapshot.Nodes[p.Node]; n != nil {
			return cmp.Or(n.Labels[show.ZoneLabel], "no zone")
		}
		return "no node"
	case bySubset:
		return cmp.Or(d.Subsets[p.UID], "no subset")
	}
	if p.Updated {
		return "new"
	}
	return "old"
}

// sameZones reports whether all nodes are in the zones that they were in.
func sameZones(a, b *world.Detail) bool {
	if len(a.Snapshot.Nodes) != len(b.Snapshot.Nodes) {
		return false
	}
	for name, n := range a.Snapshot.Nodes {
		now := b.Snapshot.Nodes[name]
		if now != n && (now == nil || now.Labels[show.ZoneLabel] != n.Labels[show.ZoneLabel]) {
			return false
		}
	}
	return true
}

// compareGroups orders the pods of the grid: by group, within one by name.
func compareGroups(a, b *podRow) int {
	return cmp.Or(strings.Compare(a.group, b.group), strings.Compare(a.Name, b.Name), strings.Compare(a.UID, b.UID))
}

// groups counts the pods of each group.
type groups struct {
	count map[string]int
	// names are in order; nil is to be worked out again.
	names []string
}

func (g *groups) add(name string, by int) {
	if g.count == nil {
		g.count = map[string]int{}
	}
	before := g.count[name]
	if g.count[name] += by; g.count[name] == 0 {
		delete(g.count, name)
	}
	if before == 0 || before+by == 0 {
		g.names = nil
	}
}

// list returns the names of the groups in order.
func (g *groups) list() []string {
	if g.names == nil {
		g.names = slices.Sorted(maps.Keys(g.count))
	}
	return g.names
}

// widest bounds what is measured of a text: no column is wider.
const widest = 200

// widths counts texts by their width.
type widths [widest + 1]int

func (w *widths) add(width, by int) { w[min(width, widest)] += by }

// max is the width of the widest text, 0 if there is none.
func (w *widths) max() int {
	for i, n := range slices.Backward(w[:]) {
		if n > 0 {
			return i
		}
	}
	return 0
}
