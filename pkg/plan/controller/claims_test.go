package controller

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// countedClaims counts as countClaims does, with a look at every claim for every ordinal.
func countedClaims(s *stateful) (want claimCounts) {
	have := map[string]bool{}
	for _, c := range s.view.Claims {
		have[c.Name] = !c.Deleting
		if c.Owner != s.usualOwner() {
			want.foreign++
		}
		if c.Deleting || c.Owner.Kind == "Pod" {
			want.leaving++
		}
	}
	want.existing = make([]int32, len(s.templates))
	for i, template := range s.templates {
		for _, ordinal := range s.ordinals {
			if have[fmt.Sprintf("%s-web-%d", template.Name, ordinal)] {
				want.existing[i]++
			}
		}
	}
	return want
}

// TestCountClaims_CountsAsALookAtEveryClaim changes random claims between passes, and sometimes what
// is asked of them: with what is remembered and without, the counts are the same.
func TestCountClaims_CountsAsALookAtEveryClaim(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 7))
		s := stateful{view: &View{Workload: &cluster.Workload{}}, templates: make([]corev1.PersistentVolumeClaim, 3), ordinals: []int{0, 1, 2, 4, 5}}
		s.view.Workload.Name, s.view.Workload.UID = "web", "w"
		for i, name := range []string{"data", "data-web", "logs"} {
			s.templates[i].Name = name
		}
		var remembered cluster.Answers
		for pass := range 60 {
			for range r.IntN(3) {
				c := &cluster.Claim{Namespace: "shop", Name: fmt.Sprintf("%s-web-%s", s.templates[r.IntN(3)].Name, []string{"0", "1", "2", "3", "4", "07", "x", "-1"}[r.IntN(8)])}
				c.Deleting = r.IntN(4) == 0
				c.Owner = []cluster.Owner{{}, {}, {Kind: "Pod", Name: "web-1"}, s.self()}[r.IntN(4)]
				s.view.Claims = changedClaims(r, s.view.Claims, c)
			}
			switch r.IntN(15) {
			case 0:
				s.ordinals = []int{0, 1, 2}
			case 1:
				s.ordinals = []int{1, 2, 3, 4, 7}
			case 2:
				s.whenDeleted = !s.whenDeleted
			case 3:
				s.ordinals = nil
			}
			want := countedClaims(&s)
			for _, s.view.Answers = range []*cluster.Answers{nil, &remembered} {
				s.countClaims()
				if diff := cmp.Diff(want, s.claims, cmp.AllowUnexported(claimCounts{})); diff != "" {
					t.Fatalf("seed %d, pass %d (-want +got):\n%s", seed, pass, diff)
				}
			}
		}
	}
}

// changedClaims puts a claim into a sorted list, in place of the one of its name, or takes that out.
func changedClaims(r *rand.Rand, claims []*cluster.Claim, c *cluster.Claim) []*cluster.Claim {
	claims = slices.Clone(claims)
	place, found := slices.BinarySearchFunc(claims, c.Name, func(c *cluster.Claim, name string) int { return strings.Compare(c.Name, name) })
	switch {
	case found && r.IntN(3) == 0:
		return slices.Delete(claims, place, place+1)
	case found:
		claims[place] = c
		return claims
	}
	return slices.Insert(claims, place, c)
}
