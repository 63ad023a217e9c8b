package rules

import (
	"slices"
	"testing"
)

// TestTakeUpdate: what a controller takes is what the whole choice takes, and it
// says why it does not even look.
func TestTakeUpdate(t *testing.T) {
	for _, c := range []struct {
		name, spec, pods, why string
		taken, order          int
	}{
		{"some", "replicas: 4\nupdateStrategy: {rollingUpdate: {maxUnavailable: 2}}", "4*o", "p2 waits", 2, 4},
		{"all", "replicas: 2\nupdateStrategy: {rollingUpdate: {maxUnavailable: 2}}", "2*o", "these are all", 2, 2},
		{"updated pods are down", "replicas: 4\nupdateStrategy: {rollingUpdate: {maxUnavailable: 2}}", "2*o 2*n!", "2 pods of the target revision are not available yet, at most 2: the next pod waits", 0, 0},
		{"no room, and no pod is down anyway", "replicas: 4\nupdateStrategy: {rollingUpdate: {maxUnavailable: 0, maxSurge: 1}}", "3*o n", "0 pods of the target revision are not available yet, at most 0: the next pod waits", 0, 0},
		{"one is down anyway", "replicas: 4\nupdateStrategy: {rollingUpdate: {maxUnavailable: 1}}", "2*o o! n", "p2 waits", 1, 3},
		{"marked pods use the budget up", "replicas: 5\nupdateStrategy: {rollingUpdate: {maxUnavailable: 2}}", "2*o 2*n= n", "the next pod waits", 0, 0},
		{"done", "replicas: 2", "2*n", "as many pods are updated", 0, 0},
		{"paused", "replicas: 2\nupdateStrategy: {rollingUpdate: {paused: true}}", "2*o", "paused", 0, 0},
		{"OnDelete", "replicas: 2\nupdateStrategy: {type: OnDelete}", "2*o", "OnDelete", 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			set := cloneSet(t, c.spec, c.pods)
			whole, got := set.ChooseUpdate(), set.TakeUpdate()
			if !slices.Equal(whole.Pods, got.Pods) || whole.Back != got.Back {
				t.Errorf("takes %d pods, the whole choice %d", len(got.Pods), len(whole.Pods))
			}
			if len(got.Pods) != c.taken || len(got.Order) != c.order {
				t.Errorf("%d of %d taken, want %d of %d", len(got.Pods), len(got.Order), c.taken, c.order)
			}
			expect(t, "why", Pending{got.Why}, c.why)
			set.Counted = new(set.Count(false))
			if again := set.TakeUpdate(); !slices.Equal(again.Pods, got.Pods) || again.Why != got.Why {
				t.Errorf("with counts that are known: %d pods, %s", len(again.Pods), again.Why)
			}
		})
	}
}

// TestCountedIsNotForScaling: the gate that counts differently for scaling has
// the pods counted anew.
func TestCountedIsNotForScaling(t *testing.T) {
	c := cloneSet(t, "replicas: 4", "o 2*o~ n")
	c.Counted = new(c.Count(false))
	if n := c.Count(true); n != *c.Counted {
		t.Errorf("without the gate: %+v", n)
	}
	c.Gates.PreparingUpdateAsUpdate = true
	if n := c.Count(true); n.New.Active != 3 {
		t.Errorf("with the gate: %+v", n)
	}
}
