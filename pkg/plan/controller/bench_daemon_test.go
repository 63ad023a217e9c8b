package controller

import (
	"fmt"
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

const many = 10000

// BenchmarkDaemonSetPass is one pass over many nodes, all of which are outdated
// but for some.
func BenchmarkDaemonSetPass(b *testing.B) {
	for name, updated := range map[string]int{"settled": many, "half": many / 2} {
		b.Run(name, func(b *testing.B) {
			v := crowd(b, edited(daemonYAML, "TYPE", "rollingUpdateType: InPlaceIfPossible, maxUnavailable: 10", "web:1", "web:2"), many, updated)
			v.Nodes = map[string]*cluster.Node{}
			for i, p := range v.Pods {
				p.Node = fmt.Sprintf("n%05d", i)
				v.Nodes[p.Node] = &cluster.Node{Name: p.Node, Labels: map[string]string{"zone": "a"}}
			}
			for b.Loop() {
				if _, err := Reconcile(v); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// sidecarCrowd is a SidecarSet with many pods, some of which are up to date.
func sidecarCrowd(tb testing.TB, n, updated int) *View {
	tb.Helper()
	old, now := storedSet(tb, "meshset", mesh), storedSet(tb, "meshset", next(mesh)+"updateStrategy: {maxUnavailable: 10}")
	v := &View{Now: labStart.Add(time.Hour), Workload: now, Pick: func(int) int { return 0 }}
	for i, w := range []*cluster.Workload{old, now} {
		a, err := NewAdmission(Surroundings{SidecarSets: []SidecarSource{{Workload: w}}})
		if err != nil {
			tb.Fatal(err)
		}
		m := a.Mould(webTemplate(tb, ""))
		for range []int{n - updated, updated}[i] {
			name := fmt.Sprintf("web-%d", len(v.Pods))
			p, err := m.Pod(CreatePod{}, Newcomer{Namespace: "default", Name: name}, "", labStart)
			if err != nil {
				tb.Fatal(err)
			}
			q := *(&lab{}).run(p)
			if i == 1 {
				q.Annotations[kruise.SidecarSetInPlaceUpdateStateAnnotation] = `{"meshset":{"revision":"x","updateTimestamp":"2026-07-01T12:00:00Z","lastContainerStatuses":{"mesh":{"imageID":"sha256:mesh:1.0"}}}}`
			}
			v.Pods = append(v.Pods, &q)
		}
	}
	return v
}

func BenchmarkSidecarSetPass(b *testing.B) {
	for name, updated := range map[string]int{"settled": many, "half": many / 2} {
		b.Run(name, func(b *testing.B) {
			v := sidecarCrowd(b, many, updated)
			for b.Loop() {
				if _, err := Reconcile(v); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkMould makes one pod of many.
func BenchmarkMould(b *testing.B) {
	a := admission(b, sets(storedSet(b, "meshset", mesh)))
	m := a.Mould(webTemplate(b, ""))
	for b.Loop() {
		if _, err := m.Pod(CreatePod{Labels: map[string]string{"controller-revision-hash": "x"}}, ofCloneSet, "abcde", labStart); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkBudget counts many pods, and asks about one.
func BenchmarkBudget(b *testing.B) {
	v := guard(maxUnavailable("10%"), webPods(many), cloneSetOf(many))
	b.Run("pass", func(b *testing.B) {
		for b.Loop() {
			ReconcileBudget(v)
		}
	})
	b.Run("ask", func(b *testing.B) {
		for b.Loop() {
			v.Decide(rules.Request{Pod: v.Pods[0], Operation: kruise.PubDeleteOperation})
		}
	})
}
