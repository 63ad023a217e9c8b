package rules

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// sortKey is what the default comparator looks at, read once per pod.
type sortKey struct {
	pod      *cluster.Pod
	bound    bool
	phase    int
	ready    bool
	since    time.Time
	restarts int
	sidecars int
}

func sortKeyOf(p *cluster.Pod) sortKey {
	s := sortKey{pod: p, bound: p.Node != "", phase: phaseRank(p.Phase)}
	if p.IsReady() {
		s.ready, s.since = true, p.ReadySince()
	}
	for _, c := range p.Containers {
		s.restarts = max(s.restarts, c.Restarts)
	}
	for _, c := range p.InitContainers {
		if c.Native {
			s.sidecars = max(s.sidecars, c.Restarts)
		}
	}
	return s
}

// compare orders pods by how little is lost with them: unassigned first, then
// Pending, Unknown, Running, then not ready, the most recently ready, the most
// restarts, the newest. 0 means that Kruise leaves the order open
// (docs/kruise/workloads.md#update-order).
func (s sortKey) compare(o sortKey) int {
	if c := cmp.Or(falseFirst(s.bound, o.bound), cmp.Compare(s.phase, o.phase), falseFirst(s.ready, o.ready)); c != 0 {
		return c
	}
	return s.compareAge(o)
}

// compareAge is the second half of the comparator, which scale-down has after
// its own rules.
func (s sortKey) compareAge(o sortKey) int {
	if s.ready && o.ready {
		if c := o.since.Compare(s.since); c != 0 {
			return c
		}
	}
	return cmp.Or(
		cmp.Compare(o.restarts, s.restarts),
		cmp.Compare(o.sidecars, s.sidecars),
		o.pod.Created.Compare(s.pod.Created),
	)
}

// byName is the last word where the comparator has none, so that an answer does
// not depend on the order of the question.
func byName(a, b *cluster.Pod) int {
	return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.UID, b.UID))
}

// inOrder returns the pods in the default order; the input is not touched.
func inOrder(list []*cluster.Pod) []*cluster.Pod {
	all := make([]sortKey, len(list))
	for i, p := range list {
		all[i] = sortKeyOf(p)
	}

	slices.SortFunc(all, func(a, b sortKey) int {
		if c := a.compare(b); c != 0 {
			return c
		}
		return byName(a.pod, b.pod)
	})
	out := make([]*cluster.Pod, len(all))
	for i, s := range all {
		out[i] = s.pod
	}
	return out
}

// rank is all that an update order goes by.
type rank struct {
	sortKey
	priority
	// carries is, by term of the scatter strategy, whether the pod has its label.
	carries []bool
}

func (r *rank) compare(o *rank) int {
	if c := r.priority.compare(o.priority); c != 0 {
		return c
	}
	if c := r.sortKey.compare(o.sortKey); c != 0 {
		return c
	}
	return byName(r.pod, o.pod)
}

// updateOrder is by what pods are updated one after the other.
type updateOrder struct {
	priority *kruise.UpdatePriorityStrategy
	scatter  []kruise.UpdateScatterTerm
}

// waiting are pods that could be updated, in their order before they are scattered.
type waiting struct {
	ranks  []*rank
	census census
}

// of sorts those of the pods that wait, by the priority strategy and then in the default order.
func (o updateOrder) of(block []*cluster.Pod, waits []bool) waiting {
	list := those(block, waits)
	var selectors []labels.Selector
	if o.priority != nil {
		selectors = weightSelectors(o.priority)
	}
	w := waiting{make([]*rank, len(list)), censusOf(list, o.scatter)}
	for i, p := range list {
		r := &rank{sortKey: sortKeyOf(p), carries: make([]bool, len(o.scatter))}
		w.ranks[i] = r
		if o.priority != nil {
			r.priority = priorityOf(p, o.priority, selectors)
		}
		for term := range o.scatter {
			r.carries[term] = carries(o.scatter[term])(p)
		}
	}
	slices.SortFunc(w.ranks, (*rank).compare)
	return w
}

// merge puts blocks of pods into one order, still to be scattered.
func (o updateOrder) merge(blocks []waiting) (draw[*rank], census) {
	ranks, parts := make([][]*rank, len(blocks)), make([]census, len(blocks))
	for i, w := range blocks {
		ranks[i], parts[i] = w.ranks, w.census
	}
	return merged(ranks, (*rank).compare), sum(parts, len(o.scatter))
}

// merged are the elements of lists that are in order each, in their order. The lists are not touched.
func merged[T any](lists [][]T, compareOne func(a, b T) int) draw[T] {
	left := slices.DeleteFunc(slices.Clone(lists), func(l []T) bool { return len(l) == 0 })
	compare := func(a, b []T) int { return compareOne(a[0], b[0]) }
	slices.SortFunc(left, compare)
	return func() (next T, ok bool) {
		if len(left) == 0 {
			return next, false
		}
		first := left[0]
		left = left[1:]
		if next = first[0]; len(first) > 1 {
			at, _ := slices.BinarySearchFunc(left, first[1:], compare)
			left = slices.Insert(left, at, first[1:])
		}
		return next, true
	}
}

func falseFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// priority is a pod's place by the priority strategy; smaller comes first.
type priority struct {
	weight int
	// key is the index of the first listed key on the pod, -1 without any.
	key    int
	number string
}

func (a priority) compare(b priority) int {
	if c := cmp.Compare(b.weight, a.weight); c != 0 {
		return c
	}
	if c := cmp.Compare(a.key, b.key); c != 0 {
		return c
	}
	return cmp.Or(cmp.Compare(len(b.number), len(a.number)), strings.Compare(b.number, a.number))
}

// prioritize sorts pods by the priority strategy and keeps the order of those
// that it treats alike (docs/kruise/workloads.md#update-order and
// docs/kruise/workloads.md#in-place-update).
func prioritize(list []*cluster.Pod, strategy *kruise.UpdatePriorityStrategy) []*cluster.Pod {
	if strategy == nil {
		return list
	}
	type placed struct {
		pod *cluster.Pod
		priority
	}
	of := priorities(list, strategy)
	all := make([]placed, len(list))
	for i, p := range list {
		all[i] = placed{p, of[p]}
	}
	slices.SortStableFunc(all, func(a, b placed) int { return a.compare(b.priority) })
	out := make([]*cluster.Pod, len(all))
	for i, p := range all {
		out[i] = p.pod
	}
	return out
}

func priorities(list []*cluster.Pod, strategy *kruise.UpdatePriorityStrategy) map[*cluster.Pod]priority {
	of := make(map[*cluster.Pod]priority, len(list))
	if strategy == nil {
		return of
	}
	selectors := weightSelectors(strategy)
	for _, p := range list {
		of[p] = priorityOf(p, strategy, selectors)
	}
	return of
}

func priorityOf(p *cluster.Pod, strategy *kruise.UpdatePriorityStrategy, selectors []labels.Selector) priority {
	return priority{
		weight: weightOf(p, strategy, selectors),
		key:    keyOf(p, strategy), number: numberOf(p, strategy),
	}
}

func weightSelectors(strategy *kruise.UpdatePriorityStrategy) []labels.Selector {
	out := make([]labels.Selector, len(strategy.WeightPriority))
	for i := range strategy.WeightPriority {
		out[i] = selectorOf(&strategy.WeightPriority[i].MatchSelector)
	}
	return out
}

func weightOf(p *cluster.Pod, strategy *kruise.UpdatePriorityStrategy, selectors []labels.Selector) int {
	sum := 0
	for i, term := range strategy.WeightPriority {
		if selectors[i].Matches(labels.Set(p.Labels)) {
			sum += int(term.Weight)
		}
	}
	return sum
}

// keyOf returns which listed key the pod has; pods with none come first.
func keyOf(p *cluster.Pod, strategy *kruise.UpdatePriorityStrategy) int {
	return slices.IndexFunc(strategy.OrderPriority, func(t kruise.UpdatePriorityOrderTerm) bool {
		_, ok := p.Labels[t.OrderedKey]
		return ok
	})
}

func numberOf(p *cluster.Pod, strategy *kruise.UpdatePriorityStrategy) string {
	i := keyOf(p, strategy)
	if i < 0 {
		return ""
	}
	return trailingDigits(p.Labels[strategy.OrderPriority[i].OrderedKey])
}

// trailingDigits returns the number that a label's value ends in, without
// leading zeros; a value without one counts as 0.
func trailingDigits(v string) string {
	return strings.TrimLeft(v[len(strings.TrimRight(v, "0123456789")):], "0")
}

// Ties groups the pods of an update order that Kruise treats alike: within a group any pod may
// take the place of any other. Groups of one are left out; the pods of a group need not be
// neighbours in the order, since scattering separates them.
func (c *CloneSet) Ties(order []*cluster.Pod) [][]*cluster.Pod {
	rolling := c.rolling()
	return ties(order, rolling.PriorityStrategy, rolling.ScatterStrategy)
}

// Ties is [CloneSet.Ties] for the pods of a SidecarSet.
func (s *SidecarSet) Ties(order []*cluster.Pod) [][]*cluster.Pod {
	strategy := s.Spec.UpdateStrategy
	return ties(order, strategy.PriorityStrategy, everyValue(strategy.ScatterStrategy, func(key string) []string { return valuesOf(order, key) }))
}

// tie is all that the order looks at; what Kruise treats alike is equal in it.
type tie struct {
	bound, ready, preparing   bool
	phase, restarts, sidecars int
	since, created, weight    int64
	key                       int
	number, terms             string
}

// ties costs no more than one look at each pod, however many groups there are.
func ties(order []*cluster.Pod, strategy *kruise.UpdatePriorityStrategy, terms []kruise.UpdateScatterTerm) [][]*cluster.Pod {
	of := priorities(order, strategy)
	size := make(map[tie]int, len(order))
	keys := make([]tie, len(order))
	for i, p := range order {
		keys[i] = tieOf(p, of[p], terms)
		size[keys[i]]++
	}
	var groups [][]*cluster.Pod
	at := map[tie]int{}
	for i, p := range order {
		k := keys[i]
		if size[k] == 1 {
			continue
		}
		if _, ok := at[k]; !ok {
			at[k] = len(groups)
			groups = append(groups, make([]*cluster.Pod, 0, size[k]))
		}
		groups[at[k]] = append(groups[at[k]], p)
	}
	return groups
}

func tieOf(p *cluster.Pod, place priority, terms []kruise.UpdateScatterTerm) tie {
	s := sortKeyOf(p)
	k := tie{
		bound: s.bound, ready: s.ready, phase: s.phase, restarts: s.restarts, sidecars: s.sidecars, preparing: preparingUpdate(p),
		created: instant(p.Created), weight: int64(place.weight), key: place.key, number: place.number,
	}
	if s.ready {
		k.since = instant(s.since)
	}
	if len(terms) > 0 {
		// One letter per term: whether the pod has it.
		out := make([]byte, len(terms))
		for i, t := range terms {
			out[i] = 'n'
			if carries(t)(p) {
				out[i] = 'y'
			}
		}
		k.terms = string(out)
	}
	return k
}

// instant makes times comparable whatever their zone; none is one of its own.
func instant(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}
