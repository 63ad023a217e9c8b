package rules

import (
	"cmp"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// ranking is the order of the candidates before they are scattered, as it was
// last. Only pods that came to it since have to be sorted.
type ranking struct {
	strategy  *kruise.UpdatePriorityStrategy
	selectors []labels.Selector
	back      bool
	// ranks are by place in the list of pods, order are the places of the
	// candidates.
	ranks []rank
	order []int
}

// rank is all that the order goes by.
type rank struct {
	standing
	priority
}

func (r rank) compare(o rank) int {
	return cmp.Or(r.priority.compare(o.priority), r.standing.compare(o.standing), byName(r.pod, o.pod))
}

// candidates are the pods that an update could take, by the priority strategy and
// then in the default order (docs/kruise/workloads.md#update-order,
// docs/kruise/workloads.md#cloneset and docs/kruise/workloads.md#in-place-update).
func (c *CloneSet) candidates(back bool) []*cluster.Pod {
	s := c.renewed()
	return s.podsAt(s.ranked(c.rolling().PriorityStrategy, back))
}

// candidate reports whether an update, or a rollback, could take the pod.
func (t traits) candidate(back bool) bool {
	return t.has(traitActive) && t.has(traitUpdated) == back && !t.has(traitPreparingDelete) && !t.has(traitAnnounced)
}

func (s *Survey) ranked(strategy *kruise.UpdatePriorityStrategy, back bool) []int {
	r := &s.ranking
	if r.back != back || !reflect.DeepEqual(r.strategy, strategy) {
		s.unrank(strategy, back)
	}
	// A place whose pod is another one by now has no rank.
	r.order = slices.DeleteFunc(r.order, func(at int) bool { return at >= len(s.notes) || !s.notes[at].traits.has(traitRanked) })
	r.ranks = slices.Grow(r.ranks, max(0, len(s.notes)-len(r.ranks)))[:len(s.notes)]
	var came []int
	for at := range s.notes {
		n := &s.notes[at]
		if n.traits.candidate(back) && !n.traits.has(traitRanked) {
			n.traits |= traitRanked
			r.ranks[at] = r.rankOf(n.pod)
			came = append(came, at)
		}
	}
	slices.SortFunc(came, r.compare)
	r.order = mergeSorted(r.order, came, r.compare)
	return r.order
}

// unrank forgets the order.
func (s *Survey) unrank(strategy *kruise.UpdatePriorityStrategy, back bool) {
	s.ranking = ranking{strategy: strategy, back: back, ranks: s.ranks[:0]}
	if strategy != nil {
		s.selectors = weightSelectors(strategy)
	}
	for at := range s.notes {
		s.notes[at].traits &^= traitRanked
	}
}

func (r *ranking) rankOf(p *cluster.Pod) rank {
	out := rank{standing: standingOf(p)}
	if r.strategy != nil {
		out.priority = priorityOf(p, r.strategy, r.selectors)
	}
	return out
}

func (r *ranking) compare(a, b int) int { return r.ranks[a].compare(r.ranks[b]) }

// mergeSorted makes one sorted list of two.
func mergeSorted(a, b []int, compare func(a, b int) int) []int {
	if len(b) == 0 {
		return a
	}
	out := make([]int, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if compare(a[0], b[0]) <= 0 {
			out, a = append(out, a[0]), a[1:]
		} else {
			out, b = append(out, b[0]), b[1:]
		}
	}
	return append(append(out, a...), b...)
}
