package rules

import (
	"container/heap"
	"iter"
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
	changed []int

	// counts are the numbers of the status. leftOut are old pods that the update strategy's selector
	// does not match, stuck old pods that only recreation can bring up to date, and unready old pods
	// that are not ready.
	counts                  kruise.SidecarSetStatus
	leftOut, stuck, unready int
	// These are sets of places. unmarked are stuck pods whose condition does not have it yet, flips
	// pods whose hot upgrade can be completed.
	matched, unmarked, flips numberSet
	waiting                  sidecarQueue
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
	sidecarStuck
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
	v.waiting.drop(place)
	v.pods[place], v.notes[place] = nil, 0
}

// resize has room for n places.
func (v *SidecarSurvey) resize(n int) {
	v.pods = append(v.pods[:min(n, len(v.pods))], make([]*cluster.Pod, max(n-len(v.pods), 0))...)
	v.notes = append(v.notes[:min(n, len(v.notes))], make([]sidecarTraits, max(n-len(v.notes), 0))...)
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
	v.notes[place] = t
	v.count(t, 1)
	v.matched.set(place, true)
	v.flips.set(place, s.FlipReady(p))
	if t.any(sidecarStuck) {
		_, unmarked := s.UpgradableCondition(p, false)
		v.unmarked.set(place, unmarked)
	}
	if t.any(sidecarOld) && !t.any(sidecarLeftOut|sidecarStuck) && !s.InFlight(p) {
		r := rank{standing: standingOf(p)}
		if strategy := v.question.priority; strategy != nil {
			r.priority = priorityOf(p, strategy, v.weights)
		}
		v.waiting.put(place, r)
	}
}

// oldTraits are the traits of a pod that is not updated.
func (v *SidecarSurvey) oldTraits(s *SidecarSet, p *cluster.Pod) sidecarTraits {
	return sidecarOld | sidecarTrait(sidecarUnready, !s.Ready(p)) | sidecarTrait(sidecarStuck, !s.Upgradable(p)) |
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
	v.stuck += int(by * one(t.any(sidecarStuck)))
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

// sorted are the pods that could be upgraded, before they are scattered. A caller that stops early
// has the rest not sorted.
func (v *SidecarSurvey) sorted() iter.Seq[*cluster.Pod] {
	return func(yield func(*cluster.Pod) bool) {
		for place := range v.waiting.all() {
			if !yield(v.pods[place]) {
				return
			}
		}
	}
}

// sidecarQueue keeps the places of pods that wait for an upgrade so that the next one is found
// without sorting the others: a heap.
type sidecarQueue struct {
	ranks  []rank // by place
	places []int  // the heap
	// index is by place where it is in the heap, -1 for nowhere.
	index []int
}

// resize has room for n places; those beyond have been dropped.
func (q *sidecarQueue) resize(n int) {
	q.ranks = append(q.ranks[:min(n, len(q.ranks))], make([]rank, max(n-len(q.ranks), 0))...)
	q.index = append(q.index[:min(n, len(q.index))], slices.Repeat([]int{-1}, max(n-len(q.index), 0))...)
}

func (q *sidecarQueue) put(place int, r rank) {
	q.ranks[place] = r
	heap.Push(q, place)
}

func (q *sidecarQueue) drop(place int) {
	if q.index[place] >= 0 {
		heap.Remove(q, q.index[place])
		q.ranks[place] = rank{}
	}
}

// all are the places in their order. They leave the queue while they are listed, and come back
// afterwards.
func (q *sidecarQueue) all() iter.Seq[int] {
	return func(yield func(int) bool) {
		var listed []int
		for more := true; more && len(q.places) > 0; {
			place, _ := heap.Pop(q).(int)
			listed = append(listed, place)
			more = yield(place)
		}
		for _, place := range listed {
			heap.Push(q, place)
		}
	}
}

// Len, Less, Swap, Push and Pop are for package heap.
func (q *sidecarQueue) Len() int { return len(q.places) }

func (q *sidecarQueue) Less(i, j int) bool {
	return q.ranks[q.places[i]].compare(q.ranks[q.places[j]]) < 0
}

func (q *sidecarQueue) Swap(i, j int) {
	q.places[i], q.places[j] = q.places[j], q.places[i]
	q.index[q.places[i]], q.index[q.places[j]] = i, j
}

func (q *sidecarQueue) Push(place any) {
	at, _ := place.(int)
	q.index[at] = len(q.places)
	q.places = append(q.places, at)
}

func (q *sidecarQueue) Pop() any {
	last := len(q.places) - 1
	place := q.places[last]
	q.index[place], q.places = -1, q.places[:last]
	return place
}
