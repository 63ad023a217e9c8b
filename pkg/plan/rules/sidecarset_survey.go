package rules

import (
	"cmp"
	"iter"
	"math/bits"
	"reflect"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// SidecarSurvey remembers, from one pass over a SidecarSet to the next, what its rules ask of every
// pod. Pods never change, so only those that took the place of others in the list are read again: a
// rollout that upgrades one pod after the other costs as much as its pods, not their square. Without
// a record of changes, the list is compared with that of the last pass. The zero value remembers
// nothing, and no answer depends on what it remembers. It is for one SidecarSet and one goroutine.
type SidecarSurvey struct {
	question sidecarQuestion
	// matches is [SidecarSet.Matches], chosen what the update strategy's own selector matches, and
	// weights are the selectors of its priority strategy.
	matches func(*cluster.Pod) bool
	chosen  labels.Selector
	weights []labels.Selector

	// mark is how far the record of changes was read.
	mark    cluster.Mark[int]
	pods    []*cluster.Pod  // as they were in the list
	notes   []sidecarTraits // of the same places
	scatter []scatterNote   // of the same places
	changed []int

	// counts are the numbers of the status. leftOut are old pods that the update strategy's selector
	// does not match, notUpgradable old pods that only recreation can bring up to date, and unready old pods
	// that are not ready.
	counts                          kruise.SidecarSetStatus
	leftOut, notUpgradable, unready int
	// These are sets of places. unmarked are pods that are not upgradable and whose
	// condition does not have it yet, flips
	// pods whose hot upgrade can be completed.
	matched, unmarked, flips numberSet
	waiting                  sidecarQueue
	// terms are those of the scatter strategy that its notes are about. starred are the terms of the
	// strategy as it has them, every those with each value written out.
	terms, starred, every []kruise.UpdateScatterTerm
}

// sidecarQuestion is what the notes depend on, beside the pods. What it refers to never changes.
type sidecarQuestion struct {
	name, hash, hashWithoutImage          string
	containers                            []kruise.SidecarContainer
	selector, namespaceSelector, strategy *metav1.LabelSelector
	// namespaces is nil where namespaces do not matter.
	namespaces map[string]map[string]string
	priority   *kruise.UpdatePriorityStrategy
}

func (s *SidecarSet) question() sidecarQuestion {
	q := sidecarQuestion{
		name: s.Name, hash: s.Hash, hashWithoutImage: s.HashWithoutImage, containers: s.Spec.Containers,
		selector: s.Spec.Selector, namespaceSelector: s.Spec.NamespaceSelector, strategy: s.Spec.UpdateStrategy.Selector,
		priority: s.Spec.UpdateStrategy.PriorityStrategy,
	}
	if q.namespaceSelector != nil {
		q.namespaces = s.Namespaces
	}
	return q
}

// sidecarTraits are what the rules read of one pod.
type sidecarTraits uint8

const (
	// sidecarMatched is that the pod counts; without it the pod has no other trait.
	sidecarMatched sidecarTraits = 1 << iota
	sidecarHealthy
	// sidecarOld is that the pod is not updated. Only old pods have the traits below.
	sidecarOld
	sidecarUnready
	sidecarLeftOut
	sidecarNotUpgradable
	// sidecarWaiting is that an upgrade could take the pod now.
	sidecarWaiting
)

func (t sidecarTraits) any(of sidecarTraits) bool { return t&of != 0 }

// surveyed is the survey with what has changed since the last time.
func (s *SidecarSet) surveyed() *SidecarSurvey {
	v := s.Survey
	if v == nil {
		v = &SidecarSurvey{}
	}
	v.renew(s)
	return v
}

// renew reads what has changed since the last time.
func (v *SidecarSurvey) renew(s *SidecarSet) {
	q := s.question()
	if v.matches == nil || !reflect.DeepEqual(&v.question, &q) {
		*v = SidecarSurvey{matches: s.Matches(), chosen: s.chosen(), changed: v.changed[:0]}
		if q.priority != nil {
			v.weights = weightSelectors(q.priority)
		}
	}
	v.question = q
	v.changed = otherPods(v.changed[:0], &v.mark, s.PodChanges, v.pods, s.Pods)
	for _, i := range v.changed {
		v.forget(i)
	}
	for i := len(s.Pods); i < len(v.pods); i++ {
		v.forget(i)
	}
	v.resize(len(s.Pods))
	for _, i := range v.changed {
		v.note(s, i, s.Pods[i])
	}
}

// forget takes the pod of a place out.
func (v *SidecarSurvey) forget(place int) {
	if place >= len(v.pods) || v.pods[place] == nil {
		return
	}
	v.count(v.notes[place], -1)
	for _, set := range []numberSet{v.matched, v.unmarked, v.flips} {
		set.set(place, false)
	}
	if v.notes[place].any(sidecarWaiting) {
		v.waiting.drop(place)
	}
	v.pods[place], v.notes[place], v.scatter[place] = nil, 0, scatterNote{}
}

// resize has room for n places.
func (v *SidecarSurvey) resize(n int) {
	v.pods = append(v.pods[:min(n, len(v.pods))], make([]*cluster.Pod, max(n-len(v.pods), 0))...)
	v.notes = append(v.notes[:min(n, len(v.notes))], make([]sidecarTraits, max(n-len(v.notes), 0))...)
	v.scatter = append(v.scatter[:min(n, len(v.scatter))], make([]scatterNote, max(n-len(v.scatter), 0))...)
	for _, set := range []*numberSet{&v.matched, &v.unmarked, &v.flips} {
		set.grow(n)
	}
	v.waiting.resize(n)
}

// note reads the pod of a place.
func (v *SidecarSurvey) note(s *SidecarSet, place int, p *cluster.Pod) {
	v.pods[place] = p
	if !v.matches(p) {
		return
	}
	t := sidecarMatched | sidecarTrait(sidecarHealthy, s.healthy(p))
	if !s.Updated(p) {
		t |= v.oldTraits(s, p)
	}
	if t.any(sidecarOld) && !t.any(sidecarLeftOut|sidecarNotUpgradable) && !s.InFlight(p) {
		t |= sidecarWaiting
		v.waiting.put(place, v.rank(p))
	}
	v.notes[place] = t
	v.count(t, 1)
	v.matched.set(place, true)
	v.flips.set(place, s.FlipReady(p))
	if t.any(sidecarNotUpgradable) {
		_, unmarked := s.UpgradableCondition(p, false)
		v.unmarked.set(place, unmarked)
	}
}

// rank is the place of a pod in the order of upgrades.
func (v *SidecarSurvey) rank(p *cluster.Pod) rank {
	r := rank{standing: standingOf(p)}
	if strategy := v.question.priority; strategy != nil {
		r.priority = priorityOf(p, strategy, v.weights)
	}
	return r
}

// oldTraits are the traits of a pod that is not updated.
func (v *SidecarSurvey) oldTraits(s *SidecarSet, p *cluster.Pod) sidecarTraits {
	return sidecarOld | sidecarTrait(sidecarUnready, !s.Ready(p)) | sidecarTrait(sidecarNotUpgradable, !s.Upgradable(p)) |
		sidecarTrait(sidecarLeftOut, !v.chosen.Matches(labels.Set(p.Labels)))
}

func sidecarTrait(trait sidecarTraits, is bool) sidecarTraits {
	if is {
		return trait
	}
	return 0
}

// count adds a pod with these traits, or takes it out.
func (v *SidecarSurvey) count(t sidecarTraits, by int32) {
	n := &v.counts
	n.MatchedPods += by * one(t.any(sidecarMatched))
	n.ReadyPods += by * one(t.any(sidecarHealthy))
	if t.any(sidecarMatched) && !t.any(sidecarOld) {
		n.UpdatedPods += by
		n.UpdatedReadyPods += by * one(t.any(sidecarHealthy))
	}
	v.leftOut += int(by * one(t.any(sidecarLeftOut)))
	v.notUpgradable += int(by * one(t.any(sidecarNotUpgradable)))
	v.unready += int(by * one(t.any(sidecarUnready)))
}

func one(b bool) int32 {
	if b {
		return 1
	}
	return 0
}

// down is how many updated pods are not fine.
func (v *SidecarSurvey) down() int { return int(v.counts.UpdatedPods - v.counts.UpdatedReadyPods) }

// podsAt are the pods of places, in the order of the list.
func (v *SidecarSurvey) podsAt(places iter.Seq[int]) (out []*cluster.Pod) {
	for place := range places {
		out = append(out, v.pods[place])
	}
	return out
}

// waitingPlaces are those of the pods that could be upgraded, before they are scattered.
func (v *SidecarSurvey) waitingPlaces() []int {
	places := slices.Clone(v.waiting.sorted())
	slices.Reverse(places)
	return places
}

// everyValue writes the value * out as one term per value that a matched pod has, or had when the
// terms were written out: a term without pods changes no order.
func (v *SidecarSurvey) everyValue(terms []kruise.UpdateScatterTerm) []kruise.UpdateScatterTerm {
	if !slices.ContainsFunc(terms, func(t kruise.UpdateScatterTerm) bool { return t.Value == "*" }) {
		return terms
	}
	if !slices.Equal(v.starred, terms) || v.anyNewValue() {
		v.starred, v.every = slices.Clone(terms), everyValue(terms, v.podsAt(v.matched.all()))
	}
	return v.every
}

// anyNewValue reports whether a pod that has not been read yet has a value that is not among the
// terms.
func (v *SidecarSurvey) anyNewValue() bool {
	for place := range v.matched.all() {
		if v.scatter[place].read {
			continue
		}
		for _, term := range v.starred {
			value, ok := v.pods[place].Labels[term.Key]
			if ok && term.Value == "*" && !slices.Contains(v.every, kruise.UpdateScatterTerm{Key: term.Key, Value: value}) {
				return true
			}
		}
	}
	return false
}

// dispersion is that of all matched pods.
func (v *SidecarSurvey) dispersion(terms []kruise.UpdateScatterTerm) *dispersion {
	if !slices.Equal(v.terms, terms) {
		v.terms = slices.Clone(terms)
		clear(v.scatter)
	}
	return rememberedDispersion(len(v.notes), terms, func(at int) (*cluster.Pod, *scatterNote) {
		if !v.notes[at].any(sidecarMatched) {
			return nil, &v.scatter[at]
		}
		return v.pods[at], &v.scatter[at]
	})
}

// sorted are the pods that could be upgraded, before they are scattered.
func (v *SidecarSurvey) sorted() iter.Seq[*cluster.Pod] {
	return v.podsIn(slices.Values(v.waitingPlaces()))
}

// podsIn are the pods of places, for a caller that may need only the first of them.
func (v *SidecarSurvey) podsIn(places iter.Seq[int]) iter.Seq[*cluster.Pod] {
	return func(yield func(*cluster.Pod) bool) {
		for place := range places {
			if !yield(v.pods[place]) {
				return
			}
		}
	}
}

// sidecarQueue keeps the places of pods that wait for an upgrade in their order, so that a pod that
// comes or goes does not have the others sorted again.
type sidecarQueue struct {
	ranks []rank // by place
	// order has places whose turn comes last first: the next pod is the one that goes, and costs
	// nothing to take out. fresh are places that were not put there yet.
	order []int
	fresh numberSet
	size  int
}

// fewFresh places are put into the order one by one; more are sorted.
const fewFresh = 32

// resize has room for n places; those beyond have been dropped.
func (q *sidecarQueue) resize(n int) {
	q.ranks = append(q.ranks[:min(n, len(q.ranks))], make([]rank, max(n-len(q.ranks), 0))...)
	q.fresh.grow(n)
}

// put adds a place that is not there.
func (q *sidecarQueue) put(place int, r rank) {
	q.ranks[place] = r
	q.fresh.set(place, true)
	q.size++
}

// drop takes a place out that is there.
func (q *sidecarQueue) drop(place int) {
	if q.fresh.has(place) {
		q.fresh.set(place, false)
	} else {
		i, _ := slices.BinarySearchFunc(q.order, place, q.compare)
		q.order = slices.Delete(q.order, i, i+1)
	}
	q.ranks[place] = rank{}
	q.size--
}

// compare is negative where the turn of a comes after that of b. No two places are equal.
func (q *sidecarQueue) compare(a, b int) int {
	return cmp.Or(q.ranks[b].compare(q.ranks[a]), cmp.Compare(b, a))
}

// sorted are the places in their order, the first one last, in a list that must not be kept.
func (q *sidecarQueue) sorted() []int {
	if q.fresh.count() > fewFresh {
		q.order = slices.AppendSeq(q.order, q.fresh.all())
		slices.SortFunc(q.order, q.compare)
	} else {
		for place := range q.fresh.all() {
			i, _ := slices.BinarySearchFunc(q.order, place, q.compare)
			q.order = slices.Insert(q.order, i, place)
		}
	}
	clear(q.fresh)
	return q.order
}

// otherPods adds the places of a list to out at which it has other pods than before, each once.
func otherPods(out []int, mark *cluster.Mark[int], record *cluster.PodChanges, before, list []*cluster.Pod) []int {
	changes, known := mark.Since(record)
	if !known {
		for i, p := range list {
			if i >= len(before) || before[i] != p {
				out = append(out, i)
			}
		}
		return out
	}
	for _, i := range changes {
		if i < len(list) && (i >= len(before) || before[i] != list[i]) {
			out = append(out, i)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// numberSet is a set of numbers from 0 upwards, 64 to a word.
type numberSet []uint64

func (b *numberSet) grow(n int) {
	if words := (n + 63) / 64; words > len(*b) {
		*b = append(*b, make(numberSet, words-len(*b))...)
	}
}

func (b numberSet) set(i int, in bool) {
	if in {
		b[i/64] |= 1 << (i % 64)
		return
	}
	b[i/64] &^= 1 << (i % 64)
}

func (b numberSet) has(i int) bool { return b[i/64]&(1<<(i%64)) != 0 }

func (b numberSet) count() int {
	n := 0
	for _, w := range b {
		n += bits.OnesCount64(w)
	}
	return n
}

// all are the numbers, ascending.
func (b numberSet) all() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i, w := range b {
			for ; w != 0; w &= w - 1 {
				if !yield(i*64 + bits.TrailingZeros64(w)) {
					return
				}
			}
		}
	}
}
