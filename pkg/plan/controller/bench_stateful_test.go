package controller

import (
	"fmt"
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

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
		Pick: func(int) int { return 0 },
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
