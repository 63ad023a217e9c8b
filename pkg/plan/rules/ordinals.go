package rules

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// ordinals are the pods of a StatefulSet of either kind, with what both ask of them.
type ordinals struct {
	pods            []*cluster.Pod
	current, update string
	minReady        time.Duration
	now             time.Time
	answers         *cluster.Answers
}

// ordinalQuestion is what is asked of pods, with what the answer depends on beside the pods.
type ordinalQuestion struct {
	what, current, update string
	minReady              time.Duration
	strategy              *kruise.UpdatePriorityStrategy
}

func (o *ordinals) question(what string) ordinalQuestion {
	return ordinalQuestion{what: what, current: o.current, update: o.update, minReady: o.minReady}
}

// Arranged are the pods of a StatefulSet by the ordinals that should exist.
type Arranged struct {
	// want are these ordinals, ascending, and slots their pods, nil where one is missing.
	want  []int
	slots []*cluster.Pod
	// outside are the pods of all other ordinals, highest first.
	outside []*cluster.Pod
}

// Ordinals are those that should exist, ascending.
func (a *Arranged) Ordinals() []int { return a.want }

func (o *ordinals) arrange(want []int) *Arranged {
	a := &Arranged{want: want, slots: make([]*cluster.Pod, len(want))}
	rest := o.pods
	for _, numbers := range cluster.Ask(o.answers, "numbers", o.now, o.pods, func(block []*cluster.Pod) ([]int, time.Time) {
		out := make([]int, len(block))
		for i, p := range block {
			out[i] = OrdinalOf(p)
		}
		return out, time.Time{}
	}) {
		for i, n := range numbers {
			if at, ok := slotOf(want, n); ok {
				a.slots[at] = rest[i]
			} else {
				a.outside = append(a.outside, rest[i])
			}
		}
		rest = rest[len(numbers):]
	}
	a.outside = descending(a.outside)
	return a
}

// slotsWhere are the places of slots whose pod something is true of, ascending. It may depend on the
// pod, nil where it is missing, and on the [ordinalQuestion].
func (o *ordinals) slotsWhere(slots []*cluster.Pod, what string, is func(*cluster.Pod) bool) []int {
	return cluster.Places(o.answers, o.question(what), o.now, slots, func(p *cluster.Pod) (bool, time.Time) {
		if p == nil {
			return is(p), time.Time{}
		}
		return is(p), nextAged([]*cluster.Pod{p}, o.minReady, o.now)
	})
}

// where are the pods that something is true of, in the order of the list.
func (o *ordinals) where(what string, is func(*cluster.Pod) bool) []*cluster.Pod {
	var out []*cluster.Pod
	for _, i := range o.slotsWhere(o.pods, "all "+what, is) {
		out = append(out, o.pods[i])
	}
	return out
}

func (o *ordinals) aged(p *cluster.Pod) bool { return ReadyFor(p, o.minReady, o.now) }

// open are the slots that have to be examined: their pod is missing, or may not be available.
func (o *ordinals) open(slots []*cluster.Pod) []int {
	return o.slotsWhere(slots, "open", func(p *cluster.Pod) bool { return p == nil || !healthy(p) || !isStill(p) || !o.aged(p) })
}

// present counts the slots that have a pod.
func present(slots []*cluster.Pod) (n int) {
	for _, p := range slots {
		if p != nil {
			n++
		}
	}
	return n
}

// old are the slots whose pods carry another revision than the update's.
func (o *ordinals) old(slots []*cluster.Pod) []int {
	return o.slotsWhere(slots, "old", func(p *cluster.Pod) bool { return p != nil && RevisionOf(p) != o.update })
}

func (o *ordinals) isOutdated(p *cluster.Pod) bool {
	return p != nil && RevisionOf(p) != o.update && !p.Deleting
}

// unsettled are the pods that are restless, or have not been ready for long enough, in the order
// of the list.
func (o *ordinals) unsettled() []*cluster.Pod {
	return o.where("unsettled", func(p *cluster.Pod) bool { return !isStill(p) || podReady(p) && !o.aged(p) })
}

// kept counts the pods of slots that carry the update revision and stay.
func (o *ordinals) kept(slots []*cluster.Pod) (k Kept) {
	for _, p := range slots {
		if p != nil && RevisionOf(p) == o.update && !p.Deleting {
			k.Updated++
			if Ready(p) {
				k.Ready++
			}
		}
	}
	return k
}

// topDown are the pods of places, highest first.
func topDown(slots []*cluster.Pod, places []int) iter.Seq[*cluster.Pod] {
	return func(yield func(*cluster.Pod) bool) {
		for _, i := range slices.Backward(places) {
			if !yield(slots[i]) {
				return
			}
		}
	}
}

// from are the places that are not below a limit.
func from(places []int, limit int) []int {
	i, _ := slices.BinarySearch(places, limit)
	return places[i:]
}

// highest are the last n places, or all.
func highest(places []int, n int) []int { return places[max(len(places)-max(n, 0), 0):] }

// rankedPod is an outdated pod in its place by the priority strategy, then by its ordinal.
type rankedPod struct {
	pod     *cluster.Pod
	ordinal int
	priority
}

func (a rankedPod) compare(b rankedPod) int {
	return cmp.Or(a.priority.compare(b.priority), cmp.Compare(b.ordinal, a.ordinal))
}

// byPriority are the outdated pods as [prioritize] orders them from the highest ordinal downwards, for
// a caller that may need only the first of them.
func (o *ordinals) byPriority(slots []*cluster.Pod, strategy *kruise.UpdatePriorityStrategy) draw[rankedPod] {
	q := o.question("priority")
	q.strategy = strategy
	return merged(cluster.Ask(o.answers, q, o.now, slots, func(block []*cluster.Pod) ([]rankedPod, time.Time) {
		var all []rankedPod
		selectors := weightSelectors(strategy)
		for _, p := range filter(block, o.isOutdated) {
			all = append(all, rankedPod{p, OrdinalOf(p), priorityOf(p, strategy, selectors)})
		}
		slices.SortFunc(all, rankedPod.compare)
		return all, time.Time{}
	}), rankedPod.compare)
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

func (n *OrdinalCounts) add(o OrdinalCounts) {
	n.Replicas += o.Replicas
	n.Ready += o.Ready
	n.Available += o.Available
	n.Current += o.Current
	n.Updated += o.Updated
	n.UpdatedReady += o.UpdatedReady
	n.UpdatedAvailable += o.UpdatedAvailable
}

// counts are the numbers of the status.
func (o *ordinals) counts() (n OrdinalCounts) {
	for _, some := range cluster.Ask(o.answers, o.question("counts"), o.now, o.pods, func(block []*cluster.Pod) (n OrdinalCounts, until time.Time) {
		for _, p := range block {
			n.add(o.countsOf(p))
		}
		return n, nextAged(block, o.minReady, o.now)
	}) {
		n.add(some)
	}
	return n
}

func (o *ordinals) countsOf(p *cluster.Pod) OrdinalCounts {
	n := OrdinalCounts{Replicas: 1}
	revision := RevisionOf(p)
	if Ready(p) {
		n.Ready = 1
	}
	if n.Ready == 1 && o.aged(p) {
		n.Available = 1
	}
	if revision == o.current && !p.Deleting {
		n.Current = 1
	}
	if revision == o.update {
		n.UpdatedReady, n.UpdatedAvailable = n.Ready, n.Available
		if !p.Deleting {
			n.Updated = 1
		}
	}
	return n
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
