package simulate

import (
	"container/heap"
	"maps"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// ranking is a heap of all nodes: the first is the one with the fewest pods, and of
// equals the first by name. Each pod that is scheduled asks for it, so a look at
// all nodes would make large clusters quadratic.
type ranking []*node

func (r ranking) Len() int { return len(r) }
func (r ranking) Less(i, j int) bool {
	return r[i].pods < r[j].pods || r[i].pods == r[j].pods && r[i].name < r[j].name
}

func (r ranking) Swap(i, j int) {
	r[i], r[j] = r[j], r[i]
	r[i].rank, r[j].rank = i, j
}

func (r *ranking) Push(x any) {
	n := x.(*node)
	n.rank = len(*r)
	*r = append(*r, n)
}

// Pop is there for the interface: no node ever goes.
func (r *ranking) Pop() any {
	last := (*r)[len(*r)-1]
	*r = (*r)[:len(*r)-1]
	return last
}

// emptiest is the node with the fewest pods, nil where all are full.
func (w *World) emptiest() *node {
	if len(w.ranked) == 0 || w.full(w.ranked[0]) {
		return nil
	}
	return w.ranked[0]
}

// occupy counts pods that come to a node or go.
func (w *World) occupy(n *node, pods int) {
	n.pods += pods
	heap.Fix(&w.ranked, n.rank)
}

// see shows a node to others as it is now.
func (w *World) see(n *node) {
	if w.lent {
		w.seen, w.lent = maps.Clone(w.seen), false
	}
	w.seen[n.Name] = n.Node
}

// lend gives the nodes to others, who may keep them: they never change.
func (w *World) lend() map[string]*cluster.Node {
	w.lent = true
	return w.seen
}
