package rules

import (
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// TestBudgetDecideAt: the webhook goes by the counts it is given, the pods as they
// are it does not look at.
func TestBudgetDecideAt(t *testing.T) {
	b := budget(t, "maxUnavailable: 1", 3, "n 2*n!")
	for _, c := range []struct {
		name          string
		counts        BudgetCounts
		allow, record bool
	}{
		{"one more", BudgetCounts{3, 2, 3, 1}, true, true},
		{"none", BudgetCounts{3, 2, 2, 0}, false, false},
		{"none is asked for", BudgetCounts{-1, 0, 1, 0}, true, false},
	} {
		got := b.DecideAt(c.counts, Request{Pod: b.Pods[0], Operation: kruise.PubDeleteOperation})
		if got.Allowed != c.allow || got.Record != c.record {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
	if got := b.DecideAt(BudgetCounts{3, 2, 0, 0}, Request{Pod: b.Pods[1], Operation: kruise.PubDeleteOperation}); !got.Allowed || got.Record {
		t.Errorf("an unready pod: %+v", got)
	}
}

func TestEvictAt(t *testing.T) {
	b := disruptionBudget(t, "maxUnavailable: 1", 3, "n 2*n!")
	if got := b.EvictAt(BudgetCounts{3, 2, 3, 1}, b.Pods[0]); !got.Allowed || !got.Record {
		t.Errorf("one more: %+v", got)
	}
	if got := b.EvictAt(BudgetCounts{3, 2, 2, 0}, b.Pods[0]); got.Allowed {
		t.Errorf("none: %+v", got)
	}
}
