package rules

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// scattered is [scatter] for pods that are in order already; all are the pods of the workload.
func scattered(list, all []*cluster.Pod, terms []kruise.UpdateScatterTerm) []*cluster.Pod {
	ranks := make([]*rank, len(list))
	for i, p := range list {
		ranks[i] = &rank{sortKey: sortKey{pod: p}}
		for _, term := range terms {
			ranks[i].carries = append(ranks[i].carries, carries(term)(p))
		}
	}
	return slices.Collect(podsOf(scatter(drawFrom(ranks), censusOf(list, terms), censusOf(all, terms))).all())
}

// scatteredAtOnce is [scatter] by making the whole order of each term before that of the next one.
func scatteredAtOnce(candidates []*rank, n, pods census) []*rank {
	terms := everyPlace(len(n.carries))
	slices.SortStableFunc(terms, func(a, b int) int { return n.carries[b] - n.carries[a] })
	for _, term := range terms {
		matched := slices.DeleteFunc(slices.Clone(candidates), func(r *rank) bool { return !r.carries[term] })
		rest := slices.DeleteFunc(slices.Clone(candidates), func(r *rank) bool { return r.carries[term] })
		if len(matched) <= 1 || len(rest) <= 1 {
			continue
		}
		last := matched[len(matched)-1]
		matched = matched[:len(matched)-1]
		g := grouping(len(matched), len(rest), pods.carries[term]-1, pods.all-pods.carries[term])
		var out []*rank
		move := func(from *[]*rank, n int) {
			n = min(n, len(*from))
			out, *from = append(out, (*from)[:n]...), (*from)[n:]
		}
		move(&rest, g.surplus)
		for range g.groups {
			move(&matched, g.matched)
			move(&rest, g.rest)
		}
		candidates = append(append(append(out, matched...), rest...), last)
	}
	return candidates
}

// TestScatter_IsTheOrderMadeAtOnce compares random candidates of random pods, with up to three terms.
func TestScatter_IsTheOrderMadeAtOnce(t *testing.T) {
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 9))
		n, terms := r.IntN(40), r.IntN(4)
		all := make([]*rank, n)
		pods := census{n, make([]int, terms)}
		for place := range all {
			all[place] = &rank{sortKey: sortKey{restarts: place}, carries: make([]bool, terms)}
		}
		for term := range terms {
			share := r.Float64()
			for place := range all {
				if all[place].carries[term] = r.Float64() < share; all[place].carries[term] {
					pods.carries[term]++
				}
			}
		}
		candidates, have := []*rank{}, census{n, slices.Clone(pods.carries)}
		left := r.IntN(n + 1)
		for i, place := range r.Perm(n) {
			if i < left {
				candidates = append(candidates, all[place])
			} else {
				have.leave(all[place])
			}
		}
		places := func(list []*rank) (out []int) {
			for _, r := range list {
				out = append(out, r.restarts)
			}
			return out
		}
		got := slices.Collect(scatter(drawFrom(candidates), have, pods).all())
		if diff := cmp.Diff(places(scatteredAtOnce(slices.Clone(candidates), have, pods)), places(got)); diff != "" {
			t.Fatalf("seed %d, %d terms, candidates %v (-want +got):\n%s", seed, terms, places(candidates), diff)
		}
		first := r.IntN(len(got) + 1)
		var some []*rank
		for next := range scatter(drawFrom(candidates), have, pods).all() {
			if len(some) == first {
				break
			}
			some = append(some, next)
		}
		if !slices.Equal(places(some), places(got[:first])) {
			t.Fatalf("seed %d: the first %d are %v, want %v", seed, first, places(some), places(got[:first]))
		}
	}
}
