package controller

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// countedClaims counts as [ClaimSurvey] does, with a look at every claim for every ordinal.
func countedClaims(claims []*cluster.Claim, q claimQuestion) (existing []int32, foreign, leaving int) {
	have := map[string]bool{}
	for _, c := range claims {
		have[c.Name] = !c.Deleting
		if c.Owner != q.owner {
			foreign++
		}
		if c.Deleting || c.Owner.Kind == "Pod" {
			leaving++
		}
	}
	existing = make([]int32, len(q.templates))
	for i, template := range q.templates {
		for _, ordinal := range q.ordinals {
			if have[fmt.Sprintf("%s-%s-%d", template, q.workload, ordinal)] {
				existing[i]++
			}
		}
	}
	return existing, foreign, leaving
}

// TestClaimSurvey_CountsAsALookAtEveryClaim changes random claims between passes, and sometimes what
// is asked of them.
func TestClaimSurvey_CountsAsALookAtEveryClaim(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 7))
		q := claimQuestion{workload: "web", templates: []string{"data", "data-web", "logs"}, ordinals: []int{0, 1, 2, 4, 5}}
		var survey, recorded ClaimSurvey
		var record cluster.Changes[ClaimChange]
		var claims []*cluster.Claim
		for pass := range 60 {
			for range r.IntN(3) {
				c := &cluster.Claim{Namespace: "shop", Name: fmt.Sprintf("%s-web-%s", q.templates[r.IntN(3)], []string{"0", "1", "2", "3", "4", "07", "x", "-1"}[r.IntN(8)])}
				c.Deleting = r.IntN(4) == 0
				c.Owner = []cluster.Owner{{}, {}, {Kind: "Pod", Name: "web-1"}, {Kind: "StatefulSet", Name: "web", UID: "w"}}[r.IntN(4)]
				place, found := slices.BinarySearchFunc(claims, c.Name, func(c *cluster.Claim, name string) int { return strings.Compare(c.Name, name) })
				change := ClaimChange{After: c}
				if found {
					change.Before = claims[place]
				}
				switch {
				case found && r.IntN(3) == 0:
					change.After = nil
					claims = slices.Delete(claims, place, place+1)
				case found:
					claims[place] = c
				default:
					claims = slices.Insert(claims, place, c)
				}
				record.Add(change, len(claims))
			}
			switch r.IntN(15) {
			case 0:
				q.ordinals = []int{0, 1, 2}
			case 1:
				q.ordinals = []int{0, 1, 2, 3, 4}
			case 2:
				q.owner = cluster.Owner{Kind: "StatefulSet", Name: "web", UID: "w"}
			}
			survey.renew(claims, nil, q)
			recorded.renew(claims, &record, q)
			existing, foreign, leaving := countedClaims(claims, q)
			for _, s := range []*ClaimSurvey{&survey, &recorded} {
				if diff := cmp.Diff(existing, s.existing); diff != "" || foreign != s.foreign || leaving != s.leaving {
					t.Fatalf("seed %d, pass %d: %d foreign, %d leaving, want %d, %d; existing (-want +got):\n%s", seed, pass, s.foreign, s.leaving, foreign, leaving, diff)
				}
			}
		}
	}
}
