package rules

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// Queue is an update order that is asked for in steps. It is sorted once; each
// step scatters anew what is left, as Kruise does (docs/kruise/workloads.md#update-order).
type Queue struct {
	spread *dispersion
	// left are the places of pods that were not taken yet, in the sorted order.
	left []int
	// lifecycle is whether pods in PreparingUpdate come first.
	lifecycle bool
}

func newQueue(sorted, all []*cluster.Pod, terms []kruise.UpdateScatterTerm, lifecycle bool) *Queue {
	q := &Queue{spread: newDispersion(sorted, all, terms)}
	q.left = q.spread.everybody()
	q.lifecycle = lifecycle && count(sorted, preparingUpdate) > 0
	return q
}

// Queue returns all pods that an update could take, one after the other. Its
// first Take(n) is what [CloneSet.UpdateCandidates] has first, as long as nothing
// else changes.
func (c *CloneSet) Queue() *Queue {
	rolling, active := c.rolling(), c.active()
	return newQueue(c.candidates(false), active, rolling.ScatterStrategy, true)
}

// Queue is [CloneSet.Queue] for a SidecarSet, whatever its partition and its
// pause say (docs/kruise/sidecarset.md#selection).
func (s *SidecarSet) Queue() *Queue {
	matched := s.Matched()
	return newQueue(s.sorted(matched), matched, everyValue(s.Spec.UpdateStrategy.ScatterStrategy, matched), false)
}

// Len is how many pods are left.
func (q *Queue) Len() int { return len(q.left) }

// Take returns the next n pods, or as many as there are, and forgets them.
func (q *Queue) Take(n int) []*cluster.Pod {
	order := q.spread.scatter(q.left)
	if q.lifecycle {
		order = q.preparedFirst(order)
	}
	n = upTo(n, len(order))
	gone := make([]bool, len(q.spread.list))
	for _, at := range order[:n] {
		gone[at] = true
	}
	taken := q.spread.pods(order[:n])
	// What is left keeps its sorted order: the next step scatters it anew.
	left := make([]int, 0, len(order)-n)
	for _, at := range q.left {
		if !gone[at] {
			left = append(left, at)
		}
	}
	q.left = left
	return taken
}

func (q *Queue) preparedFirst(order []int) []int {
	var first, rest []int
	for _, at := range order {
		if preparingUpdate(q.spread.list[at]) {
			first = append(first, at)
		} else {
			rest = append(rest, at)
		}
	}
	return append(first, rest...)
}

// preparedFirst puts pods that were chosen before, and that a hook holds, in
// front.
func preparedFirst(list []*cluster.Pod) []*cluster.Pod {
	if count(list, preparingUpdate) == 0 {
		return list
	}
	return append(filter(list, preparingUpdate), filter(list, not(preparingUpdate))...)
}
