package rollout

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/show"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// grouping is by what pods stand together.
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

// next passes over subsets where there are none.
func (g grouping) next(d *world.Detail) grouping {
	g = (g + 1) % groupings
	if g == bySubset && (d == nil || len(d.Subsets) == 0) {
		g = byRevision
	}
	return g
}

// of is the group of a pod.
func (g grouping) of(d *world.Detail, p *cluster.Pod) string {
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
	if d.Updated[p.UID] {
		return "new"
	}
	return "old"
}

// together are pods in the order of their groups; within one by name.
func (g grouping) together(d *world.Detail) ([]*cluster.Pod, []string) {
	type member struct {
		pod  *cluster.Pod
		name string
	}
	list := make([]member, len(d.Snapshot.Pods))
	for i, p := range d.Snapshot.Pods {
		list[i] = member{p, g.of(d, p)}
	}
	slices.SortFunc(list, func(a, b member) int {
		return cmp.Or(strings.Compare(a.name, b.name), strings.Compare(a.pod.Name, b.pod.Name), strings.Compare(a.pod.UID, b.pod.UID))
	})
	pods, names := make([]*cluster.Pod, len(list)), make([]string, len(list))
	for i, m := range list {
		pods[i], names[i] = m.pod, m.name
	}
	return pods, names
}
