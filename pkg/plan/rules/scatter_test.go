package rules

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// scatteredAtOnce is [dispersion.scatter] by making the whole order of each term before that of the
// next one.
func scatteredAtOnce(d *dispersion, candidates []int) []int {
	terms, _ := d.termOrder(candidates)
	for _, term := range terms {
		matched := slices.DeleteFunc(slices.Clone(candidates), func(place int) bool { return !d.has(term, place) })
		rest := slices.DeleteFunc(slices.Clone(candidates), func(place int) bool { return d.has(term, place) })
		if len(matched) <= 1 || len(rest) <= 1 {
			continue
		}
		last := matched[len(matched)-1]
		matched = matched[:len(matched)-1]
		g := grouping(len(matched), len(rest), d.matched[term]-1, d.all-d.matched[term])
		var out []int
		move := func(from *[]int, n int) {
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
		d := &dispersion{matched: make([]int, terms), all: n}
		labelled := make([][]bool, terms)
		d.has = func(term, place int) bool { return labelled[term][place] }
		for term := range terms {
			share := r.Float64()
			for range n {
				has := r.Float64() < share
				if labelled[term] = append(labelled[term], has); has {
					d.matched[term]++
				}
			}
		}
		candidates := r.Perm(n)[:r.IntN(n+1)]
		want := scatteredAtOnce(d, slices.Clone(candidates))
		got := append([]int{}, slices.Collect(d.scatter(candidates))...)
		if diff := cmp.Diff(append([]int{}, want...), got); diff != "" {
			t.Fatalf("seed %d, %d terms, candidates %v (-want +got):\n%s", seed, terms, candidates, diff)
		}
		first := r.IntN(len(got) + 1)
		var some []int
		for place := range d.scatter(candidates) {
			if len(some) == first {
				break
			}
			some = append(some, place)
		}
		if !slices.Equal(some, got[:first]) {
			t.Fatalf("seed %d: the first %d are %v, want %v", seed, first, some, got[:first])
		}
	}
}
