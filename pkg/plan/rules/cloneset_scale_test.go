package rules

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

func TestScale(t *testing.T) {
	const one = "replicas: 5\nupdateStrategy: {rollingUpdate: {maxUnavailable: 1}}"
	for _, c := range []struct {
		name, spec, pods string
		settled          bool
		old, updated     int
		del, undo, why   string
	}{
		{"nothing", one, "5*n", true, 0, 0, "", "", ""},
		{"2 surge first", surge7, "7*o", false, 0, 1, "", "", "1 pod is missing"},
		{"2 end", surge7, "o 7*n", false, 0, 0, "p1", "", "too many"},
		{"3 pausing takes an old pod", surge7paused, "7*o n!", false, 0, 0, "p7", "", "too many"},
		{"8 lost old pod", "replicas: 5\nupdateStrategy: {rollingUpdate: {partition: 3}}", "2*o 2*n", false, 1, 0, "", "", "missing"},
		{"8 both kinds", "replicas: 10\nupdateStrategy: {rollingUpdate: {partition: 60%}}", "3*o 2*n", false, 3, 2, "", "", "missing"},
		{"9 under a percentage", "replicas: 6\nupdateStrategy: {rollingUpdate: {partition: 50%, maxUnavailable: 1}}", "5*o 5*n", false, 0, 0, "p5 p4 p10 p9", "", "too many"},
		{"9 under a number", "replicas: 6\nupdateStrategy: {rollingUpdate: {partition: 5, maxUnavailable: 1}}", "5*o 5*n", false, 0, 0, "p10 p9 p8 p7", "", "too many"},
		{"10 marked", one, "4*n n-", true, 0, 0, "p5", "", "marked"},
		{"10 one of three", one, "2*n 3*n-", true, 0, 0, "p5", "", "2 of them wait"},
		{"10 a replacement is not ready", one, "2*n 2*n- n!", true, 0, 0, "", "", "2 of them wait"},
		{"10 broken ones always go", one, "2*n n- n-! n!", true, 0, 0, "p4", "", "1 of them wait"},
		{"10 fewer replicas", "replicas: 4\nupdateStrategy: {rollingUpdate: {maxUnavailable: 1}}", "4*n n-", true, 0, 0, "p5", "", "marked"},
		{"10 surge replaces first", "replicas: 5\nupdateStrategy: {rollingUpdate: {maxUnavailable: 0, maxSurge: 1}}", "4*n n-", true, 0, 1, "", "", "missing"},
		{"12 delete both marked", surge4, "2*o 2*o- 2*n", false, 0, 0, "p4 p3", "", "marked"},
		{"12 one old goes", surge4, "2*o 3*n n!", false, 0, 0, "p2", "", "1 of them wait"},
		{"scale rate", "replicas: 10\nscaleStrategy: {maxUnavailable: 3}", "3*n n!", true, 0, 2, "", "", "lets 2 be created"},
		{"scale rate used up", "replicas: 10\nscaleStrategy: {maxUnavailable: 1}", "3*n n!", true, 0, 0, "", "", "lets 0 be created"},
		{"podsToDelete", "replicas: 3\nscaleStrategy: {podsToDelete: [p1]}\nupdateStrategy: {rollingUpdate: {maxUnavailable: 1}}", "3*n", true, 0, 0, "p1", "", "marked"},
		{"podsToDelete with fewer replicas", "replicas: 3\nscaleStrategy: {podsToDelete: [p1, p2]}\nupdateStrategy: {rollingUpdate: {maxUnavailable: 1}}", "5*n", true, 0, 0, "p2 p1", "", "marked"},
		{"released deletions go first", one, "4*n n-=", true, 0, 0, "p5", "", "released p5"},
		{"a held deletion is taken back", one, "4*n n=", true, 0, 0, "", "p5", "not needed"},
		{"only as many as needed", "replicas: 4", "3*n 2*n=", true, 0, 0, "", "p5", "not needed"},
		{"OnDelete honours 20% rounded down", "replicas: 4\nupdateStrategy: {type: OnDelete}", "3*o o-", false, 0, 0, "", "", "1 of them wait"},
		{"OnDelete with five", "replicas: 5\nupdateStrategy: {type: OnDelete}", "4*o o-", false, 0, 0, "p5", "", "marked"},
		{"OnDelete makes new pods", "replicas: 5\nupdateStrategy: {type: OnDelete}", "4*o", false, 0, 1, "", "", "missing"},
		{"to zero", "replicas: 0", "2*n n!", true, 0, 0, "p3 p2 p1", "", "too many"},
	} {
		t.Run(c.name, func(t *testing.T) {
			set := cloneSet(t, c.spec, c.pods)
			if c.settled {
				set.Current = set.Update
			}
			got := set.Scale()
			if got.CreateOld != c.old || got.CreateNew != c.updated {
				t.Errorf("creates %d old, %d new", got.CreateOld, got.CreateNew)
			}
			if names(got.Delete) != c.del || names(got.Undo) != c.undo {
				t.Errorf("deletes %q, takes back %q", names(got.Delete), names(got.Undo))
			}
			if !strings.Contains(got.Why, c.why) || (c.why == "") != (got.Why == "") {
				t.Errorf("why %q", got.Why)
			}
			if got.Acts() != (c.old+c.updated > 0 || c.del != "" || c.undo != "") {
				t.Errorf("Acts() = %v", got.Acts())
			}
		})
	}
}

// TestScale_WithHook: while the preDelete hook holds a pod, no other goes; a
// hook that makes pods not ready makes the deletion final (053).
func TestScale_WithHook(t *testing.T) {
	hook := &kruise.LifecycleHook{LabelsHandler: map[string]string{"wait": "yes"}}
	set := cloneSet(t, "replicas: 2", "2*n 2*n=")
	set.Current = set.Update
	set.Spec.Lifecycle = &kruise.Lifecycle{PreDelete: hook}
	for _, p := range set.Pods {
		p.Labels["wait"] = "yes"
	}
	if got := set.Scale(); got.Acts() || !strings.Contains(got.Why, "p3") {
		t.Errorf("held: %+v", got)
	}
	delete(set.Pods[3].Labels, "wait")
	if got := names(set.Scale().Delete); got != "p4" {
		t.Errorf("released: deletes %q", got)
	}
	set.Pods[3].Labels["wait"] = "yes"
	*set.Spec.Replicas = 3
	if got := names(set.Scale().Undo); got != "p4" {
		t.Errorf("one more replica: takes back %q", got)
	}
	hook.MarkPodNotReady = true
	if got := set.Scale(); len(got.Undo) != 0 {
		t.Errorf("final: takes back %q", names(got.Undo))
	}
	hook.MarkPodNotReady = false
	set.Spec.Lifecycle.InPlaceUpdate = &kruise.LifecycleHook{MarkPodNotReady: true}
	if got := set.Scale(); len(got.Undo) != 0 {
		t.Errorf("final by the other hook: takes back %q", names(got.Undo))
	}
}

// TestScale_LeavesUnsortedSidesUnnamed: a side that goes as a whole, and pods that were marked,
// are not sorted by Kruise.
func TestScale_LeavesUnsortedSidesUnnamed(t *testing.T) {
	for _, c := range []struct{ name, spec, pods, del, open string }{
		{"088: all old ones, one now", "replicas: 6\nupdateStrategy: {rollingUpdate: {maxUnavailable: 1, maxSurge: 2}}", "2*o 4*n 2*n!", "p2", "p1 p2"},
		{"some of the old ones", "replicas: 4\nupdateStrategy: {rollingUpdate: {partition: 2, maxUnavailable: 1}}", "3*o 2*n", "p3", ""},
		{"all new ones", "replicas: 3\nupdateStrategy: {rollingUpdate: {partition: 3}}", "3*o 2*n", "p5 p4", "p4 p5"},
		{"marked", "replicas: 5\nupdateStrategy: {rollingUpdate: {maxUnavailable: 1}}", "2*n 3*n-", "p5", "p3 p4 p5"},
	} {
		set := cloneSet(t, c.spec, c.pods)
		got := set.Scale()
		if names(got.Delete) != c.del || names(got.Any) != c.open {
			t.Errorf("%s: deletes %q, any of %q", c.name, names(got.Delete), names(got.Any))
		}
	}
}

func TestScaleDown_Order(t *testing.T) {
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

// TestVictims_ComeFromTheSideThatGives: which side gives, by downOld.
func TestVictims_ComeFromTheSideThatGives(t *testing.T) {
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

// TestScaleDown_Spread: with a spread constraint the crowded zone gives first,
// node by node does not matter.
func TestScaleDown_Spread(t *testing.T) {
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
	// Unknown nodes leave all alike.
	set.Nodes = nil
	if got, want := names(set.ScaleDownOrder(set.Pods)), "p6 p5 p4 p3 p2 p1"; got != want {
		t.Errorf("no nodes: order %s, want %s", got, want)
	}
}

// TestScaleDownTies: pods are alike that no rule of scale-down tells apart; nodes and zones of as many pods make no difference.
func TestScaleDownTies(t *testing.T) {
	at := func(list []*cluster.Pod) {
		for _, p := range list {
			setReady(p, true, t0)
			p.Created = t0
		}
	}
	for name, c := range map[string]struct {
		edit func(*CloneSet)
		want string
	}{
		"each on its node": {func(*CloneSet) {}, "p1 p2 p3 p4"},
		"a crowded node":   {func(c *CloneSet) { c.Pods[0].Node, c.Pods[1].Node = "crowded", "crowded" }, "p1 p2 | p3 p4"},
		"two crowded nodes": {func(c *CloneSet) {
			c.Pods[0].Node, c.Pods[1].Node, c.Pods[2].Node, c.Pods[3].Node = "x", "x", "y", "y"
		}, "p1 p2 p3 p4"},
		"a cost":     {func(c *CloneSet) { cost(c.Pods[2], "-1") }, "p1 p2 p4"},
		"ready then": {func(c *CloneSet) { setReady(c.Pods[3], true, t0.Add(time.Second)) }, "p1 p2 p3"},
		"zones": {func(c *CloneSet) {
			c.Nodes = map[string]*cluster.Node{}
			for i, p := range c.Pods {
				c.Nodes[p.Node] = &cluster.Node{Name: p.Node, Labels: map[string]string{"zone": "abbb"[i : i+1]}}
			}
			c.Spec.Template.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{TopologyKey: "zone"}}
		}, "p2 p3 p4"},
	} {
		t.Run(name, func(t *testing.T) {
			set := cloneSet(t, "replicas: 1", "4*o")
			at(set.Pods)
			c.edit(set)
			ties := set.ScaleDownTies()
			var groups []string
			for n := 1; n <= len(set.Pods); n++ {
				if g := names(filter(set.Pods, func(p *cluster.Pod) bool { return ties[p.UID] == n })); g != "" {
					groups = append(groups, g)
				}
			}
			if got := strings.Join(groups, " | "); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}
