package rollout

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// most follows how many pods of the bed are not ready at once, from now on; the
// function that it returns says how many it were.
func (b *bed) most(t *testing.T) func() int {
	t.Helper()
	list, err := b.Client().CoreV1().Pods(b.namespace).List(t.Context(), metav1.ListOptions{LabelSelector: "app=web"})
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	w, err := b.Client().CoreV1().Pods(b.namespace).Watch(ctx, metav1.ListOptions{LabelSelector: "app=web", ResourceVersion: list.ResourceVersion})
	must(t, err)
	var most atomic.Int64
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		down := map[string]bool{}
		for e := range w.ResultChan() {
			if p, ok := e.Object.(*corev1.Pod); ok {
				if down[p.Name] = running([]corev1.Pod{*p}, p.Spec.Containers[0].Image) == 0; !down[p.Name] {
					delete(down, p.Name)
				}
				most.Store(max(most.Load(), int64(len(down))))
			}
		}
	}()
	return func() int {
		cancel()
		<-ended
		return int(most.Load())
	}
}

// ordinary is a PodDisruptionBudget that was not rendered.
const ordinary = "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: web}\nspec: {maxUnavailable: 1, selector: {matchLabels: {app: web}}}\n"

const targetWeb = `{"maxUnavailable": 1, "targetRef": {"apiVersion": "apps.kruise.io/v1beta1", "kind": "CloneSet", "name": "web"}}`

// guardedBy is a PodUnavailableBudget.
func guardedBy(spec string) string {
	return "apiVersion: policy.kruise.io/v1alpha1\nkind: PodUnavailableBudget\nmetadata: {name: web}\nspec: " + spec + "\n"
}

// renderedFrom is the PodDisruptionBudget that a PodUnavailableBudget becomes, which
// itself would let all pods go.
func renderedFrom(spec string) string {
	return fmt.Sprintf(`
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: web
  labels: {kubectl-kruise.dev/source: podunavailablebudget.web}
  annotations: {kubectl-kruise.dev/strategy: '%s'}
spec: {maxUnavailable: 4, selector: {matchLabels: {app: web}}}
`, spec)
}

// standIn is a ReplicaSet that a CloneSet was rendered into.
func standIn(strategy string) workload {
	w := nativeKind("ReplicaSet", "replicasets", "")
	w.text = strings.Replace(w.text, "metadata: {name: web}", `metadata:
  name: web
  labels: {kubectl-kruise.dev/source: cloneset.web}
  annotations: {kubectl-kruise.dev/strategy: '{"replicas": 4, "selector": {"matchLabels": {"app": "web"}}, "updateStrategy": `+strategy+`}'}`, 1)
	return w
}

// carried watches the CloneSet that the bed's ReplicaSet was rendered from.
func (b *bed) carried(t *testing.T) *kube.Cluster {
	t.Helper()
	carrier := b.object
	b.object.Ref = cluster.Ref{Group: kruiseGroup, Kind: "CloneSet", Namespace: b.namespace, Name: "web"}
	c, err := kube.Open(t.Context(), b.Config(), kube.Options{Target: b.object, Carrier: &carrier, Gates: cluster.DefaultGates(), StateNamespace: "kubectl-kruise", Holder: "test"})
	must(t, err)
	t.Cleanup(c.Close)
	return c
}

// carriedPlan is a plan for what the bed becomes.
func (b *bed) carriedPlan(t *testing.T, c *kube.Cluster, policy plan.Policy) plan.Plan {
	t.Helper()
	s, err := c.Observe(t.Context(), b.object.Ref)
	must(t, err)
	desired, err := plan.WithTemplate(s.Carrier, b.read(t, b.next).Template)
	must(t, err)
	p, err := plan.Build(desired, s, policy)
	must(t, err)
	must(t, c.Begin(t.Context(), b.object.Ref, p))
	return p
}

const allAtOnce = `{"rollingUpdate": {"podUpdatePolicy": "InPlaceOnly", "maxUnavailable": 4}}`

// TestRestart_KeepsBudgets: the workload itself would have all its pods down at once.
func TestRestart_KeepsBudgets(t *testing.T) {
	cloneSet := kruiseKind("CloneSet", "clonesets", "updateStrategy: {rollingUpdate: {maxUnavailable: 4}}")
	for name, c := range map[string]struct {
		workload workload
		budget   string
		most     int
	}{
		"by target":             {cloneSet, guardedBy(targetWeb), 1},
		"by selector":           {cloneSet, guardedBy(`{"minAvailable": 2, "selector": {"matchLabels": {"app": "web"}}}`), 2},
		"for evictions only":    {cloneSet, strings.Replace(guardedBy(`{"maxUnavailable": 1, "protectOperations": ["EVICT"], "selector": {"matchLabels": {"app": "web"}}}`), "v1alpha1", "v1beta1", 1), 4},
		"a PodDisruptionBudget": {cloneSet, ordinary, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t, c.workload)
			b.Apply(t, b.namespace, c.budget)
			k := b.open(t)
			p := b.restartPlan(t, k, plan.RestartRequest{Method: plan.RestartAlias})
			most := b.most(t)
			if res := b.run(t.Context(), t, k, p, apply.Options{}); res.Outcome != event.Completed {
				t.Fatalf("%s: %s", res.Outcome, res.Reason)
			}
			if n := most(); n > c.most || n == 0 {
				t.Errorf("%d pods were down at once, %d may be", n, c.most)
			}
		})
	}
}

// TestClient_KeepsBudgets: without Kruise only the client knows the budget's
// spec, which is kept in an annotation.
func TestClient_KeepsBudgets(t *testing.T) {
	t.Parallel()
	c, namespace := withoutKruise(t)
	b := bedIn(t, c, namespace, standIn(allAtOnce))
	b.Apply(t, b.namespace, renderedFrom(targetWeb))
	k := b.carried(t)
	p := b.carriedPlan(t, k, plan.Policy{Driver: plan.DriverClient, Pull: plan.PullNever})
	most := b.most(t)
	if res := b.run(t.Context(), t, k, p, apply.Options{}); res.Outcome != event.Completed {
		t.Fatalf("%s: %s", res.Outcome, res.Reason)
	}
	if n := most(); n != 1 {
		t.Errorf("%d pods were down at once, 1 may be", n)
	}
	if n := running(b.pods(t), web2); n != 4 {
		t.Errorf("%d pods are updated", n)
	}
}
