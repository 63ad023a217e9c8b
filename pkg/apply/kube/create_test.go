package kube

import (
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// TestStepIDOf_SameForTheSameStart: a step has the same ID on every machine, and another when
// it starts again.
func TestStepIDOf_SameForTheSameStart(t *testing.T) {
	ref := cluster.Ref{Kind: "CloneSet", Namespace: "shop", Name: "web"}
	at := time.Date(2026, 7, 1, 12, 0, 0, 5, time.UTC)
	first := stepIDOf(ref, plan.Progress{Step: 1, Started: at})
	for name, p := range map[string]plan.Progress{
		"next step": {Step: 2, Started: at}, "again": {Step: 1, Started: at.Add(time.Nanosecond)},
	} {
		if stepIDOf(ref, p) == first {
			t.Errorf("%s has the same ID", name)
		}
	}
	if stepIDOf(ref, plan.Progress{Step: 1, Started: at.In(time.FixedZone("x", 3600)), Resumed: at.Add(time.Hour), Sent: 1}) != first {
		t.Error("the ID depends on more than the start of the step")
	}
	long := first.objectName("a-very-long-name-of-a-workload-that-would-hardly-be-typed.-by-hand", "web:2")
	if len(long) > 63 || long == first.objectName("a-very-long-name-of-a-workload-that-would-hardly-be-typed.-by-hand", "web:3") {
		t.Error(long)
	}
}
