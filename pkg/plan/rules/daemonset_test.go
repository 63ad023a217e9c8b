package rules

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// daemonSet makes a DaemonSet on nodes n1, n2 …, one word each: pods joined by
// +, such as "o", "n!", "o+n!", or "none", or "gone" for a node that should
// have no pod.
func daemonSet(t *testing.T, spec, words string) *DaemonSet {
	t.Helper()
	d := &DaemonSet{Spec: &kruise.DaemonSetSpec{}, Update: "web-n", Now: now}
	decode(t, spec, d.Spec)
	for word := range strings.FieldsSeq(words) {
		word, times := repeated(t, word)
		for range times {
			name := "n" + itoa(len(d.Nodes)+1)
			d.Nodes = append(d.Nodes, daemonNode(t, name, word))
		}
	}
	d.Scheduled = d.desired()
	return d
}

func daemonNode(t *testing.T, name, word string) DaemonNode {
	t.Helper()
	node := DaemonNode{Node: &cluster.Node{Name: name, Labels: map[string]string{"name": name}}, ShouldRun: word != "gone"}
	if word == "none" || word == "gone" {
		return node
	}
	for i, part := range strings.Split(word, "+") {
		p := flagged(t, name+"-"+string(rune('a'+i)), part)
		p.Node, p.Created = name, t0.Add(seconds(int32(i)))
		p.Labels[cluster.RevisionLabel] = cluster.Hash(RevisionOf(p))
		node.Pods = append(node.Pods, p)
	}
	return node
}

func nodeNames(list []DaemonNode) string {
	out := make([]string, len(list))
	for i, n := range list {
		out[i] = n.Name
	}
	return strings.Join(out, " ")
}

func rolling(text string) string { return "updateStrategy: {rollingUpdate: {" + text + "}}" }

func TestDaemonSet_Limits(t *testing.T) {
	for _, c := range []struct {
		spec, nodes string
		want        Limits
	}{
		{"{}", "5*o", Limits{MaxUnavailable: 1, Burst: 250}},
		{rolling(""), "5*o", Limits{MaxUnavailable: 1, Burst: 250}},
		{rolling("maxUnavailable: 50%"), "5*o", Limits{MaxUnavailable: 3, Burst: 250}},
		{rolling("maxUnavailable: 50%"), "4*o gone", Limits{MaxUnavailable: 2, Burst: 250}},
		{rolling("maxSurge: 50%"), "5*o", Limits{MaxSurge: 3, Burst: 250}},
		{rolling("maxSurge: 1, maxUnavailable: 0"), "5*o", Limits{MaxSurge: 1, Burst: 250}},
		{rolling("maxSurge: 0"), "5*o", Limits{MaxUnavailable: 1, Burst: 250}},
		{rolling("partition: 50%"), "5*o", Limits{Partition: 2, MaxUnavailable: 1, Burst: 250}},
		{"burstReplicas: 50%", "5*o", Limits{MaxUnavailable: 1, Burst: 2}},
	} {
		if diff := cmp.Diff(c.want, daemonSet(t, c.spec, c.nodes).Limits()); diff != "" {
			t.Errorf("%s: %s", c.spec, diff)
		}
	}
}

func TestDaemonSet_Eligible(t *testing.T) {
	for _, c := range []struct{ name, spec, nodes, want string }{
		{"17 number", rolling("partition: 3"), "5*o", "n5 n4"},
		{"17 half", rolling("partition: 50%"), "5*o", "n5 n4 n3"},
		{"17 nearly all", rolling("partition: 99%"), "5*o", "n5"},
		{"17 one is updated", rolling("partition: 3"), "n 4*o", "n1 n5"},
		{"18 undo", rolling("partition: 8"), "2*o 6*n o n", "n8 n7"},
		{"all kept", rolling("partition: 5"), "5*o", ""},
		{"more than all kept", rolling("partition: 9"), "5*o", ""},
		{"names as text", rolling(""), "11*o", "n9 n8 n7 n6 n5 n4 n3 n2 n11 n10 n1"},
		{"gone before outdated", rolling("partition: 3"), "none 4*o", "n1 n5"},
		{"terminating is gone", rolling("partition: 3"), "o o^ 3*o", "n2 n5"},
		{"going before outdated", rolling("partition: 3"), "o o= 3*o", "n2 n5"},
		{"updated before gone", rolling("partition: 3"), "2*o none o n", "n5 n3"},
		{"surplus counts as updated", rolling("partition: 4"), "o o+o 3*o", "n2"},
		{"selector", rolling("selector: {matchLabels: {name: n2}}"), "5*o", "n2"},
		{"selector, updated ones stay", rolling("selector: {matchLabels: {name: n2}}"), "4*o n", "n5 n2"},
		{"unreadable selector", rolling("selector: {matchExpressions: [{key: a, operator: Odd}]}"), "4*o n", "n5"},
	} {
		if got := nodeNames(daemonSet(t, c.spec, c.nodes).Eligible()); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestDaemonSet_Missing: unknown nodes count like those that have no pod, named
// last.
func TestDaemonSet_Missing(t *testing.T) {
	for _, spec := range []string{
		rolling(""), rolling("maxUnavailable: 50%"), rolling("partition: 2"), rolling("partition: 4"), rolling("partition: 9"), rolling("maxSurge: 50%"),
		rolling("partition: 3, maxUnavailable: 3"),
	} {
		for _, nodes := range []string{"5*o", "2*n 3*o", "none 4*o", "5*n", "o! 4*o", "o+n! 4*o"} {
			for missing := range 4 {
				counted := daemonSet(t, spec, nodes)
				counted.Missing, counted.Scheduled = missing, counted.Scheduled+missing
				listed := *counted
				listed.Missing = 0
				for range missing {
					listed.Nodes = append(listed.Nodes, DaemonNode{Node: &cluster.Node{}, ShouldRun: true})
				}
				if diff := cmp.Diff(listed.Limits(), counted.Limits()); diff != "" {
					t.Errorf("%s, %s, %d missing: %s", spec, nodes, missing, diff)
				}
				if diff := cmp.Diff(listed.ChooseUpdate(), counted.ChooseUpdate(), cmp.Comparer(func(a, b *cluster.Pod) bool { return a == b })); diff != "" {
					t.Errorf("%s, %s, %d missing: %s", spec, nodes, missing, diff)
				}
			}
		}
	}
}

func TestDaemonSet_ChooseUpdate(t *testing.T) {
	for _, c := range []struct {
		name, spec, nodes  string
		candidates, broken string
		room               int
		finished, why      string
	}{
		{"one of five", rolling(""), "5*o", "n5-a n4-a n3-a n2-a n1-a", "", 1, "", "any 1 of 5"},
		{"17 one random eligible", rolling("partition: 3"), "5*o", "n5-a n4-a", "", 1, "", "any 1 of 2"},
		{"one is not ready yet", rolling(""), "4*o n!", "n4-a n3-a n2-a n1-a", "", 0, "", "any 0 of 4"},
		{"one is back", rolling(""), "4*o n", "n4-a n3-a n2-a n1-a", "", 1, "", "any 1 of 4"},
		{"a terminating pod is down", rolling(""), "4*o o^", "n4-a n3-a n2-a n1-a", "", 0, "", "any 0 of 4"},
		{"broken ones go outside the budget (212)", rolling(""), "o o! 3*o", "n5-a n4-a n3-a n1-a", "n2-a", 1, "", "any 1 of 4"},
		{"216: broken and budget", rolling("maxUnavailable: 2"), "3*o 2*n!", "n3-a n2-a n1-a", "", 0, "", "any 0 of 3"},
		{"216: good image follows", rolling("maxUnavailable: 2"), "3*o 2*x!", "n3-a n2-a n1-a", "n5-a n4-a", 2, "", "any 2 of 3"},
		{"below the partition nothing counts", rolling("partition: 3"), "o o! 3*o", "n5-a n4-a", "", 1, "", "any 1 of 2"},
		{"held by its hook", rolling(""), "4*o o=", "n4-a n3-a n2-a n1-a", "", 0, "", "any 0 of 4"},
		{"everything", rolling("maxUnavailable: 100%"), "3*o", "n3-a n2-a n1-a", "", 3, "", "all"},
		{"done", rolling(""), "3*n", "", "", 0, "", "no eligible node"},
		{"paused", rolling("paused: true"), "3*o", "", "", 0, "", "paused"},
		{"OnDelete", "updateStrategy: {type: OnDelete}", "3*o", "", "", 0, "", "OnDelete"},
		{"surge", rolling("maxSurge: 1"), "3*o", "n3-a n2-a n1-a", "", 1, "", "any 1 of 3"},
		{"surge in use", rolling("maxSurge: 1"), "2*o o+n!", "n2-a n1-a", "", 0, "", "any 0 of 2"},
		{"surge done", rolling("maxSurge: 1"), "2*o o+n", "n2-a n1-a", "", 1, "n3-a", "any 1 of 2"},
		{"surge for a broken one", rolling("maxSurge: 1"), "o o! o+n!", "n1-a", "n2-a", 0, "", "any 0 of 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := daemonSet(t, c.spec, c.nodes).ChooseUpdate()
			if names(got.Candidates) != c.candidates || names(got.Broken) != c.broken || got.Room != c.room || names(got.Finished) != c.finished {
				t.Errorf("%d of %q, broken %q, finished %q", got.Room, names(got.Candidates), names(got.Broken), names(got.Finished))
			}
			if !strings.Contains(got.Why, c.why) {
				t.Errorf("why %q", got.Why)
			}
			if got.Surge != strings.Contains(c.spec, "Surge") {
				t.Errorf("Surge = %v", got.Surge)
			}
		})
	}
}

// TestDaemonSet_MinReady: a new pod counts as down until it was ready for long
// enough.
func TestDaemonSet_MinReady(t *testing.T) {
	d := daemonSet(t, "minReadySeconds: 10\n"+rolling(""), "2*o n")
	setReady(d.Nodes[2].Pods[0], true, now.Add(-seconds(5)))
	if got := d.ChooseUpdate().Room; got != 0 {
		t.Errorf("room %d while waiting", got)
	}
	d.Now = now.Add(seconds(6))
	if got := d.ChooseUpdate().Room; got != 1 {
		t.Errorf("room %d afterwards", got)
	}
}

// TestDaemonSet_TemplateGeneration: the older mark counts as updated.
func TestDaemonSet_TemplateGeneration(t *testing.T) {
	d := daemonSet(t, rolling(""), "2*o")
	d.TemplateGeneration = "4"
	d.Nodes[0].Pods[0].Labels[templateGenerationLabel] = "4"
	d.Nodes[1].Pods[0].Labels[templateGenerationLabel] = "3"
	if got := names(d.ChooseUpdate().Candidates); got != "n2-a" {
		t.Errorf("candidates %q", got)
	}
}

func TestDaemonSet_Manage(t *testing.T) {
	const progressive = "scaleStrategy: {partitionedScaling: true}\n"
	for _, c := range []struct{ name, spec, nodes, create, remove string }{
		{"nothing", rolling(""), "3*n", "", ""},
		{"19 without partitionedScaling", rolling("partition: 3"), "5*none", "n1 n2 n3 n4 n5", ""},
		{"19 progressive create", progressive + rolling("partition: 3"), "5*none", "n1 n2", ""},
		{"19 two are there", progressive + rolling("partition: 3"), "2*n 3*none", "", ""},
		{"partition 1", progressive + rolling("partition: 1"), "2*n 3*none", "n3 n4", ""},
		{"partition 0", progressive + rolling("partition: 0"), "2*n 3*none", "n3 n4 n5", ""},
		{"more than all", progressive + rolling("partition: 9"), "5*none", "", ""},
		{"paused creates", rolling("paused: true"), "n none", "n2", ""},
		{"OnDelete creates", "updateStrategy: {type: OnDelete}", "n none", "n2", ""},
		{"a terminating pod keeps its node", rolling(""), "n n^", "", ""},
		{"a node leaves", rolling(""), "n gone", "", ""},
		{"duplicates, the oldest stays", rolling(""), "n+n+o n", "", "n1-b n1-c"},
		{"side by side under surge", rolling("maxSurge: 1"), "o+n n", "", ""},
		{"duplicates under surge", rolling("maxSurge: 1"), "o+n+n n", "", "n1-c"},
		{"burst", "burstReplicas: 2", "5*none", "n1 n2", ""},
	} {
		got := daemonSet(t, c.spec, c.nodes).Manage()
		if strings.Join(got.Create, " ") != c.create || names(got.Remove) != c.remove {
			t.Errorf("%s: creates %v, removes %q", c.name, got.Create, names(got.Remove))
		}
	}
	d := daemonSet(t, rolling(""), "n n+n^ n")
	d.Nodes[0].ShouldRun = false
	d.Nodes[1].ShouldRun = false
	d.Nodes[2].Pods[0].Phase = corev1.PodFailed
	if got := names(d.Manage().Remove); got != "n1-a n2-a n3-a" {
		t.Errorf("unfit and failed: removes %q", got)
	}
	d.Nodes[0].Stay = true
	if got := names(d.Manage().Remove); got != "n2-a n3-a" {
		t.Errorf("a node that keeps its pod: removes %q", got)
	}
}

func TestDaemonSet_Pending(t *testing.T) {
	for _, c := range []struct {
		name        string
		edit        func(*kruise.DaemonSet)
		matching    int
		step, whole string
	}{
		{"done", func(*kruise.DaemonSet) {}, -1, "", ""},
		{"not seen", func(d *kruise.DaemonSet) { d.Generation = 9 }, -1, "generation 9", "generation 9"},
		{"a step", func(d *kruise.DaemonSet) { d.Status.UpdatedNumberScheduled = 3 }, -1, "", "updatedNumberScheduled is 3 of 5"},
		{"half a step", func(d *kruise.DaemonSet) { d.Status.UpdatedNumberScheduled = 2 }, -1, "updatedNumberScheduled is 2 of 3", "updatedNumberScheduled is 2 of 5"},
		{"two nodes match", func(d *kruise.DaemonSet) { d.Status.UpdatedNumberScheduled = 2 }, 2, "", "updatedNumberScheduled is 2 of 5"},
		{"one is down", func(d *kruise.DaemonSet) { d.Status.NumberUnavailable, d.Status.NumberAvailable = 1, 4 }, -1, "numberUnavailable is 1", "numberAvailable is 4 of 5"},
	} {
		d := &kruise.DaemonSet{}
		decode(t, rolling("partition: 50%"), &d.Spec)
		d.Generation = 3
		d.Status = kruise.DaemonSetStatus{
			ObservedGeneration: 3, DesiredNumberScheduled: 5, UpdatedNumberScheduled: 5, NumberAvailable: 5,
		}
		c.edit(d)
		expect(t, c.name+" (step)", DaemonSetStepPending(d, c.matching), c.step)
		expect(t, c.name, DaemonSetPending(d), c.whole)
	}
}
