package controller

import (
	"fmt"
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// BenchmarkCloneSet is one pass over 10,000 pods: at rest, while updated pods
// come back, with a hundred to take, and with ten thousand to make.
func BenchmarkCloneSet(b *testing.B) {
	ordered := `priorityStrategy: {weightPriority: [{weight: 10, matchSelector: {matchLabels: {app: web}}}]}, scatterStrategy: [{key: app, value: web}], `
	for _, c := range []struct {
		name    string
		edits   []string
		updated int
	}{
		{"at rest", []string{"replicas: 3", "replicas: 10000"}, 10000},
		{"partition reached", []string{"replicas: 3", "replicas: 10000", "maxUnavailable: 1", "maxUnavailable: 100, partition: 50%"}, 5000},
		{"a hundred to take", []string{"replicas: 3", "replicas: 10000", "maxUnavailable: 1", "maxUnavailable: 100"}, 5000},
		{"a hundred to take in order", []string{"replicas: 3", "replicas: 10000", "maxUnavailable: 1", ordered + "maxUnavailable: 100"}, 5000},
		{"a hundred too many", []string{"replicas: 3", "replicas: 9900"}, 10000},
		{"as many again", []string{"replicas: 3", "replicas: 20000"}, 10000},
	} {
		b.Run(c.name, func(b *testing.B) {
			v := crowd(b, edited(cloneSetYAML, c.edits...), 10000, c.updated)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Reconcile(v); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

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
	v := &View{Now: labStart.Add(time.Hour), Workload: now}
	for i, w := range []*cluster.Workload{old, now} {
		a, err := NewAdmission(AdmissionInput{SidecarSets: []SidecarSource{{Workload: w}}})
		if err != nil {
			tb.Fatal(err)
		}
		m := a.PodFactory(webTemplate(tb, ""))
		for range []int{n - updated, updated}[i] {
			name := fmt.Sprintf("web-%d", len(v.Pods))
			p, err := m.Pod(CreatePod{}, PodRequest{Namespace: "default", Name: name}, "", labStart)
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

// BenchmarkPodFactory makes one pod of many.
func BenchmarkPodFactory(b *testing.B) {
	a := admission(b, sets(storedSet(b, "meshset", mesh)))
	m := a.PodFactory(webTemplate(b, ""))
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

// BenchmarkPass is one pass over many pods: with nothing to do, in the middle of
// an update, and with everything new.
func BenchmarkPass(b *testing.B) {
	const n = 10000
	for name, c := range map[string]struct {
		text    string
		updated int
	}{
		"statefulset/settled":       {edited(statefulSetYAML, "replicas: 3", fmt.Sprintf("replicas: %d", n), "ReCreate", "InPlaceIfPossible"), n},
		"statefulset/half":          {edited(statefulSetYAML, "replicas: 3", fmt.Sprintf("replicas: %d", n), "ReCreate", "InPlaceIfPossible", "web:1", "web:2"), n / 2},
		"statefulset/create":        {edited(statefulSetYAML, "replicas: 3", fmt.Sprintf("replicas: %d", 2*n)), n},
		"native statefulset/half":   {edited(nativeStatefulSetYAML, "replicas: 3", fmt.Sprintf("replicas: %d", n), "web:1", "web:2"), n / 2},
		"replicaset/settled":        {edited(replicaSetYAML, "replicas: 3", fmt.Sprintf("replicas: %d", n)), n},
		"replicaset/one too many":   {edited(replicaSetYAML, "replicas: 3", fmt.Sprintf("replicas: %d", n-1)), n},
		"statefulset/half, waiting": {edited(statefulSetYAML, "replicas: 3", fmt.Sprintf("replicas: %d", n), "partition: 0", fmt.Sprintf("partition: %d", n/2), "web:1", "web:2"), n / 2},
	} {
		b.Run(name, func(b *testing.B) {
			v := crowd(b, c.text, n, c.updated)
			for b.Loop() {
				if _, err := Reconcile(v); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// crowd is a view of a workload with n ready pods, of which the highest so many
// have been updated in place.
func crowd(tb testing.TB, text string, n, updated int) *View {
	tb.Helper()
	v := &View{
		Now: labStart.Add(time.Hour), Workload: stored(tb, text), Gates: cluster.DefaultGates(),
	}
	var pass Pass
	update, all := v.syncRevision(&pass, 0, "")
	v.Revisions = all
	for i := range n {
		revision := "web-old"
		if i >= n-updated {
			revision = update.Name
		}
		p := &cluster.Pod{
			Namespace: "default", Name: fmt.Sprintf("web-%d", i), UID: fmt.Sprintf("p%d", i), Node: fmt.Sprintf("n%d", i%100), Phase: "Running",
			Labels:         map[string]string{"app": "web", "controller-revision-hash": revision, "lifecycle.apps.kruise.io/state": "Normal"},
			Annotations:    map[string]string{"apps.kruise.io/inplace-update-state": `{"revision":"` + revision + `","updateTimestamp":"2026-07-01T12:00:00Z","lastContainerStatuses":{}}`},
			ReadinessGates: []string{"KruisePodReady", "InPlaceUpdateReady"}, Created: labStart,
			Containers: []cluster.Container{{Name: "main", Image: "web:1", StatusImage: "web:1", Reported: true, Ready: true}},
		}
		for _, kind := range []string{"PodScheduled", "KruisePodReady", "InPlaceUpdateReady", "Ready"} {
			p.Conditions = append(p.Conditions, cluster.Condition{Type: kind, Status: "True", Since: labStart})
		}
		v.Pods = append(v.Pods, p)
	}
	return v
}
