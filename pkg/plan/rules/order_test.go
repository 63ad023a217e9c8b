package rules

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// TestDefaultOrder holds each rule of the comparator against the one below it:
// the pod named first wins although the later rules are against it.
func TestDefaultOrder(t *testing.T) {
	type edit = func(*cluster.Pod)
	ready := func(minutes int) edit {
		return func(p *cluster.Pod) { setReady(p, true, t0.Add(time.Duration(minutes)*time.Minute)) }
	}
	unready := func(p *cluster.Pod) { setReady(p, false, t0) }
	unbound := func(p *cluster.Pod) { p.Node = "" }
	phase := func(ph corev1.PodPhase) edit { return func(p *cluster.Pod) { p.Phase = ph } }
	restarts := func(n int) edit { return func(p *cluster.Pod) { p.Containers[0].Restarts = n } }
	created := func(minutes int) edit {
		return func(p *cluster.Pod) { p.Created = t0.Add(time.Duration(minutes) * time.Minute) }
	}
	sidecar := func(n int) edit {
		return func(p *cluster.Pod) {
			p.InitContainers = []cluster.Container{{Name: "mesh", Native: true, Restarts: n}}
		}
	}
	initial := func(n int) edit {
		return func(p *cluster.Pod) { p.InitContainers = []cluster.Container{{Name: "prepare", Restarts: n}} }
	}
	for _, c := range []struct {
		name        string
		first, then []edit
	}{
		{"unassigned before Pending", []edit{unbound}, []edit{phase(corev1.PodPending), unready}},
		{"Pending before Unknown", []edit{phase(corev1.PodPending)}, []edit{phase(corev1.PodUnknown), unready}},
		{"Unknown before Running", []edit{phase(corev1.PodUnknown)}, []edit{unready}},
		{"not ready before ready", []edit{unready}, []edit{ready(50), restarts(9)}},
		{"most recently ready first", []edit{ready(10)}, []edit{ready(9), restarts(9)}},
		{"more restarts first", []edit{restarts(2)}, []edit{restarts(1), created(30)}},
		{"more restarts among the not ready", []edit{unready, restarts(2)}, []edit{unready, restarts(1), created(30)}},
		{"restarts of native sidecars after those of containers", []edit{restarts(1)}, []edit{sidecar(5), created(30)}},
		{"more sidecar restarts first", []edit{sidecar(2)}, []edit{sidecar(1), created(30)}},
		{"init containers do not count", []edit{created(30)}, []edit{initial(7)}},
		{"newer first", []edit{created(2)}, []edit{created(1)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			// The name would decide the other way round.
			first, then := pod("z", "o"), pod("a", "o")
			for _, e := range c.first {
				e(first)
			}
			for _, e := range c.then {
				e(then)
			}
			for _, list := range [][]*cluster.Pod{{first, then}, {then, first}} {
				if got := names(inOrder(list)); got != "z a" {
					t.Errorf("order %s", got)
				}
			}
		})
	}
}

func TestDefaultOrderTies(t *testing.T) {
	a, b := pod("a", "o"), pod("b", "o")
	if got := names(inOrder([]*cluster.Pod{b, a})); got != "a b" {
		t.Errorf("a tie comes by name, got %s", got)
	}
	if c := standingOf(a).compare(standingOf(b)); c != 0 {
		t.Errorf("compare = %d for pods that are alike", c)
	}
}

// TestDefaultOrderKeepsInput: sorting must not move the caller's pods.
func TestDefaultOrderKeepsInput(t *testing.T) {
	list := pods(t, "3*o")
	if got := names(inOrder(list)); got != "p3 p2 p1" {
		t.Errorf("order %s", got)
	}
	if got := names(list); got != "p1 p2 p3" {
		t.Errorf("the input became %s", got)
	}
}

func TestTies(t *testing.T) {
	set := cloneSet(t, "replicas: 6", "")
	for i, word := range []string{"a", "a", "b", "a", "b", "b"} {
		p := pod("p"+itoa(i+1), "o")
		p.Labels["shard"] = word
		set.Pods = append(set.Pods, p)
	}
	setReady(set.Pods[5], true, t0.Add(time.Minute))
	show := func() string {
		var out []string
		for _, g := range set.Ties(set.UpdateCandidates(false)) {
			out = append(out, names(g))
		}
		return strings.Join(out, ", ")
	}
	if got := show(); got != "p1 p2 p3 p4 p5" {
		t.Errorf("ties %s", got)
	}
	set.Spec = cloneSet(t, "replicas: 6\nupdateStrategy: {rollingUpdate: {scatterStrategy: [{key: shard, value: a}]}}", "").Spec
	if got := show(); got != "p1 p2 p4, p3 p5" && got != "p3 p5, p1 p2 p4" {
		t.Errorf("ties with scatter %s", got)
	}
	set.Spec = cloneSet(t, "replicas: 6\nupdateStrategy: {rollingUpdate: {priorityStrategy: {weightPriority: [{weight: 1, matchSelector: {matchLabels: {shard: b}}}]}}}", "").Spec
	if got := show(); got != "p3 p5, p1 p2 p4" {
		t.Errorf("ties with priority %s", got)
	}
}
