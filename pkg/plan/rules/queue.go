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
	spread *dispersion
	// list are the pods, by place.
	list []*cluster.Pod
	// left are the places of pods that were not taken yet, in the sorted order.
	left []int
	// lifecycle is whether pods in PreparingUpdate come first.
	lifecycle bool
}

func newQueue(sorted, all []*cluster.Pod, terms []kruise.UpdateScatterTerm, lifecycle bool) *Queue {
	q := &Queue{spread: newDispersion(sorted, all, terms), list: sorted}
	q.left = everyPlace(len(sorted))
	q.lifecycle = lifecycle && count(sorted, preparingUpdate) > 0
	return q
}

// Queue returns all pods that an update could take, one after the other. Its
// first Take(n) is what [CloneSet.UpdateCandidates] has first, as long as nothing
// else changes.
func (c *CloneSet) Queue() *Queue {
	rolling, active := c.rolling(), c.active()
	return newQueue(slices.Collect(c.candidates(false)), active, rolling.ScatterStrategy, true)
}

// Queue is [CloneSet.Queue] for a SidecarSet, regardless of its partition and its pause
// (docs/kruise/sidecarset.md#selection).
func (s *SidecarSet) Queue() *Queue {
	v := s.surveyed()
	matched := v.podsAt(v.matched.all())
	return newQueue(slices.Collect(v.sorted()), matched, everyValue(s.Spec.UpdateStrategy.ScatterStrategy, matched), false)
}

// Len is how many pods are left.
func (q *Queue) Len() int { return len(q.left) }

// Take returns the next n pods, or as many as there are, and forgets them.
func (q *Queue) Take(n int) []*cluster.Pod {
	order := slices.Collect(q.spread.scatter(q.left))
	if q.lifecycle {
		order = q.preparedFirst(order)
	}
	n = upTo(n, len(order))
	gone := make([]bool, len(q.list))
	for _, at := range order[:n] {
		gone[at] = true
	}
	taken := make([]*cluster.Pod, n)
	for i, at := range order[:n] {
		taken[i] = q.list[at]
	}
	// What is left keeps its sorted order: the next step scatters it again.
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
		if preparingUpdate(q.list[at]) {
			first = append(first, at)
		} else {
			rest = append(rest, at)
		}
	}
	return append(first, rest...)
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
		return l.weight(weightOf(p, l.strategy, l.selectors))
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

func (l *Placing) weight(sum int) string {
	text, ok := l.weights[sum]
	if !ok {
		text = "priority weight " + strconv.Itoa(sum)
		l.weights[sum] = text
	}
	return text
}
