package rollout

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// podList has the pods of a workload as the screen shows them. It is computed again when the workload,
// the filter, the order or the grouping changes; drawing only reads it.
type podList struct {
	detail *world.Detail
	view   podView
	rows   map[string]*podRow // by UID
	// table has those that pass the filter, grid all of them by group, groups are its parts.
	table, grid []*podRow
	groups      [][]*podRow
	count       [world.PodStates]int
	widths      podWidths
	// left is [timeLeft].
	left time.Duration
}

// podView is how a user wants to see the pods.
type podView struct {
	filter string
	sort   screen.Sort
	by     grouping
}

// podRow is a pod as it is shown.
type podRow struct {
	world.Pod
	name, revision, group string
	ready, restarts       int
	why                   string
	// shown is true if it passes the filter.
	shown bool
}

// podWidths is how wide the texts of each column are.
type podWidths struct{ name, revision, node, why, images int }

// listPods goes over all pods.
func listPods(d *world.Detail, v podView) podList {
	members := d.Members()
	l := podList{detail: d, view: v, left: timeLeft(d, members), rows: make(map[string]*podRow, len(members)), grid: make([]*podRow, len(members))}
	filter, w := screen.NewMatch(v.filter), &l.widths
	for i, p := range members {
		r := &podRow{
			Pod: p, name: world.PodName(d.Ref, p.Pod), revision: revisionOf(d.Ref, p.Pod), group: v.by.of(d, p),
			restarts: screen.Restarts(p.Pod), why: screen.Reason(p.Pod),
		}
		for c := range p.Containers {
			if p.Containers[c].Ready {
				r.ready++
			}
		}
		l.rows[p.UID], l.grid[i] = r, r
		l.count[p.State]++
		images := screen.Images(p.Pod)
		if r.shown = v.filter == "" || filter.Row(p.Labels, r.name, p.State.String(), r.revision, p.Node, r.why, images); !r.shown {
			continue
		}
		l.table = append(l.table, r)
		w.name, w.revision, w.node = max(w.name, draw.Width(r.name)), max(w.revision, draw.Width(r.revision)), max(w.node, draw.Width(r.Node))
		w.why, w.images = max(w.why, draw.Width(r.why)), max(w.images, draw.Width(images))
	}
	slices.SortFunc(l.table, func(a, b *podRow) int {
		return cmp.Or(podSorts.Compare(v.sort, a, b), strings.Compare(a.name, b.name), strings.Compare(a.UID, b.UID))
	})
	slices.SortFunc(l.grid, func(a, b *podRow) int {
		return cmp.Or(strings.Compare(a.group, b.group), strings.Compare(a.Name, b.Name), strings.Compare(a.UID, b.UID))
	})
	for from, r := range l.grid {
		if from == 0 || r.group != l.grid[from-1].group {
			l.groups = append(l.groups, nil)
		}
		last := &l.groups[len(l.groups)-1]
		*last = append(*last, r)
	}
	return l
}

// find returns the pod with a UID, nil if there is none.
func (l podList) find(uid string) *cluster.Pod {
	if r := l.rows[uid]; r != nil {
		return r.Pod.Pod
	}
	return nil
}

// shown returns the row of a pod that passes the filter, nil for any other.
func (l podList) shown(uid string) *podRow {
	if r := l.rows[uid]; r != nil && r.shown {
		return r
	}
	return nil
}

// place is the position of a pod in the table; the first one for a pod that is not in it.
func (l podList) place(uid string) int { return max(slices.Index(l.table, l.shown(uid)), 0) }

// below is the pod some rows of the table below another, the first or last one beyond the ends,
// and the first one if the other is not shown.
func (l podList) below(uid string, by int) string {
	switch {
	case len(l.table) == 0:
		return uid
	case l.shown(uid) == nil:
		return l.table[0].UID
	}
	return l.table[max(min(l.place(uid)+by, len(l.table)-1), 0)].UID
}

// next is the pod some cells of the grid after another, and that itself at the ends.
func (l podList) next(uid string, by int) string {
	i := slices.Index(l.grid, l.rows[uid])
	if i < 0 || i+by < 0 || i+by >= len(l.grid) {
		return uid
	}
	return l.grid[i+by].UID
}

// recent is how many pods the pace is taken from: the last ones, so a pause long ago does not
// count.
const recent = 20

// timeLeft is how long the missing pods take at the pace at which the last ones became ready, 0 if that is not known.
// It is read off the pods, so it is the same in every process.
func timeLeft(d *world.Detail, members []world.Pod) time.Duration {
	missing := max(d.Pods.Desired, d.Pods.Total) - d.Pods.UpdatedReady
	if d.Health != world.Progressing || missing <= 0 {
		return 0
	}
	var ready []time.Time
	for _, p := range members {
		if p.State == world.Ready {
			ready = append(ready, p.ReadySince())
		}
	}
	if len(ready) < 3 {
		return 0
	}
	slices.SortFunc(ready, time.Time.Compare)
	ready = ready[max(len(ready)-recent, 0):]
	each := ready[len(ready)-1].Sub(ready[0]) / time.Duration(len(ready)-1)
	return (each * time.Duration(missing)).Round(time.Second)
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

// podSorts are what pods can be sorted by; at first those stand above that need attention.
var podSorts = screen.Sorts[*podRow]{
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

// grouping is what the pods of the grid are grouped by.
type grouping uint8

const (
	byRevision grouping = iota
	byNode
	byZone
	bySubset
	groupings
)

// groupNames are those of the command group.
var groupNames = []string{"revision", "node", "zone", "subset"}

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
			return cmp.Or(n.Labels[screen.ZoneLabel], "no zone")
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
