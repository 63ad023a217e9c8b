package rules

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// Queue is an update order that is asked for in steps. It is sorted once; each
// step scatters anew what is left, as Kruise does (semantics workloads 1.6).
type Queue struct {
	all, left []*cluster.Pod
	terms     []kruise.UpdateScatterTerm
	// lifecycle is whether pods in PreparingUpdate come first.
	lifecycle bool
}

// Queue returns all pods that an update could take, one after the other. Its
// first Take(n) is what [CloneSet.UpdateCandidates] has first, as long as nothing
// else changes.
func (c *CloneSet) Queue() *Queue {
	rolling := c.rolling()
	active := c.active()
	return &Queue{
		all: active, left: prioritize(c.candidates(active, false), rolling.PriorityStrategy),
		terms: rolling.ScatterStrategy, lifecycle: true,
	}
}

// Queue is [CloneSet.Queue] for a SidecarSet, whatever its partition and its
// pause say (semantics sidecarset-and-protection 3.4).
func (s *SidecarSet) Queue() *Queue {
	matched := s.Matched()
	return &Queue{all: matched, left: s.sorted(matched), terms: everyValue(s.Spec.UpdateStrategy.ScatterStrategy, matched)}
}

// Len is how many pods are left.
func (q *Queue) Len() int { return len(q.left) }

// Take returns the next n pods, or as many as there are, and forgets them.
func (q *Queue) Take(n int) []*cluster.Pod {
	order := scatter(q.left, q.all, q.terms)
	if q.lifecycle {
		order = preparedFirst(order)
	}
	n = upTo(n, len(order))
	taken := order[:n:n]
	gone := make(map[*cluster.Pod]bool, n)
	for _, p := range taken {
		gone[p] = true
	}
	// What is left keeps its sorted order: the next step scatters it anew.
	q.left = filter(q.left, func(p *cluster.Pod) bool { return !gone[p] })
	return taken
}

// preparedFirst puts pods that were chosen before, and that a hook holds, in
// front.
func preparedFirst(list []*cluster.Pod) []*cluster.Pod {
	if count(list, preparingUpdate) == 0 {
		return list
	}
	return append(filter(list, preparingUpdate), filter(list, not(preparingUpdate))...)
}
