package rules

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// TestSurveyChangesNothing: whatever happens to the pods, the list and the spec
// between two looks, a CloneSet with a survey and one without see the same.
func TestSurveyChangesNothing(t *testing.T) {
	specs := []string{
		"replicas: 9\nupdateStrategy: {rollingUpdate: {maxUnavailable: 3}}",
		"replicas: 9\nminReadySeconds: 60",
		"replicas: 9\nupdateStrategy: {rollingUpdate: {partition: 4, maxUnavailable: 9, priorityStrategy: {weightPriority: [{weight: 1, matchSelector: {matchLabels: {shard: b}}}]}}}",
		"replicas: 9\nupdateStrategy: {rollingUpdate: {maxUnavailable: 9, priorityStrategy: {orderPriority: [{orderedKey: shard}]}, scatterStrategy: [{key: shard, value: a}]}}",
		"replicas: 9\nscaleStrategy: {podsToDelete: [p2, p5]}",
	}
	for seed := range 300 {
		rng := rand.New(rand.NewPCG(uint64(seed), 7))
		set := cloneSet(t, specs[0], "9*o")
		set.Survey = &Survey{}
		for look := range 25 {
			if rng.IntN(6) == 0 {
				set.Spec = cloneSet(t, specs[rng.IntN(len(specs))], "").Spec
			}
			if rng.IntN(10) == 0 {
				set.Update, set.Current = set.Current, set.Update
			}
			for range rng.IntN(3) {
				disturb(t, rng, set)
			}
			fresh := *set
			fresh.Survey = nil
			if diff := cmp.Diff(answersOf(&fresh), answersOf(set)); diff != "" {
				t.Fatalf("seed %d, look %d (-without, +with a survey):\n%s", seed, look, diff)
			}
		}
	}
}

func answersOf(c *CloneSet) []any {
	choice := c.ChooseUpdate()
	return []any{
		c.Count(false), names(c.UpdateCandidates(false)), names(c.UpdateCandidates(true)),
		names(choice.Pods), choice.Why, names(c.Restless()), names(c.Queue().Take(3)),
	}
}

// disturb replaces, adds or removes a pod, as the store of a simulator does.
func disturb(t *testing.T, rng *rand.Rand, c *CloneSet) {
	t.Helper()
	words := []string{"o", "n", "o!", "n!", "o-", "n=", "o^"}
	p := pods(t, words[rng.IntN(len(words))])[0]
	p.Name = "p" + itoa(rng.IntN(20)+1)
	p.UID = p.Name
	p.Labels["shard"] = string(rune('a' + rng.IntN(3)))
	if rng.IntN(3) == 0 {
		setState(p, []LifecycleState{StateNormal, StatePreparingUpdate, StateUpdating}[rng.IntN(3)])
	}
	if rng.IntN(5) == 0 {
		p.Annotations = map[string]string{kruise.InPlaceUpdateGraceAnnotation: "{}"}
	}
	list := append([]*cluster.Pod(nil), c.Pods...)
	i := rng.IntN(len(list))
	switch rng.IntN(6) {
	case 0:
		list = append(list, p)
	case 1:
		if last := len(list) - 1; last > 0 {
			list[i], list = list[last], list[:last]
		}
	case 2:
		j := rng.IntN(len(list))
		list[i], list[j] = list[j], list[i]
	default:
		list[i] = p
	}
	c.Pods = list
}

// TestUpdateCandidates_RememberLabels: labels that are remembered scatter pods as labels that
// are looked up do, also after pods or terms have changed.
func TestUpdateCandidates_RememberLabels(t *testing.T) {
	specs := []string{
		"replicas: 9",
		"replicas: 9\nupdateStrategy: {rollingUpdate: {scatterStrategy: [{key: shard, value: a}]}}",
		"replicas: 9\nupdateStrategy: {rollingUpdate: {scatterStrategy: [{key: shard, value: b}, {key: shard, value: a}]}}",
		"replicas: 9\nupdateStrategy: {rollingUpdate: {scatterStrategy: [" + strings.Repeat("{key: shard, value: c}, ", 65) + "{key: shard, value: a}]}}",
	}
	for seed := range 200 {
		rng := rand.New(rand.NewPCG(uint64(seed), 8))
		set := cloneSet(t, specs[0], "12*o")
		set.Survey = &Survey{}
		for look := range 12 {
			set.Spec = cloneSet(t, specs[rng.IntN(len(specs))], "").Spec
			for range 3 {
				at := rng.IntN(len(set.Pods))
				p := pods(t, []string{"o", "n", "o!", "o-", "o^"}[rng.IntN(5)])[0]
				p.Name, p.UID = set.Pods[at].Name, set.Pods[at].UID
				p.Labels["shard"] = string("abc"[rng.IntN(3)])
				set.Pods = slices.Clone(set.Pods)
				set.Pods[at] = p
			}
			want := preparedFirst(scatter(set.candidates(false), set.active(), set.rolling().ScatterStrategy))
			if got := set.UpdateCandidates(false); names(got) != names(want) {
				t.Fatalf("seed %d, look %d: %s, want %s", seed, look, names(got), names(want))
			}
		}
	}
}
