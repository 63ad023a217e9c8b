package rules

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

func TestScaleDownOrder(t *testing.T) {
	for _, c := range []struct {
		name, pods string
		edit       func([]*cluster.Pod)
		want       string
	}{
		{"most recently ready first", "4*n", nil, "p4 p3 p2 p1"},
		{"not ready first", "n n! n n", nil, "p2 p4 p3 p1"},
		{"unassigned, pending, unknown", "4*n", func(l []*cluster.Pod) {
			l[0].Node, l[1].Phase, l[2].Phase = "", corev1.PodPending, corev1.PodUnknown
		}, "p1 p2 p3 p4"},
		{"not available before not ready is asked", "n n! n~ n", nil, "p2 p3 p4 p1"},
		{"deletion cost", "4*n", func(l []*cluster.Pod) {
			cost(l[0], "-10")
			cost(l[1], "5")
			cost(l[2], "nonsense")
		}, "p1 p4 p3 p2"},
		{"a not ready pod beats its cost", "n n! n", func(l []*cluster.Pod) { cost(l[1], "100") }, "p2 p3 p1"},
		{"crowded nodes first", "5*n", func(l []*cluster.Pod) {
			for _, i := range []int{0, 1, 2} {
				l[i].Node = "crowded"
			}
		}, "p3 p2 p5 p4 p1"},
		{"cost before rank", "3*n", func(l []*cluster.Pod) {
			l[0].Node, l[1].Node = "crowded", "crowded"
			cost(l[2], "-1")
		}, "p3 p2 p1"},
		{"more restarts", "2*n", func(l []*cluster.Pod) {
			for _, p := range l {
				setReady(p, true, t0)
			}
			l[0].Containers[0].Restarts = 3
		}, "p1 p2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			set := cloneSet(t, "replicas: 1", c.pods)
			if c.edit != nil {
				c.edit(set.Pods)
			}
			if got := names(set.ScaleDownOrder(set.Pods)); got != c.want {
				t.Errorf("order %s, want %s", got, c.want)
			}
		})
	}
}

func cost(p *cluster.Pod, v string) {
	p.Annotations = map[string]string{corev1.PodDeletionCost: v}
}

// TestVictims: which side gives, by downOld.
func TestVictims(t *testing.T) {
	set := cloneSet(t, "replicas: 1", "3*o 3*n")
	for _, c := range []struct {
		n, old int
		want   string
	}{
		{2, 5, "p3 p2"},
		{2, 2, "p3 p2"},
		{2, 1, "p3 p6"},
		{2, 0, "p6 p5"},
		{5, 3, "p3 p2 p1 p6 p5"},
		{9, 9, "p3 p2 p1"},
		{0, 3, ""},
	} {
		if got := names(set.Victims(c.n, c.old)); got != c.want {
			t.Errorf("Victims(%d, %d) = %q, want %q", c.n, c.old, got, c.want)
		}
	}
}

// TestScaleDownSpread: with a spread constraint the crowded zone gives first,
// node by node does not matter.
func TestScaleDownSpread(t *testing.T) {
	zone := map[string]string{"n-p1": "a", "n-p2": "a", "n-p3": "a", "n-p4": "b", "n-p5": "c", "n-p6": "c"}
	set := cloneSet(t, "replicas: 1", "6*n")
	set.Nodes = map[string]*cluster.Node{}
	for name, z := range zone {
		set.Nodes[name] = &cluster.Node{Name: name, Labels: map[string]string{"zone": z}}
	}
	constraint := corev1.TopologySpreadConstraint{TopologyKey: "zone", MaxSkew: 1}
	set.Spec.Template.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{constraint}
	// Zone a: p3 3, p2 2, p1 1; zone b: p4 1; zone c: p6 2, p5 1, times ln 5.
	if got, want := names(set.ScaleDownOrder(set.Pods)), "p3 p6 p2 p5 p4 p1"; got != want {
		t.Errorf("order %s, want %s", got, want)
	}
	// A second constraint adds up: on one host p1, p4 and p5 get 3, 2 and 1.
	for _, name := range []string{"n-p1", "n-p4", "n-p5"} {
		set.Nodes[name].Labels["host"] = "h"
	}
	host := corev1.TopologySpreadConstraint{TopologyKey: "host", MaxSkew: 1}
	set.Spec.Template.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{constraint, host}
	// ln 5 = 1.61 per zone step, ln 3 = 1.10 per host step:
	// p5 1.61+3.30, p3 4.83, p4 1.61+2.20, p6 3.22, p2 3.22, p1 1.61+1.10.
	if got, want := names(set.ScaleDownOrder(set.Pods)), "p5 p3 p4 p6 p2 p1"; got != want {
		t.Errorf("two constraints: order %s, want %s", got, want)
	}
	// Nodes that nobody knows leave all alike.
	set.Nodes = nil
	if got, want := names(set.ScaleDownOrder(set.Pods)), "p6 p5 p4 p3 p2 p1"; got != want {
		t.Errorf("no nodes: order %s, want %s", got, want)
	}
}
