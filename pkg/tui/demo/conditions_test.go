package demo_test

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// TestConditions_AgreeWithEachOther: pods have the conditions that a node sets, and at no time
// does one say something else than the containers and the readiness gates beside it.
func TestConditions_AgreeWithEachOther(t *testing.T) {
	c := open(t)
	seen := map[bool]int{}
	for range 240 {
		for _, row := range look(t, c, world.Want{}).Workloads {
			for _, p := range look(t, c, world.Want{Workload: row.Ref}).Detail.Snapshot.Pods {
				if p.Node != "" {
					seen[agree(t, p)]++
				}
			}
		}
		if err := c.Advance(500 * time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
	if seen[true] == 0 || seen[false] == 0 {
		t.Errorf("%v: no pod becomes ready", seen)
	}
}

// agree holds a pod's conditions against the pod, and reports whether it is ready.
func agree(t *testing.T, p *cluster.Pod) bool {
	t.Helper()
	unready := slices.ContainsFunc(p.Containers, func(c cluster.Container) bool { return !c.Ready })
	shut := slices.ContainsFunc(p.ReadinessGates, func(gate string) bool {
		c, _ := p.Condition(gate)
		return c.Status != corev1.ConditionTrue
	})
	for kind, want := range map[corev1.PodConditionType]bool{corev1.ContainersReady: !unready, corev1.PodReady: !unready && !shut} {
		if got, ok := p.Condition(string(kind)); !ok || (got.Status == corev1.ConditionTrue) != want {
			t.Fatalf("%s: %s is %q (%s), want %v", p.Name, kind, got.Status, got.Message, want)
		}
	}
	return !unready && !shut
}
