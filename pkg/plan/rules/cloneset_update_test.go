package rules

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

const budget2 = "replicas: 10\nupdateStrategy: {rollingUpdate: {maxUnavailable: 2}}"

// TestChooseUpdate are the examples of docs/kruise/workloads.md#worked-examples that pick pods;
// p1 has been ready for longest.
func TestChooseUpdate(t *testing.T) {
	for _, c := range []struct {
		name, spec, pods string
		rollback, back   bool
		want, order, why string
	}{
		{"1 two of ten", budget2, "10*o", false, false, "p10 p9", "p10 p9 p8 p7 p6 p5 p4 p3 p2 p1", "p8 waits"},
		{"1 both in the air", budget2, "8*o 2*n!", false, false, "", "p8 p7 p6 p5 p4 p3 p2 p1", "p8 waits"},
		{"1 one is back", budget2, "8*o n! n", false, false, "p8", "p8 p7 p6 p5 p4 p3 p2 p1", "p7 waits"},
		{"2 surge in use", surge7, "7*o n!", false, false, "p7", "p7 p6 p5 p4 p3 p2", "p6 waits"},
		{"3 paused", surge7paused, "7*o n!", false, false, "", "p7 p6 p5 p4 p3 p2", "paused"},
		{"6 partition raised, gate off", "replicas: 10\nupdateStrategy: {rollingUpdate: {partition: 8}}", "5*o 5*n", false, false, "", "", "partition"},
		{"6 partition raised, gate on", "replicas: 10\nupdateStrategy: {rollingUpdate: {partition: 8}}", "5*o 5*n", true, true, "p10 p9", "p10 p9 p8", "p8 waits"},
		{"6 one later", "replicas: 10\nupdateStrategy: {rollingUpdate: {partition: 8}}", "5*o 2*o! 3*n", true, true, "", "p10", "p10 waits"},
		{"7 three broken", budget2, "3*o! 7*o", false, false, "p3 p2", "p3 p2 p1 p10 p9 p8 p7 p6 p5 p4", "p1 waits"},
		{"7 broken on both sides", budget2, "o! 2*n! 7*o", false, false, "", "p1 p10 p9 p8 p7 p6 p5 p4", "p1 waits"},
		{"7 one and one", budget2, "o! n! 8*o", false, false, "p1", "p1 p10 p9 p8 p7 p6 p5 p4 p3", "p10 waits"},
		{"11 recreate", recreate4, "4*o", false, false, "p4", "p4 p3", "p3 waits"},
		{"11 replacement not ready", recreate4, "3*o n!", false, false, "", "p3", "p3 waits"},
		{"11 next", recreate4, "3*o n", false, false, "p3", "p3", "all"},
		{"11 done", recreate4, "2*o 2*n", false, false, "", "", "partition"},
		{"12 surge pods not ready", surge4, "4*o 2*n!", false, false, "", "p4 p3", "p4 waits"},
		{"12 surge pods ready", surge4, "4*o 2*n", false, false, "p4 p3", "p4 p3", "all"},
		{"preDelete hold uses the budget up", "replicas: 5\nupdateStrategy: {rollingUpdate: {maxUnavailable: 1}}", "4*o o=", false, false, "", "p4 p3 p2 p1", "p4 waits"},
		{"three revisions", "replicas: 10\nupdateStrategy: {rollingUpdate: {partition: 5, maxUnavailable: 2}}", "a b a b a b a b a b", false, false, "p10 p9", "p10 p9 p8 p7 p6", "p8 waits"},
		{"PreparingUpdate goes on first", budget2, "o o~ 8*o", false, false, "p2 p10", "p2 p10 p9 p8 p7 p6 p5 p4 p3 p1", "p9 waits"},
		{"OnDelete", "replicas: 3\nupdateStrategy: {type: OnDelete}", "3*o", false, false, "", "", "OnDelete"},
		{"nothing may be down", "replicas: 3\nupdateStrategy: {rollingUpdate: {maxUnavailable: 0}}", "3*o", false, false, "", "p3 p2 p1", "p3 waits"},
		{"everything at once", "replicas: 3\nupdateStrategy: {rollingUpdate: {maxUnavailable: 100%}}", "3*o", false, false, "p3 p2 p1", "p3 p2 p1", "all"},
	} {
		t.Run(c.name, func(t *testing.T) {
			set := cloneSet(t, c.spec, c.pods)
			set.Gates.CloneSetPartitionRollback = c.rollback
			got := set.ChooseUpdate()
			if names(got.Pods) != c.want {
				t.Errorf("takes %q, want %q", names(got.Pods), c.want)
			}
			if names(got.Order) != c.order {
				t.Errorf("order %q, want %q", names(got.Order), c.order)
			}
			if got.Back != c.back || !strings.Contains(got.Why, c.why) {
				t.Errorf("back %v, why %q", got.Back, got.Why)
			}
		})
	}
}

// TestChooseUpdate_Skips: pods in their grace period and held deletions are no
// candidates, whatever their revision.
func TestChooseUpdate_Skips(t *testing.T) {
	set := cloneSet(t, budget2, "10*o")
	set.Pods[9].Annotations = map[string]string{kruise.InPlaceUpdateGraceAnnotation: "{}"}
	setState(set.Pods[8], StatePreparingDelete)
	if got := names(set.ChooseUpdate().Order); got != "p8 p7 p6 p5 p4 p3 p2 p1" {
		t.Errorf("order %s", got)
	}
}

// TestChooseUpdate_MinReady: a pod that is ready, but not for long enough, is not
// available and uses the budget up.
func TestChooseUpdate_MinReady(t *testing.T) {
	set := cloneSet(t, "replicas: 3\nminReadySeconds: 60\nupdateStrategy: {rollingUpdate: {maxUnavailable: 1}}", "2*o n")
	setReady(set.Pods[2], true, now.Add(-seconds(30)))
	if got := set.ChooseUpdate(); len(got.Pods) != 0 {
		t.Errorf("takes %s", names(got.Pods))
	}
	set.Now = now.Add(seconds(31))
	if got := names(set.ChooseUpdate().Pods); got != "p2" {
		t.Errorf("takes %q a minute later", got)
	}
}

// TestUpdateOrder_OfAllStrategies: priority first, then scatter, as recorded in
// 029 and 030.
func TestUpdateOrder_OfAllStrategies(t *testing.T) {
	set := cloneSet(t, `
replicas: 8
updateStrategy:
  rollingUpdate:
    maxUnavailable: 1
    priorityStrategy: {weightPriority: [{weight: 100, matchSelector: {matchLabels: {tier: high}}}]}
    scatterStrategy: [{key: shard, value: a}]
`, "8*o")
	for i, p := range set.Pods {
		if i < 2 {
			p.Labels["tier"] = "high"
		}
		if i == 1 || i >= 5 {
			p.Labels["shard"] = "a"
		}
	}
	// By priority: 2 1 | 8 7 6 5 4 3, of which 2 8 7 6 have the label.
	if got, want := names(set.updateCandidates(false)), "p2 p1 p8 p5 p7 p4 p3 p6"; got != want {
		t.Errorf("order %s, want %s", got, want)
	}
}

// TestChooseUpdate_IsPure: the same question twice has the same answer, and the
// order of the pods in it does not matter.
func TestChooseUpdate_IsPure(t *testing.T) {
	set := cloneSet(t, budget2, "o! 2*n 3*o n! 3*o")
	for _, p := range set.Pods {
		setReady(p, podReady(p), t0)
		p.Created = t0
	}
	first := set.ChooseUpdate()
	for i, j := 0, len(set.Pods)-1; i < j; i, j = i+1, j-1 {
		set.Pods[i], set.Pods[j] = set.Pods[j], set.Pods[i]
	}
	second := set.ChooseUpdate()
	if names(first.Pods) != names(second.Pods) || names(first.Order) != names(second.Order) || first.Why != second.Why {
		t.Errorf("%s (%s), then %s (%s)", names(first.Pods), first.Why, names(second.Pods), second.Why)
	}
}

// TestTakeUpdate: a controller takes the pods of the whole choice, and has a reason if it takes
// none.
func TestTakeUpdate(t *testing.T) {
	for _, c := range []struct {
		name, spec, pods, why string
		taken                 int
	}{
		{"some", "replicas: 4\nupdateStrategy: {rollingUpdate: {maxUnavailable: 2}}", "4*o", "p2 waits", 2},
		{"all", "replicas: 2\nupdateStrategy: {rollingUpdate: {maxUnavailable: 2}}", "2*o", "these are all", 2},
		{"updated pods are down", "replicas: 4\nupdateStrategy: {rollingUpdate: {maxUnavailable: 2}}", "2*o 2*n!", "2 pods of the target revision are not available yet, at most 2: the next pod waits", 0},
		{"no room, and no pod is down anyway", "replicas: 4\nupdateStrategy: {rollingUpdate: {maxUnavailable: 0, maxSurge: 1}}", "3*o n", "0 pods of the target revision are not available yet, at most 0: the next pod waits", 0},
		{"one is down anyway", "replicas: 4\nupdateStrategy: {rollingUpdate: {maxUnavailable: 1}}", "2*o o! n", "p2 waits", 1},
		{"marked pods use the budget up", "replicas: 5\nupdateStrategy: {rollingUpdate: {maxUnavailable: 2}}", "2*o 2*n= n", "the next pod waits", 0},
		{"done", "replicas: 2", "2*n", "as many pods are updated", 0},
		{"paused", "replicas: 2\nupdateStrategy: {rollingUpdate: {paused: true}}", "2*o", "paused", 0},
		{"OnDelete", "replicas: 2\nupdateStrategy: {type: OnDelete}", "2*o", "OnDelete", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			set := cloneSet(t, c.spec, c.pods)
			whole, got := set.ChooseUpdate(), set.TakeUpdate()
			if !slices.Equal(whole.Pods, got.Pods) || whole.Back != got.Back {
				t.Errorf("takes %d pods, the whole choice %d", len(got.Pods), len(whole.Pods))
			}
			if len(got.Pods) != c.taken || got.Order != nil {
				t.Errorf("%d taken, want %d, and an order of %d, want none", len(got.Pods), c.taken, len(got.Order))
			}
			expect(t, "why", Pending{got.Why}, c.why)
		})
	}
}
