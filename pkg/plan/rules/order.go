package rules

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// standing is what the default comparator looks at, read once per pod.
type standing struct {
	pod      *cluster.Pod
	bound    bool
	phase    int
	ready    bool
	since    time.Time
	restarts int
	sidecars int
}

func standingOf(p *cluster.Pod) standing {
	s := standing{pod: p, bound: p.Node != "", phase: phaseRank(p.Phase)}
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

func standings(list []*cluster.Pod) []standing {
	out := make([]standing, len(list))
	for i, p := range list {
		out[i] = standingOf(p)
	}
	return out
}

// compare orders pods by how little is lost with them: unassigned first, then
// Pending, Unknown, Running, then not ready, the most recently ready, the most
// restarts, the newest. 0 means that Kruise leaves the order open
// (docs/kruise/workloads.md#update-order).
func (s standing) compare(o standing) int {
	return cmp.Or(
		falseFirst(s.bound, o.bound),
		cmp.Compare(s.phase, o.phase),
		falseFirst(s.ready, o.ready),
		s.compareAge(o),
	)
}

// compareAge is the second half of the comparator, which scale-down has after
// its own rules.
func (s standing) compareAge(o standing) int {
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
	all := standings(list)
	slices.SortFunc(all, func(a, b standing) int {
		if c := a.compare(b); c != 0 {
			return c
		}
		return byName(a.pod, b.pod)
	})
	return bare(all)
}

func bare(all []standing) []*cluster.Pod {
	out := make([]*cluster.Pod, len(all))
	for i, s := range all {
		out[i] = s.pod
	}
	return out
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
	return compareDigits(b.number, a.number)
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
		s, err := metav1.LabelSelectorAsSelector(&strategy.WeightPriority[i].MatchSelector)
		if err != nil {
			s = labels.Nothing()
		}
		out[i] = s
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

func compareDigits(a, b string) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
}

// scatter spreads the pods of each term over the update order; all are the pods
// of the workload, candidates or not. Terms that match more candidates come
// first (docs/kruise/workloads.md#update-order and docs/kruise/workloads.md#advanced-statefulset).
func scatter(list, all []*cluster.Pod, terms []kruise.UpdateScatterTerm) []*cluster.Pod {
	if len(terms) == 0 {
		return list
	}
	d := newDispersion(list, all, terms)
	return d.pods(d.scatter(everyPlace(len(list))))
}

func carries(term kruise.UpdateScatterTerm) func(*cluster.Pod) bool {
	return func(p *cluster.Pod) bool {
		v, ok := p.Labels[term.Key]
		return ok && v == term.Value
	}
}

// dispersion knows which candidate has which label: labels are looked at once,
// however often an order is asked for. Candidates are known by their place.
type dispersion struct {
	// list are the candidates, nil where only their places are needed.
	list []*cluster.Pod
	// has is by term and place, matched by term: how many of all pods.
	has     [][]bool
	matched []int
	all     int
}

func newDispersion(list, all []*cluster.Pod, terms []kruise.UpdateScatterTerm) *dispersion {
	d := &dispersion{list: list, all: len(all)}
	for _, term := range terms {
		carries := carries(term)
		has := make([]bool, len(list))
		for i, p := range list {
			has[i] = carries(p)
		}
		d.has = append(d.has, has)
		d.matched = append(d.matched, count(all, carries))
	}
	return d
}

// scatterNote is what is remembered of a pod's labels: a bit for each term of the scatter strategy
// whose label it has, once they were read.
type scatterNote struct {
	terms uint64
	read  bool
}

// maxRememberedTerms is how many bits a note has.
const maxRememberedTerms = 64

// rememberedDispersion is that of the candidates at some of n places: the labels of a pod are read
// once, however often the order is asked for. at returns the pod of a place, nil where it does not
// count, and its note.
func rememberedDispersion(places []int, n int, terms []kruise.UpdateScatterTerm, at func(place int) (*cluster.Pod, *scatterNote)) *dispersion {
	d := &dispersion{has: make([][]bool, len(terms)), matched: make([]int, len(terms))}
	for place := range n {
		p, note := at(place)
		if p == nil {
			continue
		}
		d.all++
		if !note.read {
			*note = scatterNote{termsOf(p, terms), true}
		}
		for i := range terms {
			d.matched[i] += int(note.terms >> i & 1)
		}
	}
	for i := range terms {
		d.has[i] = make([]bool, len(places))
	}
	for i, place := range places {
		_, note := at(place)
		for term := range terms {
			d.has[term][i] = note.terms>>term&1 == 1
		}
	}
	return d
}

// dispersion is that of the candidates at some places among all active pods.
func (s *Survey) dispersion(places []int, terms []kruise.UpdateScatterTerm) *dispersion {
	if len(terms) > maxRememberedTerms {
		return newDispersion(s.podsAt(slices.Values(places)), s.active(), terms)
	}
	if !slices.Equal(s.terms, terms) {
		s.terms = slices.Clone(terms)
		for at := range s.notes {
			s.notes[at].scatter = scatterNote{}
		}
	}
	return rememberedDispersion(places, len(s.notes), terms, func(at int) (*cluster.Pod, *scatterNote) {
		n := &s.notes[at]
		if !n.traits.has(traitActive) {
			return nil, &n.scatter
		}
		return s.pods[at], &n.scatter
	})
}

// scattered are the places of the candidates in the order of a scatter strategy.
func (s *Survey) scattered(places []int, terms []kruise.UpdateScatterTerm) []int {
	return s.dispersion(places, terms).order(places)
}

// termsOf has a bit for each term whose label the pod has.
func termsOf(p *cluster.Pod, terms []kruise.UpdateScatterTerm) (bits uint64) {
	for i, term := range terms {
		if carries(term)(p) {
			bits |= 1 << i
		}
	}
	return bits
}

// everyPlace are the places of n candidates.
func everyPlace(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

func (d *dispersion) pods(places []int) []*cluster.Pod {
	out := make([]*cluster.Pod, len(places))
	for i, at := range places {
		out[i] = d.list[at]
	}
	return out
}

// order returns the candidates, which are at these places, in their order.
func (d *dispersion) order(places []int) []int {
	order := d.scatter(everyPlace(len(places)))
	for i, at := range order {
		order[i] = places[at]
	}
	return order
}

// scatter orders some of the candidates.
func (d *dispersion) scatter(places []int) []int {
	for _, term := range d.termOrder(places) {
		places = d.scatterTerm(places, term)
	}
	return places
}

// termOrder are the terms, those that more candidates have first.
func (d *dispersion) termOrder(places []int) []int {
	terms, counts := make([]int, len(d.has)), make([]int, len(d.has))
	for term, has := range d.has {
		terms[term] = term
		for _, at := range places {
			if has[at] {
				counts[term]++
			}
		}
	}
	slices.SortStableFunc(terms, func(a, b int) int { return counts[b] - counts[a] })
	return terms
}

// scatterTerm alternates groups of pods with and without the label; the last
// pod that has it is held back for the very end.
func (d *dispersion) scatterTerm(places []int, term int) []int {
	matched, rest := make([]int, 0, len(places)), make([]int, 0, len(places))
	for _, at := range places {
		if d.has[term][at] {
			matched = append(matched, at)
		} else {
			rest = append(rest, at)
		}
	}
	if len(matched) <= 1 || len(rest) <= 1 {
		return places
	}
	last := matched[len(matched)-1]
	matched = matched[:len(matched)-1]
	allMatched := d.matched[term]
	g := grouping(len(matched), len(rest), allMatched-1, d.all-allMatched)

	out := make([]int, 0, len(places))
	out, rest = move(out, rest, g.surplus)
	for range g.groups {
		out, matched = move(out, matched, g.matched)
		out, rest = move(out, rest, g.rest)
	}
	return append(append(append(out, matched...), rest...), last)
}

// groups is how a term cuts its pods: a surplus without the label, then so many
// rounds of matched and rest.
type groups struct{ groups, matched, rest, surplus int }

// grouping cuts m and u candidates. When more of the pods without the label are
// updated already than of those with it, the sizes are those of the whole
// workload, so that the pattern goes on from where earlier rounds left it.
func grouping(m, u, allMatched, allRest int) groups {
	if allMatched > 0 && allRest > 0 && allRest*m < u*allMatched {
		matched, rest := sizes(allMatched, allRest)
		g := min(m/matched, u/rest)
		return groups{g, matched, rest, u - g*rest}
	}
	matched, rest := sizes(m, u)
	return groups{min(m, u), matched, rest, 0}
}

func sizes(m, u int) (matched, rest int) {
	g := float64(min(m, u))
	return int(math.Round(float64(m) / g)), int(math.Round(float64(u) / g))
}

// move appends the first n places of from, or as many as there are.
func move(to, from []int, n int) (grown, left []int) {
	n = min(n, len(from))
	return append(to, from[:n]...), from[n:]
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
	return ties(order, strategy.PriorityStrategy, everyValue(strategy.ScatterStrategy, order))
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
	s := standingOf(p)
	k := tie{
		bound: s.bound, ready: s.ready, phase: s.phase, restarts: s.restarts, sidecars: s.sidecars, preparing: preparingUpdate(p),
		created: instant(p.Created), weight: int64(place.weight), key: place.key, number: place.number,
	}
	if s.ready {
		k.since = instant(s.since)
	}
	if len(terms) > 0 {
		k.terms = carried(p, terms)
	}
	return k
}

// carried is one letter per term: whether the pod has it.
func carried(p *cluster.Pod, terms []kruise.UpdateScatterTerm) string {
	out := make([]byte, len(terms))
	for i, t := range terms {
		out[i] = 'n'
		if carries(t)(p) {
			out[i] = 'y'
		}
	}
	return string(out)
}

// instant makes times comparable whatever their zone; none is one of its own.
func instant(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}
