package rules

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// TestQueue_IsTheOrder: what a queue gives at once is the order of candidates, and
// what it gives in steps is what Kruise would choose with the earlier ones
// updated.
func TestQueue_IsTheOrder(t *testing.T) {
	set := crowd(120)
	q, want := set.Queue(), names(set.updateCandidates(false))
	if got := names(q.Take(500)); got != want || len(q.left) != 0 {
		t.Errorf("at once: %v, want %v; %d left", got, want, len(q.left))
	}
	q = set.Queue()
	for _, n := range []int{1, 11, 48, 60} {
		want := names(set.updateCandidates(false)[:n])
		taken := q.Take(n)
		if names(taken) != want {
			t.Fatalf("%d pods: %v, want %v", n, names(taken), want)
		}
		for _, p := range taken {
			p.Labels[cluster.RevisionLabel] = "web-n"
		}
	}
	if got := q.Take(1); len(got) != 0 {
		t.Errorf("an empty queue gives %v", names(got))
	}
}

func TestQueue_PutsPreparedPodsFirst(t *testing.T) {
	set := crowd(6)
	last := set.updateCandidates(false)[5]
	setState(last, StatePreparingUpdate)
	if got := set.Queue().Take(1); len(got) != 1 || got[0] != last {
		t.Errorf("first is %v, not %s", names(got), last.Name)
	}
}

func TestPlacing_NamesTheReason(t *testing.T) {
	weights := &kruise.UpdatePriorityStrategy{WeightPriority: []kruise.UpdatePriorityWeightTerm{{Weight: 40}}}
	order := &kruise.UpdatePriorityStrategy{OrderPriority: []kruise.UpdatePriorityOrderTerm{{OrderedKey: "tier"}}}
	weights.WeightPriority[0].MatchSelector.MatchLabels = map[string]string{"a": "b"}
	for name, c := range map[string]struct {
		strategy *kruise.UpdatePriorityStrategy
		change   func(*cluster.Pod)
		want     string
	}{
		"plain":     {nil, func(*cluster.Pod) {}, "most recently ready first"},
		"prepared":  {weights, func(p *cluster.Pod) { setState(p, StatePreparingUpdate) }, "chosen before, and prepared"},
		"weight":    {weights, func(p *cluster.Pod) { p.Labels["a"] = "b" }, "priority weight 40"},
		"no weight": {weights, func(*cluster.Pod) {}, "priority weight 0"},
		"key":       {order, func(p *cluster.Pod) { p.Labels["tier"] = "x-1" }, "by its label tier"},
		"no key":    {order, func(*cluster.Pod) {}, "has no label of orderPriority"},
		"unbound":   {nil, func(p *cluster.Pod) { p.Node = "" }, "not bound to a node"},
		"pending":   {nil, func(p *cluster.Pod) { p.Phase = "Pending" }, "phase Pending"},
		"not ready": {nil, func(p *cluster.Pod) { setReady(p, false, t0) }, "not ready"},
	} {
		p := pod("p1", "o")
		c.change(p)
		set := &CloneSet{Spec: &kruise.CloneSetSpec{}, Now: now}
		set.Spec.UpdateStrategy.RollingUpdate = &kruise.RollingUpdateCloneSetStrategy{PriorityStrategy: c.strategy}
		if got := set.Queue().Why(p); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestTies_OfMany: groups by what the comparator sees, with one look per pod.
func TestTies_OfMany(t *testing.T) {
	var list []*cluster.Pod
	for i := range 3000 {
		p := pod(fmt.Sprintf("p%04d", i), "o")
		setReady(p, true, t0.Add(time.Duration(i/2)*time.Second))
		list = append(list, p)
	}
	set := &CloneSet{Spec: &kruise.CloneSetSpec{}, Now: now}
	groups := set.Ties(list)
	if len(groups) != 1500 || len(groups[7]) != 2 || groups[7][0] != list[14] || groups[7][1] != list[15] {
		t.Errorf("%d groups, %v", len(groups), names(groups[7]))
	}
}

func TestQueue_OfSelectedPods(t *testing.T) {
	d := &DaemonSet{Spec: &kruise.DaemonSetSpec{}}
	for i, ring := range []string{"a", "b", "a"} {
		n := &cluster.Node{Name: fmt.Sprint("n", i), Labels: map[string]string{"ring": ring}}
		d.Nodes = append(d.Nodes, DaemonNode{Node: n, ShouldRun: i < 2})
	}
	if got := d.Selected(); got != -1 {
		t.Errorf("without a selector %d", got)
	}
	d.Spec.UpdateStrategy.RollingUpdate = &kruise.RollingUpdateDaemonSet{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"ring": "a"}}}
	if got := d.Selected(); got != 1 {
		t.Errorf("%d nodes are selected, want the one that shall run a pod", got)
	}
}
