package rules

import (
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// Queue is an update order that is asked for in steps. It is sorted once; each
// step scatters again what is left, as Kruise does (docs/kruise/workloads.md#update-order).
type Queue struct {
	// left are the pods that were not taken yet, in the sorted order, and candidates counts them.
	left       []*rank
	candidates census
	// pods counts those of the workload.
	pods census
	// lifecycle is whether pods in PreparingUpdate come first.
	lifecycle bool
}

// Queue returns all pods that an update could take, one after the other. Its
// first Take(n) is what [CloneSet.UpdateCandidates] has first, as long as nothing
// else changes.
func (c *CloneSet) Queue() *Queue {
	next, n := c.candidates(false)
	return &Queue{slices.Collect(next.all()), n, c.census(), true}
}

// Queue is [CloneSet.Queue] for a SidecarSet, regardless of its partition and its pause
// (docs/kruise/sidecarset.md#selection).
func (s *SidecarSet) Queue() *Queue {
	next, n, pods := s.candidates()
	return &Queue{slices.Collect(next.all()), n, pods, false}
}

// Len is how many pods are left.
func (q *Queue) Len() int { return len(q.left) }

// Take returns the next n pods, or as many as there are, and forgets them.
func (q *Queue) Take(n int) []*cluster.Pod {
	order := slices.Collect(scatter(drawFrom(q.left), q.candidates, q.pods).all())
	if q.lifecycle {
		slices.SortStableFunc(order, func(a, b *rank) int { return falseFirst(!preparingUpdate(a.pod), !preparingUpdate(b.pod)) })
	}
	n = upTo(n, len(order))
	taken, gone := make([]*cluster.Pod, n), make(map[*cluster.Pod]bool, n)
	for i, r := range order[:n] {
		taken[i], gone[r.pod] = r.pod, true
		q.candidates.leave(r)
	}
	// What is left keeps its sorted order: the next step scatters it again.
	q.left = slices.DeleteFunc(q.left, func(r *rank) bool { return gone[r.pod] })
	return taken
}

// leave counts a pod no longer.
func (n *census) leave(r *rank) {
	n.all--
	for term, carries := range r.carries {
		if carries {
			n.carries[term]--
		}
	}
}

// Placing names in a few words what gives a pod its place in an update order: the first of the
// sort keys in which it differs from a plain ready pod.
type Placing struct {
	strategy  *kruise.UpdatePriorityStrategy
	selectors []labels.Selector
	// weights spell the sums that came up.
	weights map[int]string
}

// Placing explains the order of [CloneSet.Queue].
func (c *CloneSet) Placing() *Placing { return newPlacing(c.rolling().PriorityStrategy) }

// Placing explains the order of [SidecarSet.Queue].
func (s *SidecarSet) Placing() *Placing { return newPlacing(s.Spec.UpdateStrategy.PriorityStrategy) }

func newPlacing(strategy *kruise.UpdatePriorityStrategy) *Placing {
	p := &Placing{strategy: strategy, weights: map[int]string{}}
	if strategy != nil {
		p.selectors = weightSelectors(strategy)
	}
	return p
}

// Of explains one pod.
func (l *Placing) Of(p *cluster.Pod) string {
	switch {
	case preparingUpdate(p):
		return "chosen before, and prepared"
	case l.strategy != nil && len(l.strategy.WeightPriority) > 0:
		sum := weightOf(p, l.strategy, l.selectors)
		text, ok := l.weights[sum]
		if !ok {
			text = "priority weight " + strconv.Itoa(sum)
			l.weights[sum] = text
		}
		return text
	case l.strategy != nil && len(l.strategy.OrderPriority) > 0:
		if i := keyOf(p, l.strategy); i >= 0 {
			return "by its label " + l.strategy.OrderPriority[i].OrderedKey
		}
		return "has no label of orderPriority"
	case p.Node == "":
		return "not bound to a node"
	case p.Phase != corev1.PodRunning:
		return "phase " + string(p.Phase)
	case !podReady(p):
		return "not ready"
	}
	return "most recently ready first"
}
