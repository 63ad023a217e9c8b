package simulate

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/spread"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

const (
	spreadTarget = `
apiVersion: apps.kruise.io/v1beta1
kind: CloneSet
metadata: {name: web, namespace: shop}
spec:
  replicas: 4
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: web, image: "example.com/web:1"}]
`
	spreadOver = `
apiVersion: apps.kruise.io/v1beta1
kind: WorkloadSpread
metadata: {name: ws, namespace: shop}
spec:
  targetRef: {apiVersion: apps.kruise.io/v1beta1, kind: CloneSet, name: web}
  subsets:
  - name: a
    maxReplicas: 1
    requiredNodeSelector: {matchExpressions: [{key: zone, operator: In, values: [a]}]}
  - name: b
    requiredNodeSelector: {matchExpressions: [{key: zone, operator: In, values: [b]}]}
`
)

var spreadRef = cluster.Ref{Group: kruise.Group, Kind: "WorkloadSpread", Namespace: "shop", Name: "ws"}

// spreadWorld has a node per zone.
func spreadWorld(t *testing.T, texts ...string) *World {
	t.Helper()
	o := lab()
	o.Affinity = true
	w := New(o)
	for _, zone := range []string{"a", "b", "c"} {
		w.AddNode("node-"+zone, map[string]string{"zone": zone})
	}
	for _, text := range texts {
		must(t, w.Apply(documents(t, text)...))
		settleSpread(t, w)
	}
	return w
}

func settleSpread(t *testing.T, w *World) {
	t.Helper()
	if _, err := w.clock.settle(spreadExpiry+time.Second, 10*time.Minute); err != nil {
		t.Fatal(err)
	}
}

// where returns for each subset on which nodes its pods are, and what they cost.
func where(w *World) string {
	var out []string
	for _, p := range w.store.all.now {
		m, _ := spread.ReadMatch(p.Annotations)
		out = append(out, fmt.Sprintf("%s@%s:%s", m.Subset, strings.TrimPrefix(p.Node, "node-"), p.Annotations[corev1.PodDeletionCost]))
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

func TestSpread_Pods(t *testing.T) {
	const spread4, spread2 = "a@a:200 b@b:100 b@b:100 b@b:100", "a@a:200 b@b:100"
	replicas := func(w *World, n int) error {
		return w.MergePatch(cluster.Ref{Group: kruise.Group, Kind: "CloneSet", Namespace: "shop", Name: "web"}, map[string]any{"spec": map[string]any{"replicas": n}})
	}
	for _, c := range []struct {
		name string
		do   func(*World) error
		want string
	}{
		{"created", func(*World) error { return nil }, spread4},
		{"scaled in", func(w *World) error { return replicas(w, 2) }, spread2},
		{"scaled out", func(w *World) error { return replicas(w, 5) }, spread4 + " b@b:100"},
		{"the first pod is replaced where it was", func(w *World) error {
			for _, p := range w.store.all.now {
				if p.Node == "node-a" {
					return w.pods.deleteByHand(plan.PodRef{Namespace: p.Namespace, Name: p.Name, UID: p.UID})
				}
			}
			return plan.ErrNotFound
		}, spread4},
		{"the limit is raised", func(w *World) error {
			return w.Apply(must1(parseAll(strings.Replace(spreadOver, "maxReplicas: 1", "maxReplicas: 3", 1)))...)
		}, spread4},
		{"the WorkloadSpread is gone", func(w *World) error { return w.api.delete(spreadRef) }, spread4},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := spreadWorld(t, spreadOver, spreadTarget)
			must(t, c.do(w))
			settleSpread(t, w)
			if got := where(w); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func must1(list []*tree.Node, err error) []*tree.Node {
	if err != nil {
		panic(err)
	}
	return list
}

// TestSpread_CountsExistingPodsWhereTheyRun: pods that were there before are counted where they run.
func TestSpread_CountsExistingPodsWhereTheyRun(t *testing.T) {
	prefer := `
      affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: {matchExpressions: [{key: zone, operator: In, values: [b]}]}}]}}
`
	w := spreadWorld(t, spreadTarget+strings.TrimPrefix(prefer, "\n"), spreadOver)
	if got, want := where(w), "b@b:100 b@b:100 b@b:100 b@b:100"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestScheduler_RespectsAffinity: the scheduler heeds terms and taints when it is asked to.
func TestScheduler_RespectsAffinity(t *testing.T) {
	const tolerant = "      tolerations: [{key: dedicated, operator: Exists}]\n      nodeSelector: {zone: c}\n"
	for _, c := range []struct {
		name, template string
		heed           bool
		taints         string
		want           string
	}{
		{"anywhere", "", true, "", "a a b c"},
		{"selected", "      nodeSelector: {zone: b}\n", true, "", "b b b b"},
		{"nowhere", "      nodeSelector: {zone: x}\n", true, "", "    "},
		{"not asked to", "      nodeSelector: {zone: x}\n", false, "", "a a b c"},
		{"tainted", "", true, "node-a", "b b c c"},
		{"tolerated", tolerant, true, "node-c", "c c c c"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := lab()
			o.Affinity = c.heed
			w := New(o)
			for _, zone := range []string{"a", "b", "c"} {
				w.AddNode("node-"+zone, map[string]string{"zone": zone})
			}
			if c.taints != "" {
				w.scheduler.taint(c.taints, []corev1.Taint{{Key: "dedicated", Effect: corev1.TaintEffectNoSchedule}})
			}
			must(t, w.Apply(documents(t, spreadTarget+c.template)...))
			settleSpread(t, w)
			var zones []string
			for _, p := range w.store.all.now {
				zones = append(zones, strings.TrimPrefix(p.Node, "node-"))
			}
			slices.Sort(zones)
			if got := strings.Join(zones, " "); got != strings.TrimSuffix(c.want, " ") {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestScheduler_BindsPendingPodsToANewNode: pods that fit nowhere wait, one that fits is
// not held up by them.
func TestScheduler_BindsPendingPodsToANewNode(t *testing.T) {
	w := spreadWorld(t, spreadTarget+"      nodeSelector: {zone: x}\n")
	if got := len(w.scheduler.pending); got != 4 {
		t.Fatalf("%d pods are pending", got)
	}
	w.AddNode("node-x", map[string]string{"zone": "x"})
	settleSpread(t, w)
	for _, p := range w.store.all.now {
		if p.Node != "node-x" {
			t.Errorf("pod %s is on %q", p.Name, p.Node)
		}
	}
}
