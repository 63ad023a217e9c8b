package rules

import (
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
	d := newDispersion(list, all, terms)
	return d.pods(d.scatter(d.everybody()))
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

// dispersion is that of the candidates at some places among all active pods: the labels of a
// pod are looked at once, however often the order is asked for.
func (s *Survey) dispersion(places []int, terms []kruise.UpdateScatterTerm) *dispersion {
	if len(terms) > 64 { // a note has no more bits
		return newDispersion(s.podsAt(places), s.active(), terms)
	}
	if !slices.Equal(s.terms, terms) {
		s.terms = slices.Clone(terms)
		for at := range s.notes {
			s.notes[at].asked = false
		}
	}
	d := &dispersion{list: s.podsAt(places), has: make([][]bool, len(terms)), matched: make([]int, len(terms))}
	for at := range s.notes {
		n := &s.notes[at]
		if !n.traits.has(traitActive) {
			continue
		}
		d.all++
		if !n.asked {
			n.asked, n.terms = true, termsOf(n.pod, terms)
		}
		for i := range terms {
			d.matched[i] += int(n.terms >> i & 1)
		}
	}
	for i := range terms {
		d.has[i] = make([]bool, len(places))
	}
	for i, at := range places {
		for term := range terms {
			d.has[term][i] = s.notes[at].terms>>term&1 == 1
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

// everybody are the places of all candidates.
func (d *dispersion) everybody() []int {
	out := make([]int, len(d.list))
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

// scatter orders some of the candidates.
func (d *dispersion) scatter(places []int) []int {
	for _, term := range d.order(places) {
		places = d.scatterTerm(places, term)
	}
	return places
}

// order are the terms, those that more candidates have first.
func (d *dispersion) order(places []int) []int {
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
