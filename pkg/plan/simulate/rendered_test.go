package simulate

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

const replicaSet = `
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: web, namespace: shop}
spec:
  replicas: 4
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: "web:1"}]}
`

const renderedDoc = `
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: web
  namespace: shop
  labels: {kubectl-kruise.dev/source: podunavailablebudget.web}
  annotations: {kubectl-kruise.dev/strategy: '%s'}
spec: {maxUnavailable: 4, selector: {matchLabels: {app: web}}}
`

// TestRenderedBudget: a PodUnavailableBudget in the annotation of what it was rendered
// into is kept by the client, as on a cluster, and asked by no webhook.
func TestRenderedBudget(t *testing.T) {
	ref := cluster.Ref{Group: "apps", Kind: "ReplicaSet", Namespace: "shop", Name: "web"}
	for spec, down := range map[string]int{
		`{"selector": {"matchLabels": {"app": "web"}}, "maxUnavailable": 1}`: 1,
		`{"selector": {"matchLabels": {"app": "web"}}, "minAvailable": 2}`:   2,
	} {
		w := New(Usual())
		w.AddNode("n1", nil)
		must(t, w.Apply(documents(t, replicaSet)...))
		must(t, w.Apply(documents(t, fmt.Sprintf(renderedDoc, spec))...))
		if ok, err := w.Settle(time.Hour); !ok || err != nil {
			t.Fatal(ok, err)
		}
		s, err := w.Snapshot(ref)
		must(t, err)
		for _, p := range s.Pods {
			if p.Annotations["kruise.io/related-pub"] != "" {
				t.Error("a webhook has been there")
			}
		}
		source, err := cluster.ReadWorkload(documents(t, strings.Replace(cloneSet, "maxUnavailable: 1", "maxUnavailable: 4", 1))[0])
		must(t, err)
		s.Carrier, s.Workload = s.Workload, source
		desired, err := cluster.ReadWorkload(documents(t, strings.ReplaceAll(replicaSet, "web:1", "web:2"))[0])
		must(t, err)
		p, err := plan.Build(desired, s, plan.Policy{Steps: []plan.PolicyStep{{To: plan.All}}, Pull: plan.PullNever})
		must(t, err)
		if got := strings.Join(p.Warnings, "\n"); !strings.Contains(got, fmt.Sprintf("PodUnavailableBudget web allows %d pods to be down", down)) {
			t.Errorf("%s: the plan says\n%s", spec, got)
		}
		p.Target = *p.Target.Carrier
		line, err := Rollout(w, p, RolloutOptions{})
		if must(t, err); line.Summary.Outcome != Completed || line.Summary.MostDown > down {
			t.Errorf("%s: %+v", spec, line.Summary)
		}
	}
	if err := New(Usual()).Apply(documents(t, fmt.Sprintf(renderedDoc, "none"))...); err == nil || !strings.Contains(err.Error(), "holds no spec of a PodUnavailableBudget") {
		t.Errorf("a broken annotation: %v", err)
	}
}
