package rules

import (
	"fmt"
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// BenchmarkChooseUpdate is the worst that a planner asks: many pods, priority,
// scatter and a budget.
func BenchmarkChooseUpdate(b *testing.B) {
	for _, n := range []int{1000, 10000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			set := crowd(int32(n))
			for b.Loop() {
				if got := len(set.ChooseUpdate().Pods); got != n/5 {
					b.Fatal(got)
				}
			}
		})
	}
}

// crowd is a CloneSet of n old pods in three tiers and two shards.
func crowd(n int32) *CloneSet {
	rolling := &kruise.RollingUpdateCloneSetStrategy{
		MaxUnavailable:   value("20%"),
		PriorityStrategy: &kruise.UpdatePriorityStrategy{OrderPriority: []kruise.UpdatePriorityOrderTerm{{OrderedKey: "tier"}}},
		ScatterStrategy:  []kruise.UpdateScatterTerm{{Key: "shard", Value: "a"}, {Key: "shard", Value: "b"}},
	}
	set := &CloneSet{Spec: &kruise.CloneSetSpec{Replicas: &n}, Current: "web-o", Update: "web-n", Now: now}
	set.Spec.UpdateStrategy.RollingUpdate = rolling
	for i := range int(n) {
		p := pod(fmt.Sprintf("web-%05d", i*7919%int(n)), "o")
		p.Labels["tier"], p.Labels["shard"] = fmt.Sprint("t-", i%3), string("abc"[i%3])
		setReady(p, true, t0.Add(time.Duration(i%500)*time.Second))
		set.Pods = append(set.Pods, p)
	}
	return set
}

// TestBenchmark_KeepsEveryPod keeps the benchmark honest: no pod is lost on the way.
func TestBenchmark_KeepsEveryPod(t *testing.T) {
	set := crowd(300)
	seen := map[*cluster.Pod]bool{}
	for _, p := range set.updateCandidates(false) {
		seen[p] = true
	}
	if len(seen) != 300 {
		t.Errorf("%d of 300 pods are in the order", len(seen))
	}
}
