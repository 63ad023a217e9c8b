package rules

import (
	"cmp"
	"iter"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// slotRanking is the order by priority of the outdated pods of an [OrdinalSurvey], as it was last. Only
// slots that were filled since have to be put in their place.
type slotRanking struct {
	strategy  *kruise.UpdatePriorityStrategy
	selectors []labels.Selector
	// filled are the slots whose pods are others than those that were ranked.
	filled numberSet
	// order are the ranked slots, ranks the priorities of the pods of slots, for those in the order.
	order  []int
	ranks  []priority
	ranked numberSet
}

// fewFilled slots are put in their places one by one, more are sorted with all others.
const fewFilled = 32

// byPriority are the outdated pods by the priority strategy, then from the highest ordinal downwards: those
// that [prioritize] has first, at most so many.
func (s *OrdinalSurvey) byPriority(strategy *kruise.UpdatePriorityStrategy, most int) iter.Seq[*cluster.Pod] {
	s.rank(strategy)
	order := s.ranking.order
	return func(yield func(*cluster.Pod) bool) {
		for _, slot := range order[:min(most, len(order))] {
			if !yield(s.at(slot)) {
				return
			}
		}
	}
}

// rank brings the order up to the pods.
func (s *OrdinalSurvey) rank(strategy *kruise.UpdatePriorityStrategy) {
	r := &s.ranking
	outdated := s.outdated()
	if r.ranked == nil || !reflect.DeepEqual(r.strategy, strategy) {
		r.strategy, r.selectors = strategy, weightSelectors(strategy)
		r.ranks, r.ranked = make([]priority, len(s.slots)), newNumberSet(len(s.slots))
		r.order = r.order[:0]
		clear(r.filled)
		for slot := range outdated.all() {
			r.filled.set(slot, true)
		}
	}
	if r.filled.count() > fewFilled {
		s.rankAll(outdated)
		return
	}
	for slot := range r.filled.all() {
		if r.ranked.has(slot) {
			place, _ := slices.BinarySearchFunc(r.order, slot, r.compare)
			r.order = slices.Delete(r.order, place, place+1)
		}
		r.ranked.set(slot, outdated.has(slot))
		if outdated.has(slot) {
			r.ranks[slot] = priorityOf(s.at(slot), r.strategy, r.selectors)
			place, _ := slices.BinarySearchFunc(r.order, slot, r.compare)
			r.order = slices.Insert(r.order, place, slot)
		}
	}
	clear(r.filled)
}

// rankAll sorts all outdated slots.
func (s *OrdinalSurvey) rankAll(outdated numberSet) {
	r := &s.ranking
	r.order = r.order[:0]
	for slot := range outdated.all() {
		if !r.ranked.has(slot) || r.filled.has(slot) {
			r.ranks[slot] = priorityOf(s.at(slot), r.strategy, r.selectors)
		}
		r.order = append(r.order, slot)
	}
	slices.SortFunc(r.order, r.compare)
	r.ranked = outdated
	clear(r.filled)
}

func (r *slotRanking) compare(a, b int) int {
	return cmp.Or(r.ranks[a].compare(r.ranks[b]), cmp.Compare(b, a))
}
