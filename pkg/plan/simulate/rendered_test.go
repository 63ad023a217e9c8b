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
		if got := strings.Join(p.Warnings, "\n"); !strings.Contains(got, fmt.Sprintf("PodUnavailableBudget web allows %d unavailable pod", down)) {
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

// TestRenderedBudgetObserved: on a cluster whose budget was rendered, nobody but the
// client keeps it: the preview of what a native controller does is not held up by a
// webhook that is not there, nor does the plan say that the budget sets the pace.
func TestRenderedBudgetObserved(t *testing.T) {
	w := New(Usual())
	w.AddNode("n1", nil)
	deployment := strings.Replace(replicaSet, "kind: ReplicaSet", "kind: Deployment", 1)
	must(t, w.Apply(documents(t, deployment)...))
	must(t, w.Apply(documents(t, fmt.Sprintf(renderedDoc, `{"selector": {"matchLabels": {"app": "web"}}, "maxUnavailable": 0}`))...))
	if ok, err := w.Settle(time.Hour); !ok || err != nil {
		t.Fatal(ok, err)
	}
	ref := cluster.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}
	s, err := w.Snapshot(ref)
	must(t, err)
	if len(s.Budgets) != 1 || !s.Budgets[0].Rendered {
		t.Fatalf("budgets %+v", s.Budgets)
	}
	desired, err := cluster.ReadWorkload(documents(t, strings.ReplaceAll(deployment, "web:1", "web:2"))[0])
	must(t, err)
	p, err := plan.Build(desired, s, plan.Policy{Pull: plan.PullNever})
	must(t, err)
	if got := strings.Join(p.Warnings, "\n"); strings.Contains(got, "PodUnavailableBudget") {
		t.Errorf("the plan says\n%s", got)
	}
	again, err := FromSnapshot(s, Usual())
	must(t, err)
	line, err := Rollout(again, p, RolloutOptions{})
	if must(t, err); line.Summary.Outcome != Completed {
		t.Errorf("%+v", line.Summary)
	}
	s, err = again.Snapshot(ref)
	must(t, err)
	for _, p := range s.Pods {
		if p.Annotations["kruise.io/related-pub"] != "" {
			t.Error("a webhook has been there")
		}
	}
	if o, ok := plan.Look(s, again.Now()); !ok {
		t.Error("nothing to see")
	} else if why, ok := o.Budget(s.Pods[0]); !ok {
		t.Errorf("a native controller would ask: %s", why)
	}
}

// TestRenderedBudgetOfSidecars: a pod whose sidecar was exchanged, and whose old one is
// still to be emptied, counts as down to a budget, too: it will be.
func TestRenderedBudgetOfSidecars(t *testing.T) {
	text := strings.NewReplacer("metadata: {labels: {app: web}}", `metadata:
      labels: {app: web}
      annotations: {kruise.io/sidecarset-working-hotupgrade-container: '{"mesh":"mesh-1"}'}`,
		`image: "web:1"}]`, `image: "web:1"}, {name: mesh-1, image: "mesh:1"}, {name: mesh-2, image: "mesh:empty"}]`).Replace(replicaSet)
	w := New(Usual())
	w.AddNode("n1", nil)
	must(t, w.Apply(documents(t, text)...))
	must(t, w.Apply(documents(t, fmt.Sprintf(renderedDoc, `{"selector": {"matchLabels": {"app": "web"}}, "maxUnavailable": 1}`))...))
	if ok, err := w.Settle(time.Hour); !ok || err != nil {
		t.Fatal(ok, err)
	}
	s, err := w.Snapshot(cluster.Ref{Group: "apps", Kind: "ReplicaSet", Namespace: "shop", Name: "web"})
	must(t, err)
	source, err := cluster.ReadWorkload(documents(t, strings.Replace(cloneSet, "maxUnavailable: 1", "maxUnavailable: 4", 1))[0])
	must(t, err)
	s.Carrier, s.Workload = s.Workload, source
	desired, err := cluster.ReadWorkload(documents(t, strings.ReplaceAll(text, "mesh:1", "mesh:2"))[0])
	must(t, err)
	p, err := plan.Build(desired, s, plan.Policy{Steps: []plan.PolicyStep{{To: plan.All}}, Pull: plan.PullNever})
	must(t, err)
	again, err := FromSnapshot(s, Usual())
	must(t, err)
	if line, err := Rollout(again, p, RolloutOptions{}); err != nil || line.Summary.Outcome != Completed || line.Summary.MostDown != 1 {
		t.Errorf("%v: %+v", err, line.Summary)
	}
}
