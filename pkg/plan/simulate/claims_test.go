package simulate

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/controller"
)

// claimCopy follows the claims of an object by their record of changes.
type claimCopy struct {
	mark   cluster.Mark[controller.ClaimChange]
	claims map[*cluster.Claim]bool
}

func (c *claimCopy) renew(o *object) map[*cluster.Claim]bool {
	changes, known := c.mark.Since(&o.claimChanges)
	if !known {
		c.claims = setOf(o.claims)
	}
	for _, change := range changes {
		delete(c.claims, change.Before)
		if change.After != nil {
			c.claims[change.After] = true
		}
	}
	return c.claims
}

func setOf(claims []*cluster.Claim) map[*cluster.Claim]bool {
	out := map[*cluster.Claim]bool{}
	for _, c := range claims {
		out[c] = true
	}
	return out
}

// TestClaimStore_FindsTheClaimsOfAnObject: what is kept for an object is what a search of all claims
// finds, in its order, after any changes.
func TestClaimStore_FindsTheClaimsOfAnObject(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 3))
		s := New(Options{}).claims
		var objects []*object
		copies := map[*object]*claimCopy{}
		for _, name := range []string{"web", "api", "api-web"} {
			o := newObject(cluster.Ref{Namespace: "shop", Kind: "StatefulSet", Name: name})
			objects, copies[o] = append(objects, o), &claimCopy{}
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
			if got := copies[o].renew(o); !maps.Equal(got, setOf(want)) {
				t.Fatalf("seed %d: by the record of changes, claims of %s: %v, want %v", seed, o.ref.Name, got, want)
			}
		}
	}
}
