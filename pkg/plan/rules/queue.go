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
	strategy  *kruise.UpdatePriorityStrategy
	selectors []labels.Selector
	// set finds ties among all its pods; their numbers are found once, when they are first asked for.
	set interface {
		Ties([]*cluster.Pod) [][]*cluster.Pod
	}
	all  []*cluster.Pod
	ties map[*cluster.Pod]int
}

// Queue returns all pods that an update could take, one after the other. Its
// first Take(n) is what [CloneSet.updateCandidates] has first, as long as nothing
// else changes.
func (c *CloneSet) Queue() *Queue {
	next, n := c.candidates(false)
	q := newQueue(next, n, c.rolling().PriorityStrategy)
	q.pods, q.lifecycle, q.set, q.all = c.census(), true, c, c.Pods
	return q
}

// Queue is [CloneSet.Queue] for a SidecarSet, regardless of its partition and its pause
// (docs/kruise/sidecarset.md#selection).
func (s *SidecarSet) Queue() *Queue {
	next, n, pods := s.candidates()
	q := newQueue(next, n, s.Spec.UpdateStrategy.PriorityStrategy)
	q.pods, q.set, q.all = pods, s, s.Pods
	return q
}

func newQueue(next draw[*rank], n census, strategy *kruise.UpdatePriorityStrategy) *Queue {
	q := &Queue{left: slices.Collect(next.all()), candidates: n, strategy: strategy}
	if strategy != nil {
		q.selectors = weightSelectors(strategy)
	}
	return q
}

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

// Tie numbers the set of pods that Kruise treats as it does this one, see [CloneSet.Ties]; 0 is none.
func (q *Queue) Tie(p *cluster.Pod) int {
	if q.ties == nil {
		q.ties = map[*cluster.Pod]int{}
		for i, set := range q.set.Ties(q.all) {
			for _, p := range set {
				q.ties[p] = i + 1
			}
		}
	}
	return q.ties[p]
}

// Why names in a few words what gives a pod its place: the first of the sort keys in which it
// differs from a plain ready pod.
func (q *Queue) Why(p *cluster.Pod) string {
	switch {
	case preparingUpdate(p):
		return "chosen before, and prepared"
	case q.strategy != nil && len(q.strategy.WeightPriority) > 0:
		return "priority weight " + strconv.Itoa(weightOf(p, q.strategy, q.selectors))
	case q.strategy != nil && len(q.strategy.OrderPriority) > 0:
		if i := keyOf(p, q.strategy); i >= 0 {
			return "by its label " + q.strategy.OrderPriority[i].OrderedKey
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
