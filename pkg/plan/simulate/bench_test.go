package simulate

import (
	"fmt"
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

const largeSet = `
apiVersion: apps.kruise.io/v1beta1
kind: CloneSet
metadata: {name: web, namespace: shop}
spec:
  replicas: %d
  selector: {matchLabels: {app: web}}
  updateStrategy:
    type: RollingUpdate
    rollingUpdate:
      podUpdatePolicy: InPlaceIfPossible
      maxUnavailable: 20%%
      priorityStrategy: {weightPriority: [{weight: 50, matchSelector: {matchLabels: {tier: gold}}}]}
      scatterStrategy: [{key: shard, value: a}]
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: "web:1.0"}]}
---
apiVersion: policy.kruise.io/v1beta1
kind: PodUnavailableBudget
metadata: {name: web, namespace: shop}
spec: {selector: {matchLabels: {app: web}}, maxUnavailable: 30%%}
`

// large is a settled world and a plan of 100 steps.
func large(tb testing.TB, pods int) (*World, plan.Plan) {
	tb.Helper()
	o := Usual()
	o.GuardUpdates = true
	w := New(o)
	for i := range max(pods/50, 1) {
		w.AddNode(fmt.Sprintf("node-%04d", i), nil)
	}
	if err := w.Apply(documents(tb, fmt.Sprintf(largeSet, pods))...); err != nil {
		tb.Fatal(err)
	}
	if ok, err := w.Settle(time.Hour); !ok || err != nil {
		tb.Fatal(ok, err)
	}
	ref := cluster.Ref{Group: "apps.kruise.io", Kind: "CloneSet", Namespace: "shop", Name: "web"}
	gold, a := "gold", "a"
	for i, p := range append([]*cluster.Pod(nil), w.objects[ref].pods.now...) {
		change := cluster.PodChange{Labels: map[string]*string{}}
		if i%3 == 0 {
			change.Labels["tier"] = &gold
		}
		if i%5 == 0 {
			change.Labels["shard"] = &a
		}
		if err := w.PatchPod(plan.PodRef{Namespace: p.Namespace, Name: p.Name}, change); err != nil {
			tb.Fatal(err)
		}
	}
	if ok, err := w.Settle(time.Hour); !ok || err != nil {
		tb.Fatal(ok, err)
	}
	s, err := w.Snapshot(ref)
	if err != nil {
		tb.Fatal(err)
	}
	patched, err := patched(w.objects[ref], plan.Patch{Body: map[string]any{"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "main", "image": "web:2.0"}}}}}}})
	if err != nil {
		tb.Fatal(err)
	}
	desired, err := cluster.ReadWorkload(patched)
	if err != nil {
		tb.Fatal(err)
	}
	policy := plan.Policy{}
	for i := range 100 {
		policy.Steps = append(policy.Steps, plan.PolicyStep{To: plan.Amount{Value: float64(i + 1), Percent: true}})
	}
	p, err := plan.Build(desired, s, policy)
	if err != nil {
		tb.Fatal(err)
	}
	return w, p
}

// documents parses all documents of a text.
func documents(tb testing.TB, text string) []*tree.Node {
	tb.Helper()
	out, err := parseAll(text)
	if err != nil {
		tb.Fatal(err)
	}
	return out
}
