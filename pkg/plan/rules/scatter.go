package rules

import (
	"iter"
	"math"
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// scatter spreads the pods of each term over the update order; all are the pods
// of the workload, candidates or not. Terms that match more candidates come
// first (docs/kruise/workloads.md#update-order and docs/kruise/workloads.md#advanced-statefulset).
func scatter(list, all []*cluster.Pod, terms []kruise.UpdateScatterTerm) []*cluster.Pod {
	if len(terms) == 0 {
		return list
	}
	out := make([]*cluster.Pod, 0, len(list))
	for at := range newDispersion(list, all, terms).scatter(everyPlace(len(list))) {
		out = append(out, list[at])
	}
	return out
}

func carries(term kruise.UpdateScatterTerm) func(*cluster.Pod) bool {
	return func(p *cluster.Pod) bool {
		v, ok := p.Labels[term.Key]
		return ok && v == term.Value
	}
}

// everyPlace are the places of n candidates.
func everyPlace(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// dispersion knows which candidate has which label: labels are looked at once,
// however often an order is asked for. Candidates are known by their place.
type dispersion struct {
	// has reports whether the candidate at a place has the label of a term.
	has func(term, place int) bool
	// matched is by term: how many of all pods have its label.
	matched []int
	all     int
}

func newDispersion(list, all []*cluster.Pod, terms []kruise.UpdateScatterTerm) *dispersion {
	labelled := make([][]bool, len(terms))
	d := &dispersion{has: func(term, place int) bool { return labelled[term][place] }, all: len(all)}
	for i, term := range terms {
		carries := carries(term)
		labelled[i] = make([]bool, len(list))
		for place, p := range list {
			labelled[i][place] = carries(p)
		}
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
func rememberedDispersion(n int, terms []kruise.UpdateScatterTerm, at func(place int) (*cluster.Pod, *scatterNote)) *dispersion {
	d := &dispersion{matched: make([]int, len(terms))}
	d.has = func(term, place int) bool {
		_, note := at(place)
		return note.terms>>term&1 == 1
	}
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
	return d
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

// places hands out the places of candidates one after the other, false at their end.
type places func() (place int, ok bool)

// scatter returns the candidates at some places in their order, for a caller that may need only the
// first of them.
func (d *dispersion) scatter(candidates []int) iter.Seq[int] {
	return func(yield func(int) bool) {
		left := candidates
		next := places(func() (int, bool) {
			if len(left) == 0 {
				return 0, false
			}
			place := left[0]
			left = left[1:]
			return place, true
		})
		terms, counts := d.termOrder(candidates)
		for _, term := range terms {
			next = d.scatterTerm(next, term, counts[term], len(candidates)-counts[term])
		}
		for place, ok := next(); ok && yield(place); {
			place, ok = next()
		}
	}
}

// termOrder are the terms, those that more candidates have first, and how many have each.
func (d *dispersion) termOrder(candidates []int) (terms, counts []int) {
	counts = make([]int, len(d.matched))
	for term := range counts {
		for _, place := range candidates {
			if d.has(term, place) {
				counts[term]++
			}
		}
	}
	terms = everyPlace(len(counts))
	slices.SortStableFunc(terms, func(a, b int) int { return counts[b] - counts[a] })
	return terms, counts
}

// scatterTerm alternates groups of the candidates with the label, which are so many, and of the
// rest; the last pod that has it is held back for the very end.
func (d *dispersion) scatterTerm(from places, term, matched, rest int) places {
	if matched <= 1 || rest <= 1 {
		return from
	}
	matched--
	g := grouping(matched, rest, d.matched[term]-1, d.all-d.matched[term])
	split := splitPlaces{from: from, has: func(place int) bool { return d.has(term, place) }}
	surplus, groups, ofMatched, ofRest, last := min(g.surplus, rest), g.groups, 0, 0, false
	return func() (int, bool) {
		if surplus == 0 && ofMatched == 0 && ofRest == 0 && groups > 0 {
			groups--
			ofMatched, ofRest = min(g.matched, matched), min(g.rest, rest)
		}
		switch {
		case surplus > 0:
			surplus--
			rest--
			return split.next(false)
		case ofMatched > 0:
			ofMatched--
			matched--
			return split.next(true)
		case ofRest > 0:
			ofRest--
			rest--
			return split.next(false)
		case matched > 0:
			matched--
			return split.next(true)
		case rest > 0:
			rest--
			return split.next(false)
		case !last:
			last = true
			return split.next(true)
		}
		return 0, false
	}
}

// splitPlaces hands out the candidates with and without a label apart, each in their order.
type splitPlaces struct {
	from places
	has  func(place int) bool
	// kept are those that were passed over, without the label and with it.
	kept [2][]int
}

func (s *splitPlaces) next(labelled bool) (int, bool) {
	own, other := &s.kept[0], &s.kept[1]
	if labelled {
		own, other = other, own
	}
	if len(*own) > 0 {
		place := (*own)[0]
		*own = (*own)[1:]
		return place, true
	}
	for {
		place, ok := s.from()
		if !ok || s.has(place) == labelled {
			return place, ok
		}
		*other = append(*other, place)
	}
}

// groups is how a term cuts its pods: a surplus without the label, then so many
// rounds of matched and rest.
type groups struct{ groups, matched, rest, surplus int }

// grouping cuts m and u candidates. When more of the pods without the label are
// updated already than of those with it, the sizes are those of the whole
// workload, so that the pattern continues where earlier rounds left it.
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
