package plan

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// TestExactPartition_UpdatesExactlyTheCount: whatever number of pods is wanted, as a number or as a
// percentage, the rules let exactly so many follow the partition that is chosen.
func TestExactPartition_UpdatesExactlyTheCount(t *testing.T) {
	kinds := map[string]func(total int) partition{
		"CloneSet":  func(total int) partition { return cloneSetPartition(total) },
		"DaemonSet": func(total int) partition { return daemonSetPartition(total) },
	}
	for name, of := range kinds {
		percents := 0
		for _, total := range []int{1, 2, 3, 4, 5, 7, 8, 10, 11, 33, 99, 100, 101, 250, 1000, 10000} {
			of := of(total)
			for updated := range total + 1 {
				for _, percent := range []bool{false, true} {
					v := exactPartition(of, updated, percent)
					if got := of.allowed(v); got != updated {
						t.Fatalf("%s: %s of %d lets %d follow, want %d", name, v.String(), total, got, updated)
					}
					if !percent && v.Type == intstr.String && updated > 0 {
						t.Fatalf("%s: a percentage where a number was asked for", name)
					}
					if percent && v.Type == intstr.String {
						percents++
					}
				}
			}
		}
		if percents < 500 {
			t.Errorf("%s: only %d times a percentage", name, percents)
		}
	}
}

// TestExactPartition_Examples: docs/kruise/workloads.md#partition and
// docs/kruise/workloads.md#worked-examples, examples 4 and 17.
func TestExactPartition_Examples(t *testing.T) {
	for _, c := range []struct {
		kind           string
		total, updated int
		percent        bool
		want           string
	}{
		{"CloneSet", 5, 1, true, "80%"},
		{"CloneSet", 5, 0, true, "100%"},
		{"CloneSet", 10, 6, true, "40%"},
		{"CloneSet", 8, 1, true, "87%"},
		{"CloneSet", 8, 1, false, "7"},
		{"CloneSet", 1, 0, false, "100%"},
		{"CloneSet", 1, 1, true, "0"},
		{"DaemonSet", 5, 3, true, "40%"},
		{"DaemonSet", 5, 1, true, "80%"},
		{"DaemonSet", 3, 1, true, "67%"},
		{"CloneSet", 10000, 1, true, "9999"},
	} {
		var of partition = cloneSetPartition(c.total)
		if c.kind == "DaemonSet" {
			of = daemonSetPartition(c.total)
		}
		v := exactPartition(of, c.updated, c.percent)
		if v.String() != c.want {
			t.Errorf("%s, %d of %d: %s, want %s", c.kind, c.updated, c.total, v.String(), c.want)
		}
	}
}

// TestKindOf_NoWorkload: a snapshot whose object is of no kind that is rolled out is
// asked everything without a panic, and a template put into it is an error.
func TestKindOf_NoWorkload(t *testing.T) {
	for _, obj := range []any{nil, &corev1.Pod{}} {
		w := &cluster.Workload{Object: obj}
		k := kindOf(obj)
		r := &rollout{snap: &Snapshot{Workload: w}, plan: &Plan{}}
		if k.clientSpec(nil) != nil || k.restartSpec(nil) != nil || k.surges() || len(k.ordering()) > 0 ||
			len(k.stepPending(r)) > 0 || len(k.rolloutPending(r)) > 0 || k.revision(r) != "" || k.updatedTest(r)(&cluster.Pod{}) {
			t.Errorf("%T is treated as a workload", obj)
		}
		if _, err := WithTemplate(w, map[string]any{}); err == nil {
			t.Errorf("a template was put into %T", obj)
		}
	}
}
