package tui

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/diagnose"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

const big = `
apiVersion: apps.kruise.io/v1beta1
kind: CloneSet
metadata: {name: web, namespace: shop, uid: u1, generation: 3}
spec:
  replicas: %d
  selector: {matchLabels: {app: web}}
  updateStrategy: {rollingUpdate: {podUpdatePolicy: InPlaceIfPossible, maxUnavailable: 20%%}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: main, image: "web:2"}]}}
status: {observedGeneration: 3, replicas: %d, currentRevision: web-old, updateRevision: web-new}
`

// manifests are pods as an API server sends them.
func manifests(n int) [][]byte {
	out := make([][]byte, n)
	at := metav1.NewTime(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	for i := range n {
		env := make([]corev1.EnvVar, 12)
		for j := range env {
			env[j] = corev1.EnvVar{Name: fmt.Sprintf("NAME_%d", j), Value: fmt.Sprintf("value-%d", j)}
		}
		p := corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Name: fmt.Sprintf("web-%05d", i), Namespace: "shop", UID: "uid", CreationTimestamp: at,
				Labels:      map[string]string{"app": "web", "controller-revision-hash": "web-old"},
				Annotations: map[string]string{"example.com/note": strings.Repeat("x", 200)},
			},
			Spec: corev1.PodSpec{NodeName: fmt.Sprintf("node-%d", i%500), Containers: []corev1.Container{{Name: "main", Image: "web:1", Env: env}}},
			Status: corev1.PodStatus{
				Phase: corev1.PodRunning,
				Conditions: []corev1.PodCondition{
					{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: at},
					{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: at},
					{Type: corev1.ContainersReady, Status: corev1.ConditionTrue, LastTransitionTime: at},
					{Type: corev1.PodInitialized, Status: corev1.ConditionTrue, LastTransitionTime: at},
				},
				ContainerStatuses: []corev1.ContainerStatus{{Name: "main", Image: "web:1", ImageID: "sha256:1", Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: at}}}},
			},
		}
		text, err := json.Marshal(p)
		if err != nil {
			panic(err)
		}
		out[i] = text
	}
	return out
}

func decode(tb testing.TB, list [][]byte) []*cluster.Pod {
	tb.Helper()
	pods := make([]*cluster.Pod, len(list))
	for i, text := range list {
		var p corev1.Pod
		if err := json.Unmarshal(text, &p); err != nil {
			tb.Fatal(err)
		}
		pods[i] = cluster.ReadPod(&p)
		pods[i].UID = p.Name
		pods[i].Digest()
	}
	return pods
}

// manyPods is a workload of many pods whose rollout continues.
type manyPods struct {
	w    *cluster.Workload
	pods []*cluster.Pod
	next int
	at   int64
}

func newManyPods(tb testing.TB, pods []*cluster.Pod) *manyPods {
	tb.Helper()
	n, err := yaml.Parse(fmt.Sprintf(big, len(pods), len(pods)))
	if err != nil {
		tb.Fatal(err)
	}
	w, err := cluster.ReadWorkload(n.YNode())
	if err != nil {
		tb.Fatal(err)
	}
	return &manyPods{w: w, pods: pods}
}

// change updates so many pods and returns the world after it.
func (c *manyPods) change(n int) *world.World {
	pods := append([]*cluster.Pod{}, c.pods...)
	label := "web-new"
	for range n {
		i := c.next % len(pods)
		pods[i] = pods[i].With(cluster.PodChange{Labels: map[string]*string{"controller-revision-hash": &label}, Images: map[string]string{"main": "web:2"}}, time.Time{})
		c.next++
	}
	c.pods = pods
	c.at++
	s := plan.Snapshot{Version: fmt.Sprint(c.at), Workload: c.w, Pods: pods}
	d := world.Describe(diagnose.Question{Name: "cloneset/web", Plan: plan.CurrentSpecPlan(s), Snapshot: s}, nil)
	return &world.World{Version: c.at, Loaded: true, Workloads: []*world.Workload{d.Row()}, Detail: d}
}

func opened(w *world.World) Model {
	m := New(context.Background(), Options{Theme: draw.ThemeOptions{Colors: draw.Many}, First: screen.Open{Screen: screen.Rollout, Ref: w.Workloads[0].Ref}})
	m, _ = m.take(tea.WindowSizeMsg{Width: 200, Height: 60})
	m, _ = m.take(worldMsg{world: w})
	return m
}

// BenchmarkFrame holds a frame of 5,000 pods, with all that follows from a change of
// them, against decoding the same pods from JSON in the same run: a tenth at the most. A
// change goes over all pods: 2.5 ms among 5,000, and 38 ms among 50,000, of which a source
// takes 250 ms to work out the state.
func BenchmarkFrame(b *testing.B) {
	texts := manifests(5000)
	begun := spent()
	pods := decode(b, texts)
	decoding := spent() - begun
	c := newManyPods(b, pods)
	worlds := []*world.World{c.change(50), c.change(50)}
	m := opened(worlds[0])
	n := 0
	begun = spent()
	for b.Loop() {
		m, _ = m.take(worldMsg{world: worlds[n%2]})
		if len(m.frame()) == 0 {
			b.Fatal("no frame")
		}
		n++
	}
	each := (spent() - begun) / time.Duration(n)
	b.ReportMetric(float64(each)/float64(decoding), "of-decoding")
	if each > decoding/10 {
		b.Errorf("a frame takes %v, decoding its pods %v: more than a tenth", each, decoding)
	}
}

// BenchmarkSecond is a second in which 1,000 pods change, among 5,000 and among 50,000: the states
// that a source makes of them when it rests after each as long as [world.Rest] says, each of which
// goes over all pods once for all changes since the one before, and a frame of each. However many
// pods there are, it may take a third of a core.
func BenchmarkSecond(b *testing.B) {
	for _, pods := range []int{5000, 50_000} {
		b.Run(fmt.Sprint(pods), func(b *testing.B) {
			c := newManyPods(b, decode(b, manifests(pods)))
			m := opened(c.change(0))
			var clock, used, rest time.Duration
			for b.Loop() {
				for end := clock + time.Second; clock < end; {
					begun := spent()
					w := c.change(int(1000 * rest / time.Second))
					took := spent() - begun
					m, _ = m.take(worldMsg{world: w})
					_ = m.frame()
					used += spent() - begun
					rest = took + world.Rest(took)
					clock += rest
				}
			}
			cores := used.Seconds() / clock.Seconds()
			b.ReportMetric(cores, "cores")
			if cores > 1.0/3 {
				b.Errorf("a second of changes among %d pods takes %.2f of a core", pods, cores)
			}
		})
	}
}

// BenchmarkMemory is what 10,000 pods take above nothing.
func BenchmarkMemory(b *testing.B) {
	texts := manifests(10_000)
	for b.Loop() {
		before := heap()
		m := opened(newManyPods(b, decode(b, texts)).change(10))
		_ = m.frame()
		used := float64(heap()-before) / (1 << 20)
		runtime.KeepAlive(m)
		b.ReportMetric(used, "MB")
		if used > 150 {
			b.Errorf("10,000 pods take %.0f MB", used)
		}
	}
}

func heap() int64 {
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return int64(s.HeapAlloc)
}
