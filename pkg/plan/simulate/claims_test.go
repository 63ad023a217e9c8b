package simulate

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// TestClaimStore_FindsTheClaimsOfAnObject: what is kept for an object is what a search of all claims
// finds, in its order, after any changes.
func TestClaimStore_FindsTheClaimsOfAnObject(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 3))
		s := New(Options{}).claims
		var objects []*object
		for _, name := range []string{"web", "api", "api-web"} {
			objects = append(objects, newObject(cluster.Ref{Namespace: "shop", Kind: "StatefulSet", Name: name}))
		}
		for range 40 {
			for range r.IntN(6) {
				c := &cluster.Claim{
					Namespace: []string{"shop", "bank"}[r.IntN(2)], Name: fmt.Sprintf("data-%s-%d", []string{"web", "api", "api-web"}[r.IntN(3)], r.IntN(12)), Deleting: r.IntN(5) == 0,
				}
				if r.IntN(3) == 0 {
					s.drop(podName{c.Namespace, c.Name})
				} else {
					s.put(c)
				}
			}
			leaving := 0
			for _, c := range s.byName {
				if c.Deleting {
					leaving++
				}
			}
			if leaving != s.leaving {
				t.Fatalf("seed %d: %d claims are leaving, want %d", seed, s.leaving, leaving)
			}
			o := objects[r.IntN(len(objects))]
			var want []*cluster.Claim
			for _, c := range s.byName {
				if c.Namespace == "shop" && strings.Contains(c.Name, "-"+o.ref.Name+"-") {
					want = append(want, c)
				}
			}
			slices.SortFunc(want, func(a, b *cluster.Claim) int { return strings.Compare(a.Name, b.Name) })
			if got := s.of(o); !slices.Equal(got, want) {
				t.Fatalf("seed %d: claims of %s: %v, want %v", seed, o.ref.Name, got, want)
			}
		}
	}
}
