package rules

import (
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// draw hands out elements one after the other, for a caller that may need only the first of them;
// it is false at their end.
type draw[T any] func() (T, bool)

// drawFrom hands out the elements of a list.
func drawFrom[T any](left []T) draw[T] {
	return func() (first T, ok bool) {
		if len(left) > 0 {
			first, ok, left = left[0], true, left[1:]
		}
		return first, ok
	}
}

// all hands out the rest.
func (d draw[T]) all() iter.Seq[T] {
	return func(yield func(T) bool) {
		for next, ok := d(); ok && yield(next); {
			next, ok = d()
		}
	}
}

// podsOf are the pods of an order.
func podsOf(d draw[*rank]) draw[*cluster.Pod] {
	return func() (*cluster.Pod, bool) {
		if r, ok := d(); ok {
			return r.pod, true
		}
		return nil, false
	}
}

// census counts pods, and by term of a scatter strategy those that have its label.
type census struct {
	all     int
	carries []int
}

// censusOf counts pods.
func censusOf(list []*cluster.Pod, terms []kruise.UpdateScatterTerm) census {
	n := census{len(list), make([]int, len(terms))}
	for i, term := range terms {
		n.carries[i] = count(list, carries(term))
	}
	return n
}

// sum adds up what was counted apart; there are so many terms.
func sum(parts []census, terms int) census {
	n := census{carries: make([]int, terms)}
	for _, part := range parts {
		n.all += part.all
		for i := range n.carries {
			n.carries[i] += part.carries[i]
		}
	}
	return n
}

func carries(term kruise.UpdateScatterTerm) func(*cluster.Pod) bool {
	return func(p *cluster.Pod) bool {
		v, ok := p.Labels[term.Key]
		return ok && v == term.Value
	}
}

// spelled is a scatter strategy as text, to compare it with another.
func spelled(terms []kruise.UpdateScatterTerm) string {
	var out strings.Builder
	for _, t := range terms {
		out.WriteString(t.Key + "=" + t.Value + ",")
	}
	return out.String()
}

// scatter spreads the pods of each term over the update order; pods counts those of the workload,
// candidates or not. Terms that match more candidates come first
// (docs/kruise/workloads.md#update-order and docs/kruise/workloads.md#advanced-statefulset).
func scatter(next draw[*rank], candidates, pods census) draw[*rank] {
	terms := everyPlace(len(candidates.carries))
	slices.SortStableFunc(terms, func(a, b int) int { return candidates.carries[b] - candidates.carries[a] })
	for _, term := range terms {
		next = scatterTerm(next, term, candidates, pods)
	}
	return next
}

// everyPlace are the places of a list of n.
func everyPlace(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// scatterTerm alternates groups of the candidates with the label and of the rest; the last pod that
// has it is held back for the very end.
func scatterTerm(from draw[*rank], term int, candidates, pods census) draw[*rank] {
	matched := candidates.carries[term]
	rest := candidates.all - matched
	if matched <= 1 || rest <= 1 {
		return from
	}
	matched--
	g := grouping(matched, rest, pods.carries[term]-1, pods.all-pods.carries[term])
	split := splitOrder{from: from, term: term}
	surplus, groups, ofMatched, ofRest, last := min(g.surplus, rest), g.groups, 0, 0, false
	return func() (*rank, bool) {
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
		return nil, false
	}
}

// splitOrder hands out the candidates with and without the label of a term apart, each in their order.
type splitOrder struct {
	from draw[*rank]
	term int
	// kept are those that were passed over, without the label and with it.
	kept [2][]*rank
}

func (s *splitOrder) next(labelled bool) (*rank, bool) {
	own, other := &s.kept[0], &s.kept[1]
	if labelled {
		own, other = other, own
	}
	if len(*own) > 0 {
		first := (*own)[0]
		*own = (*own)[1:]
		return first, true
	}
	for {
		r, ok := s.from()
		if !ok || r.carries[s.term] == labelled {
			return r, ok
		}
		*other = append(*other, r)
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
