package rules

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// TestOrdinalSurvey_KeepsTheOrderByPriority changes a few or many of a hundred pods between passes, and
// sometimes the strategy: the order that is kept is that of a sort.
func TestOrdinalSurvey_KeepsTheOrderByPriority(t *testing.T) {
	const head = "replicas: 100\npodManagementPolicy: Parallel\nupdateStrategy: {rollingUpdate: {maxUnavailable: 3, partition: 20, unorderedUpdate: {priorityStrategy: "
	var specs []*StatefulSet
	for _, strategy := range []string{
		"{orderPriority: [{orderedKey: rank}]}",
		"{weightPriority: [{weight: 30, matchSelector: {matchLabels: {rank: '1'}}}, {weight: 50, matchSelector: {matchLabels: {rank: '2'}}}]}",
	} {
		specs = append(specs, statefulSet(t, head+strategy+"}}}", ""))
	}
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 13))
		var words []string
		for i := range 100 {
			words = append(words, itoa(i)+"o")
		}
		set := statefulSet(t, head+"{orderPriority: [{orderedKey: rank}]}}}}", strings.Join(words, " "))
		set.PodChanges = &cluster.PodChanges{}
		var survey OrdinalSurvey
		for pass := range 30 {
			if r.IntN(8) == 0 {
				set.Spec = specs[r.IntN(len(specs))].Spec
			}
			for range []int{0, 1, 3, 20, 60}[r.IntN(5)] {
				place := r.IntN(len(set.Pods))
				p := flagged(t, set.Pods[place].Name, []string{"o", "o", "n", "n!", "o-"}[r.IntN(5)])
				p.Labels["rank"] = itoa(r.IntN(4))
				set.Pods[place] = p
				set.PodChanges.Add(place, len(set.Pods))
			}
			set.Remember(&survey)
			want := filter(set.UpdateTargets(), func(p *cluster.Pod) bool { return !set.updated(p) && !p.Deleting })
			got := slices.Collect(set.outdated(&survey, LimitsOfStatefulSet(set.Spec).MaxUpdate()))
			if names(got) != names(want) {
				t.Fatalf("seed %d, pass %d: outdated are\n%s, want\n%s", seed, pass, names(got), names(want))
			}
		}
	}
}
