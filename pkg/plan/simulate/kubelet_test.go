package simulate

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// solo is a world with one pod of two containers, which has no owner.
func solo(t *testing.T, o Options) (*World, plan.PodRef) {
	t.Helper()
	w := New(o)
	w.AddNode("n1", map[string]string{corev1.LabelTopologyZone: "a"})
	p := &cluster.Pod{
		Namespace: "shop", Name: "web", UID: "u1", Phase: corev1.PodPending, ReadinessGates: []string{"Gate"},
		Labels:     map[string]string{"controller-revision-hash": "web-1"},
		Containers: []cluster.Container{{Name: "main", Image: "web:1"}, {Name: "side", Image: "log:1"}},
	}
	w.scheduler.schedule(w.pods.insert(p), "")
	return w, plan.PodRef{Namespace: "shop", Name: "web", UID: "u1"}
}

// told are the states that a pod goes through, each with its second.
func told(t *testing.T, w *World, ref plan.PodRef, until time.Duration) []string {
	t.Helper()
	var out []string
	last := ""
	for w.clock.at <= until {
		text := "gone"
		if e := w.store.podsByUID[ref.UID]; e != nil {
			text = state(e.Pod)
		}
		if text != last {
			out = append(out, fmt.Sprintf("%.1f %s", w.clock.at.Seconds(), text))
			last = text
		}
		if !w.clock.step(until) {
			break
		}
	}
	return out
}

func state(p *cluster.Pod) string {
	var out []string
	for _, c := range p.Containers {
		word := c.Waiting
		if word == "" {
			word = map[bool]string{true: c.StatusImage, false: "-"}[c.Reported]
		}
		out = append(out, fmt.Sprintf("%s/%d/%v", word, c.Restarts, c.Ready))
	}
	return fmt.Sprintf("%s %s ready=%v", p.Phase, strings.Join(out, ", "), isReady(p))
}

func open(status corev1.ConditionStatus) cluster.PodChange {
	return cluster.PodChange{Conditions: []cluster.Condition{cluster.SetTo("Gate", status, "", "")}}
}

func TestKubelet_RunsContainers(t *testing.T) {
	agent := Agent{Start: Exactly(time.Second), Stop: Exactly(500 * time.Millisecond)}
	never := func(*cluster.Pod) Override { return Override{Unready: true} }
	crash := func(*cluster.Pod) Override { return Override{Crash: true} }
	for name, c := range map[string]struct {
		agent func(*Agent)
		acts  func(t *testing.T, w *World, ref plan.PodRef)
		want  []string
	}{
		"a pod starts; it is ready when its gate is open": {
			acts: func(t *testing.T, w *World, ref plan.PodRef) {
				t.Helper()
				t.Helper()
				w.clock.after(3*time.Second, func() { must(t, w.PatchPod(ref, open(corev1.ConditionTrue))) })
			},
			want: []string{
				"0.0 Pending -/0/false, -/0/false ready=false", "1.0 Pending web:1/0/true, -/0/false ready=false",
				"1.0 Running web:1/0/true, log:1/0/true ready=false", "3.0 Running web:1/0/true, log:1/0/true ready=true",
			},
		},
		"containers are ready some time after their start": {
			agent: func(a *Agent) { a.Ready = Exactly(2 * time.Second) },
			acts:  opened,
			want: []string{
				"0.0 Pending -/0/false, -/0/false ready=false", "1.0 Pending web:1/0/false, -/0/false ready=false",
				"1.0 Running web:1/0/false, log:1/0/false ready=false", "3.0 Running web:1/0/true, log:1/0/false ready=false",
				"3.0 Running web:1/0/true, log:1/0/true ready=true",
			},
		},
		"images are pulled once": {
			agent: func(a *Agent) { a.Pull, a.Start = Exactly(5*time.Second), Exactly(0) },
			want: []string{
				"0.0 Pending -/0/false, -/0/false ready=false", "5.0 Pending web:1/0/true, -/0/false ready=false",
				"5.0 Running web:1/0/true, log:1/0/true ready=false",
			},
		},
		"another image stops the container at once, and the pod with it": {
			acts: func(t *testing.T, w *World, ref plan.PodRef) {
				t.Helper()
				t.Helper()
				must(t, w.PatchPod(ref, open(corev1.ConditionTrue)))
				w.clock.after(2*time.Second, func() { must(t, w.PatchPod(ref, image("web:2"))) })
			},
			want: []string{
				"0.0 Pending -/0/false, -/0/false ready=false", "1.0 Pending web:1/0/true, -/0/false ready=false",
				"1.0 Running web:1/0/true, log:1/0/true ready=true", "2.0 Running ContainerCreating/0/false, log:1/0/true ready=false",
				"3.0 Running web:2/1/true, log:1/0/true ready=true",
			},
		},
		"an image that changes again while the container starts": {
			acts: func(t *testing.T, w *World, ref plan.PodRef) {
				t.Helper()
				t.Helper()
				w.clock.after(2*time.Second, func() { must(t, w.PatchPod(ref, image("web:2"))) })
				w.clock.after(2500*time.Millisecond, func() { must(t, w.PatchPod(ref, image("web:3"))) })
			},
			want: []string{
				"0.0 Pending -/0/false, -/0/false ready=false", "1.0 Pending web:1/0/true, -/0/false ready=false",
				"1.0 Running web:1/0/true, log:1/0/true ready=false", "2.0 Running ContainerCreating/0/false, log:1/0/true ready=false",
				"3.5 Running web:3/1/true, log:1/0/true ready=false",
			},
		},
		"an image that cannot be pulled; a good one starts without delay": {
			acts: func(t *testing.T, w *World, ref plan.PodRef) {
				t.Helper()
				t.Helper()
				w.clock.after(2*time.Second, func() { must(t, w.PatchPod(ref, image("web:bad"))) })
				w.clock.after(5*time.Second, func() { must(t, w.PatchPod(ref, image("web:2"))) })
			},
			want: []string{
				"0.0 Pending -/0/false, -/0/false ready=false", "1.0 Pending web:1/0/true, -/0/false ready=false",
				"1.0 Running web:1/0/true, log:1/0/true ready=false", "2.0 Running ContainerCreating/0/false, log:1/0/true ready=false",
				"3.0 Running ImagePullBackOff/0/false, log:1/0/true ready=false", "5.0 Running web:2/1/true, log:1/0/true ready=false",
			},
		},
		"a container restarts for its env": {
			acts: func(t *testing.T, w *World, ref plan.PodRef) {
				t.Helper()
				t.Helper()
				w.clock.after(2*time.Second, func() {
					must(t, w.PatchPod(ref, cluster.PodChange{Restart: []string{"side"}}))
					if r, ok := w.kubelet.reports["u1"]; !ok || r.EnvHashes {
						t.Errorf("the node reports %+v while it restarts the container", r)
					}
				})
			},
			want: []string{
				"0.0 Pending -/0/false, -/0/false ready=false", "1.0 Pending web:1/0/true, -/0/false ready=false",
				"1.0 Running web:1/0/true, log:1/0/true ready=false", "2.0 Running web:1/0/true, ContainerCreating/0/false ready=false",
				"3.0 Running web:1/0/true, log:1/1/true ready=false",
			},
		},
		"pods that are never ready": {
			agent: func(a *Agent) { a.Override = never },
			acts:  opened,
			want: []string{
				"0.0 Pending -/0/false, -/0/false ready=false", "1.0 Pending web:1/0/false, -/0/false ready=false",
				"1.0 Running web:1/0/false, log:1/0/false ready=false",
			},
		},
		"containers that crash wait longer each time": {
			agent: func(a *Agent) { a.Override = crash },
			want: []string{
				"0.0 Pending -/0/false, -/0/false ready=false", "1.0 Pending web:1/0/false, -/0/false ready=false",
				"1.0 Running web:1/0/false, log:1/0/false ready=false",
				"2.0 Running CrashLoopBackOff/0/false, log:1/0/false ready=false", "2.0 Running CrashLoopBackOff/0/false, CrashLoopBackOff/0/false ready=false",
				"12.0 Running web:1/1/false, CrashLoopBackOff/0/false ready=false", "12.0 Running web:1/1/false, log:1/1/false ready=false",
				"13.0 Running CrashLoopBackOff/1/false, log:1/1/false ready=false", "13.0 Running CrashLoopBackOff/1/false, CrashLoopBackOff/1/false ready=false",
				"33.0 Running web:1/2/false, CrashLoopBackOff/1/false ready=false", "33.0 Running web:1/2/false, log:1/2/false ready=false",
				"34.0 Running CrashLoopBackOff/2/false, log:1/2/false ready=false", "34.0 Running CrashLoopBackOff/2/false, CrashLoopBackOff/2/false ready=false",
			},
		},
		"a deleted pod runs until its containers stop": {
			acts: func(t *testing.T, w *World, ref plan.PodRef) {
				t.Helper()
				t.Helper()
				must(t, w.PatchPod(ref, open(corev1.ConditionTrue)))
				w.clock.after(2*time.Second, func() { must(t, w.pods.deleteByHand(ref)) })
			},
			want: []string{
				"0.0 Pending -/0/false, -/0/false ready=false", "1.0 Pending web:1/0/true, -/0/false ready=false",
				"1.0 Running web:1/0/true, log:1/0/true ready=true", "2.5 gone",
			},
		},
		"a finalizer holds a deleted pod": {
			acts: func(t *testing.T, w *World, ref plan.PodRef) {
				t.Helper()
				t.Helper()
				must(t, w.PatchPod(ref, cluster.PodChange{AddFinalizers: []string{"example.com/hold"}}))
				must(t, w.pods.deleteByHand(ref))
				w.clock.after(4*time.Second, func() {
					must(t, w.PatchPod(ref, cluster.PodChange{RemoveFinalizers: []string{"example.com/hold"}}))
				})
			},
			want: []string{"0.0 Pending -/0/false, -/0/false ready=false", "0.5 Pending Completed/0/false, Completed/0/false ready=false", "4.0 gone"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := Options{Agent: agent}
			o.Agent.Unpullable = []string{":bad"}
			if c.agent != nil {
				c.agent(&o.Agent)
			}
			w, ref := solo(t, o)
			if c.acts != nil {
				c.acts(t, w, ref)
			}
			if diff := cmp.Diff(c.want, told(t, w, ref, 40*time.Second)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func opened(t *testing.T, w *World, ref plan.PodRef) {
	t.Helper()
	must(t, w.PatchPod(ref, open(corev1.ConditionTrue)))
}

func image(name string) cluster.PodChange {
	return cluster.PodChange{Images: map[string]string{"main": name}}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

// TestKubelet_PullsAnImageOncePerNode: a pod that waits for an image that is on its way
// waits with the others.
func TestKubelet_PullsAnImageOncePerNode(t *testing.T) {
	w := New(Options{Agent: Agent{Pull: Exactly(5 * time.Second)}})
	w.AddNode("n1", nil)
	w.AddNode("n2", nil, "web:1")
	var at []time.Duration
	arrived := func() { at = append(at, w.clock.at) }
	w.kubelet.pull(w.scheduler.nodes["n1"], "web:1", arrived)
	w.clock.after(2*time.Second, func() { w.kubelet.pull(w.scheduler.nodes["n1"], "web:1", arrived) })
	w.clock.after(9*time.Second, func() { w.kubelet.pull(w.scheduler.nodes["n1"], "web:1", arrived) })
	w.kubelet.pull(w.scheduler.nodes["n2"], "web:1", arrived)
	must(t, w.Run(w.Now().Add(time.Minute)))
	if diff := cmp.Diff([]time.Duration{0, 5 * time.Second, 5 * time.Second, 9 * time.Second}, at); diff != "" {
		t.Error(diff)
	}
	if w.recorder.pulls != 1 {
		t.Errorf("%d pulls", w.recorder.pulls)
	}
}

func TestScheduler_BindsPods(t *testing.T) {
	w := New(Options{Capacity: 2})
	w.AddNode("n1", map[string]string{corev1.LabelTopologyZone: "a", "other": "x"})
	w.AddNode("n2", nil)
	var got []string
	for i := range 5 {
		e := w.pods.insert(&cluster.Pod{Namespace: "shop", Name: fmt.Sprint("p", i), UID: fmt.Sprint("u", i), Phase: corev1.PodPending})
		w.scheduler.schedule(e, "")
		got = append(got, e.Node+e.Labels[corev1.LabelTopologyZone]+e.Labels["other"])
	}
	if diff := cmp.Diff([]string{"n1a", "n2", "n1a", "n2", ""}, got); diff != "" {
		t.Error(diff)
	}
	last := w.store.podsByUID["u4"]
	if c, _ := last.Condition("PodScheduled"); c.Status != corev1.ConditionFalse || c.Reason != "Unschedulable" {
		t.Errorf("the pod without room has %+v", c)
	}
	must(t, w.pods.deleteByHand(plan.PodRef{Namespace: "shop", Name: "p1"}))
	must(t, w.Run(w.Now().Add(time.Second)))
	if last.Node != "n2" {
		t.Errorf("the pod that waited is on %q", last.Node)
	}
}
