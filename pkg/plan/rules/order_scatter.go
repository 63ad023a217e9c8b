package rules

import (
	"math"
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// scatter spreads the pods of each term over the update order; all are the pods
// of the workload, candidates or not. Terms that match more candidates come
// first (semantics workloads 1.6, 3).
func scatter(list, all []*cluster.Pod, terms []kruise.UpdateScatterTerm) []*cluster.Pod {
	terms = slices.Clone(terms)
	slices.SortStableFunc(terms, func(a, b kruise.UpdateScatterTerm) int {
		return count(list, carries(b)) - count(list, carries(a))
	})
	for _, term := range terms {
		list = scatterTerm(list, all, term)
	}
	return list
}

func carries(term kruise.UpdateScatterTerm) func(*cluster.Pod) bool {
	return func(p *cluster.Pod) bool {
		v, ok := p.Labels[term.Key]
		return ok && v == term.Value
	}
}

// scatterTerm alternates groups of pods with and without the label; the last
// pod that has it is held back for the very end.
func scatterTerm(list, all []*cluster.Pod, term kruise.UpdateScatterTerm) []*cluster.Pod {
	matched, rest := filter(list, carries(term)), filter(list, not(carries(term)))
	if len(matched) <= 1 || len(rest) <= 1 {
		return list
	}
	last := matched[len(matched)-1]
	matched = matched[:len(matched)-1]
	allMatched := count(all, carries(term))
	g := grouping(len(matched), len(rest), allMatched-1, len(all)-allMatched)

	out := make([]*cluster.Pod, 0, len(list))
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

// move appends the first n pods of from, or as many as there are.
func move(to, from []*cluster.Pod, n int) (grown, left []*cluster.Pod) {
	n = min(n, len(from))
	return append(to, from[:n]...), from[n:]
}
