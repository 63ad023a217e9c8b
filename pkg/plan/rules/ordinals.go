package rules

import (
	"iter"
	"math/bits"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// OrdinalSurvey remembers, from one pass over a StatefulSet to the next, what its rules ask of
// every pod. Pods never change, so only those that took the place of others in the list are read
// again: a rollout that replaces one pod after the other costs as much as its pods, not their
// square. Without a record of changes, the list is compared with that of the last pass. The zero value remembers nothing, and no answer depends on what it remembers. It is for
// one StatefulSet and one goroutine.
type OrdinalSurvey struct {
	question ordinalQuestion
	now      time.Time
	ordinals []int

	// mark is how far the record of changes was read.
	mark  cluster.Mark[int]
	pods  []*cluster.Pod // as they were in the list
	notes []ordinalNote  // of the same places
	// slots has the place of the pod of each wanted ordinal, -1 where there is none.
	slots []int
	// doubled is whether two pods had one ordinal, so that the last one counts.
	doubled bool

	// These are sets of slots. present, old, deleting and marked are about the pod of the slot;
	// open ones have to be examined: the pod is missing, or may not be available.
	present, old, deleting, marked, open numberSet
	// These are sets of places. outside are pods whose ordinal should not exist, restless those
	// that [isStill] does not hold for, young ones have not been ready for long enough.
	outside, restless, young numberSet

	counts  OrdinalCounts
	changed []int
	ranking slotRanking
}

// ordinalQuestion is what the notes depend on, beside the pods and the time.
type ordinalQuestion struct {
	start, replicas int
	reserved        []intstr.IntOrString
	current, update string
	minReady        time.Duration
}

func (q *ordinalQuestion) equal(o *ordinalQuestion) bool {
	return q.start == o.start && q.replicas == o.replicas && q.current == o.current && q.update == o.update &&
		q.minReady == o.minReady && slices.Equal(q.reserved, o.reserved)
}

// ordinalNote is what is remembered of the pod at one place of the list.
type ordinalNote struct {
	slot   int // -1 is outside
	counts OrdinalCounts
}

// OrdinalCounts are the numbers of a StatefulSet's status. Terminating pods count, but not as
// current or updated.
type OrdinalCounts struct {
	Replicas, Ready, Available                       int32
	Current, Updated, UpdatedReady, UpdatedAvailable int32
}

// Complete reports whether every pod that there is carries the update revision and is ready; then
// the current revision moves, whatever is still missing.
func (n OrdinalCounts) Complete() bool { return n.Updated == n.Replicas && n.Ready == n.Replicas }

func (n *OrdinalCounts) add(o OrdinalCounts, by int32) {
	n.Replicas += by * o.Replicas
	n.Ready += by * o.Ready
	n.Available += by * o.Available
	n.Current += by * o.Current
	n.Updated += by * o.Updated
	n.UpdatedReady += by * o.UpdatedReady
	n.UpdatedAvailable += by * o.UpdatedAvailable
}

// isStill reports whether nothing can be in progress inside a pod, whatever its node reports: no
// in-place update was begun, or the last one is over, and its lifecycle state does not move by
// itself.
func isStill(p *cluster.Pod) bool {
	if Resting(p) {
		return true
	}
	state := StateOf(p)
	_, updated := p.Annotations[kruise.InPlaceUpdateStateAnnotation]
	return (state == StateNone || state == StateNormal) && !updated && !p.GraceAnnounced() &&
		(p.GateOpen() || !slices.Contains(p.ReadinessGates, kruise.InPlaceUpdateReady))
}

// renew reads what has changed since the last time. The record of changes is nil where it is not known.
func (s *OrdinalSurvey) renew(list []*cluster.Pod, record *cluster.PodChanges, q ordinalQuestion, now time.Time) {
	if !s.question.equal(&q) || s.doubled || now.Before(s.now) || s.slots == nil {
		s.reset(q)
	}
	s.now = now
	s.changed = otherPods(s.changed[:0], &s.mark, record, s.pods, list)
	for i := range s.young.all() {
		if i < len(list) && s.pods[i] == list[i] && ReadyFor(list[i], q.minReady, now) {
			s.changed = append(s.changed, i)
		}
	}
	slices.Sort(s.changed) // the last of two pods with one ordinal counts
	for _, i := range s.changed {
		s.forget(i)
	}
	for i := len(list); i < len(s.pods); i++ {
		s.forget(i)
	}
	s.resize(len(list))
	for _, i := range s.changed {
		s.note(i, list[i])
	}
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

// reset forgets everything.
func (s *OrdinalSurvey) reset(q ordinalQuestion) {
	q.reserved = slices.Clone(q.reserved)
	ordinals := Ordinals(q.start, q.replicas, q.reserved)
	*s = OrdinalSurvey{question: q, ordinals: ordinals, slots: make([]int, len(ordinals)), changed: s.changed[:0]}
	for _, set := range []*numberSet{&s.present, &s.old, &s.deleting, &s.marked, &s.open, &s.ranking.filled} {
		*set = newNumberSet(len(ordinals))
	}
	for i := range s.slots {
		s.slots[i] = -1
		s.open.set(i, true)
	}
}

// forget takes the pod of a place out.
func (s *OrdinalSurvey) forget(place int) {
	if place >= len(s.pods) || s.pods[place] == nil {
		return
	}
	n := &s.notes[place]
	s.counts.add(n.counts, -1)
	s.outside.set(place, false)
	s.restless.set(place, false)
	s.young.set(place, false)
	if n.slot >= 0 && s.slots[n.slot] == place {
		s.fill(n.slot, -1, nil)
	}
	s.pods[place] = nil
}

// resize has room for n places.
func (s *OrdinalSurvey) resize(n int) {
	s.pods = append(s.pods[:min(n, len(s.pods))], make([]*cluster.Pod, max(n-len(s.pods), 0))...)
	s.notes = append(s.notes[:min(n, len(s.notes))], make([]ordinalNote, max(n-len(s.notes), 0))...)
	for _, set := range []*numberSet{&s.outside, &s.restless, &s.young} {
		set.grow(n)
	}
}

// note reads the pod of a place.
func (s *OrdinalSurvey) note(place int, p *cluster.Pod) {
	q := &s.question
	slot, wanted := slices.BinarySearch(s.ordinals, OrdinalOf(p))
	if !wanted {
		slot = -1
	}
	s.pods[place] = p
	s.notes[place] = ordinalNote{slot: slot, counts: ordinalCountsOf(p, q, s.now)}
	s.counts.add(s.notes[place].counts, 1)
	s.outside.set(place, !wanted)
	s.restless.set(place, !isStill(p))
	s.young.set(place, podReady(p) && !ReadyFor(p, q.minReady, s.now))
	if !wanted {
		return
	}
	s.doubled = s.doubled || s.slots[slot] >= 0
	s.fill(slot, place, p)
}

// fill puts the pod of a place into a slot, or empties it.
func (s *OrdinalSurvey) fill(slot, place int, p *cluster.Pod) {
	s.slots[slot] = place
	s.ranking.filled.set(slot, true)
	s.present.set(slot, p != nil)
	s.old.set(slot, p != nil && RevisionOf(p) != s.question.update)
	s.deleting.set(slot, p != nil && p.Deleting)
	s.marked.set(slot, p != nil && SpecifiedDelete(p))
	s.open.set(slot, p == nil || !healthy(p) || !isStill(p) || !ReadyFor(p, s.question.minReady, s.now))
}

func ordinalCountsOf(p *cluster.Pod, q *ordinalQuestion, now time.Time) OrdinalCounts {
	n := OrdinalCounts{Replicas: 1}
	revision := RevisionOf(p)
	if Ready(p) {
		n.Ready = 1
	}
	if n.Ready == 1 && ReadyFor(p, q.minReady, now) {
		n.Available = 1
	}
	if revision == q.current && !p.Deleting {
		n.Current = 1
	}
	if revision == q.update {
		n.UpdatedReady, n.UpdatedAvailable = n.Ready, n.Available
		if !p.Deleting {
			n.Updated = 1
		}
	}
	return n
}

// Ordinals are those that should exist, ascending, in a list that must not be changed.
func (s *OrdinalSurvey) Ordinals() []int { return s.ordinals }

// Counts are the numbers of the status.
func (s *OrdinalSurvey) Counts() OrdinalCounts { return s.counts }

// Restless are the pods that [isStill] does not hold for, in the order of the list.
func (s *OrdinalSurvey) Restless() iter.Seq[*cluster.Pod] { return s.podsAt(s.restless.all()) }

// Unsettled are the pods that are restless, or have not been ready for long enough, in the order
// of the list.
func (s *OrdinalSurvey) Unsettled() []*cluster.Pod {
	return slices.Collect(s.podsAt(s.restless.union(s.young).all()))
}

func (s *OrdinalSurvey) podsAt(places iter.Seq[int]) iter.Seq[*cluster.Pod] {
	return func(yield func(*cluster.Pod) bool) {
		for place := range places {
			if !yield(s.pods[place]) {
				return
			}
		}
	}
}

// at returns the pod of a slot, nil where there is none.
func (s *OrdinalSurvey) at(slot int) *cluster.Pod {
	if place := s.slots[slot]; place >= 0 {
		return s.pods[place]
	}
	return nil
}

// descending are the pods of slots, highest ordinal first.
func (s *OrdinalSurvey) descending(slots numberSet) iter.Seq[*cluster.Pod] {
	return func(yield func(*cluster.Pod) bool) {
		for slot := range slots.backward() {
			if !yield(s.at(slot)) {
				return
			}
		}
	}
}

// outsiders are the pods of all other ordinals, highest first.
func (s *OrdinalSurvey) outsiders() []*cluster.Pod {
	return descending(slices.Collect(s.podsAt(s.outside.all())))
}

// outdated are the slots whose pods carry another revision than the update's, and stay.
func (s *OrdinalSurvey) outdated() numberSet { return s.old.without(s.deleting) }

// numberSet is a set of numbers from 0 upwards, 64 to a word.
type numberSet []uint64

func newNumberSet(n int) numberSet { return make(numberSet, (n+63)/64) }

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

// backward are the numbers, descending.
func (b numberSet) backward() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i, w := range slices.Backward(b) {
			for w != 0 {
				top := 63 - bits.LeadingZeros64(w)
				if !yield(i*64 + top) {
					return
				}
				w &^= 1 << top
			}
		}
	}
}

func (b numberSet) without(o numberSet) numberSet {
	out := slices.Clone(b)
	for i := range o {
		out[i] &^= o[i]
	}
	return out
}

func (b numberSet) union(o numberSet) numberSet {
	out := slices.Clone(b)
	for i := range o {
		out[i] |= o[i]
	}
	return out
}

// highest are the n highest numbers.
func (b numberSet) highest(n int) numberSet {
	out := make(numberSet, len(b))
	for i, w := range slices.Backward(b) {
		if n <= 0 {
			break
		}
		for c := bits.OnesCount64(w); c > n; c-- {
			w &= w - 1
		}
		out[i] = w
		n -= bits.OnesCount64(w)
	}
	return out
}

// from are the numbers that are not below a limit.
func (b numberSet) from(limit int) numberSet {
	out := slices.Clone(b)
	word := min(max(limit, 0)/64, len(out))
	clear(out[:word])
	if word < len(out) {
		out[word] &^= 1<<(max(limit, 0)%64) - 1
	}
	return out
}
