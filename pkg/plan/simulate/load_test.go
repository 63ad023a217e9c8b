package simulate

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// TestDeployment_OfSnapshot: what a snapshot shows of a Deployment is enough to go
// on with: its pods stay, and an update keeps to its limits.
func TestDeployment_OfSnapshot(t *testing.T) {
	before := New(lab())
	before.AddNode("n1", map[string]string{"topology.kubernetes.io/zone": "a"})
	if err := before.Apply(documents(t, deployment)...); err != nil {
		t.Fatal(err)
	}
	ref := cluster.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}
	if ok, err := before.Settle(time.Minute); !ok || err != nil {
		t.Fatal(ok, err)
	}
	s, err := before.Snapshot(ref)
	if err != nil {
		t.Fatal(err)
	}
	w, err := FromSnapshot(s, lab())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Watch(ref); err != nil {
		t.Fatal(err)
	}
	settle(t, w)
	if line := w.Timeline(); len(line.Records) != 0 || line.Summary.MostDown != 0 || line.Summary.MostPods != len(s.Pods) {
		t.Errorf("a settled Deployment does not stay: %+v", line)
	}
	err = w.MergePatch(ref, map[string]any{"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "main", "image": "web:2.0"}}}}}})
	if err != nil {
		t.Fatal(err)
	}
	settle(t, w)
	after, err := w.Snapshot(ref)
	if err != nil {
		t.Fatal(err)
	}
	if sum := w.Timeline().Summary; len(after.Pods) != len(s.Pods) || len(after.Revisions) != 2 || sum.Recreated != len(s.Pods) || sum.MostDown >= len(s.Pods) {
		t.Errorf("%d pods, %d revisions, %+v", len(after.Pods), len(after.Revisions), sum)
	}
}

// TestStore_GivesUniqueUIDs: a world that continues another's snapshot gives no uid a
// second time.
func TestStore_GivesUniqueUIDs(t *testing.T) {
	w := New(lab())
	w.AddNode("n1", map[string]string{"topology.kubernetes.io/zone": "a"})
	if err := w.Apply(documents(t, deployment)...); err != nil {
		t.Fatal(err)
	}
	settle(t, w)
	s, err := w.Snapshot(cluster.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"})
	if err != nil {
		t.Fatal(err)
	}
	next, err := FromSnapshot(s, lab())
	if err != nil {
		t.Fatal(err)
	}
	taken := map[string]bool{}
	for _, p := range s.Pods {
		taken[p.UID] = true
	}
	for range 20 {
		if id := next.store.newUID(); taken[id] {
			t.Errorf("%s is a pod's already", id)
		}
	}
}

func settle(t *testing.T, w *World) {
	t.Helper()
	if ok, err := w.Settle(time.Minute); !ok || err != nil {
		t.Fatal(ok, err)
	}
}

// TestLoad_KeepsTheHashOfClaims: a cluster hashes claim templates in its own way. Under the gate
// that looks at them, pods are recreated only when the templates change.
func TestLoad_KeepsTheHashOfClaims(t *testing.T) {
	const claims = "  volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}]\n"
	for _, c := range []struct {
		name, size string
		recreated  int
	}{
		{"they stay", "1Gi", 0},
		{"they change", "2Gi", 4},
	} {
		o := DefaultOptions()
		o.Gates.RecreatePodWhenChangeVCT = true
		w := New(o)
		w.AddNode("n1", nil)
		must(t, w.Apply(documents(t, cloneSet+claims)...))
		if ok, err := w.Settle(time.Hour); !ok || err != nil {
			t.Fatal(ok, err)
		}
		s := snapshot(t, w)
		s.Gates = o.Gates
		s.Revisions[0].ClaimsHash = "3636919212"
		next, err := cluster.ReadWorkload(documents(t, strings.NewReplacer("web:1", "web:2", "1Gi", c.size).Replace(cloneSet+claims))[0])
		must(t, err)
		p, err := plan.Build(next, s, plan.Policy{})
		must(t, err)
		line, err := Predict(p, s, o)
		if err != nil || line.Summary.Recreated != c.recreated {
			t.Errorf("%s: %d recreated, %v", c.name, line.Summary.Recreated, err)
		}
	}
}

// TestSummary_CountsPodsThatNothingReplaces: a workload that shrinks deletes pods, which are not
// recreated.
func TestSummary_CountsPodsThatNothingReplaces(t *testing.T) {
	for _, c := range []struct {
		name, policy, image string
		replicas            int
		recreated, deleted  int
		text                string
	}{
		{"shrinks in place", "InPlaceIfPossible", "web:2", 1, 0, 3, ", 3 deleted"},
		{"shrinks and recreates", "ReCreate", "web:2", 1, 1, 3, ", 3 deleted"},
		{"shrinks only", "ReCreate", "web:1", 3, 0, 1, ", 1 deleted"},
		{"grows and recreates", "ReCreate", "web:2", 6, 4, 0, ", 2 created"},
	} {
		w := New(DefaultOptions())
		w.AddNode("n1", nil)
		must(t, w.Apply(documents(t, cloneSet)...))
		if ok, err := w.Settle(time.Hour); !ok || err != nil {
			t.Fatal(ok, err)
		}
		s := snapshot(t, w)
		text := strings.NewReplacer("web:1", c.image, "replicas: 4", fmt.Sprintf("replicas: %d", c.replicas), "InPlaceIfPossible", c.policy).Replace(cloneSet)
		next, err := cluster.ReadWorkload(documents(t, text)[0])
		must(t, err)
		p, err := plan.Build(next, s, plan.Policy{})
		must(t, err)
		line, err := Predict(p, s, DefaultOptions())
		must(t, err)
		if sum := line.Summary; sum.Outcome != Completed || sum.Recreated != c.recreated || sum.Deleted != c.deleted || sum.AndDeleted() != c.text {
			t.Errorf("%s: %+v, %q", c.name, sum, sum.AndDeleted())
		}
	}
}

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

// TestRenderedBudget_IsKeptByTheClient: a PodUnavailableBudget in the annotation of what it was rendered
// into is kept by the client, as on a cluster, and asked by no webhook.
func TestRenderedBudget_IsKeptByTheClient(t *testing.T) {
	ref := cluster.Ref{Group: "apps", Kind: "ReplicaSet", Namespace: "shop", Name: "web"}
	for spec, down := range map[string]int{
		`{"selector": {"matchLabels": {"app": "web"}}, "maxUnavailable": 1}`: 1,
		`{"selector": {"matchLabels": {"app": "web"}}, "minAvailable": 2}`:   2,
	} {
		w := New(DefaultOptions())
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
	if err := New(DefaultOptions()).Apply(documents(t, fmt.Sprintf(renderedDoc, "none"))...); err == nil || !strings.Contains(err.Error(), "holds no spec of a PodUnavailableBudget") {
		t.Errorf("a broken annotation: %v", err)
	}
}

// TestRenderedBudget_Observed: in a cluster with a rendered budget, only the client keeps it: the
// preview of a native controller does not wait for a webhook that does not exist, and the plan
// does not report the budget as its limit.
func TestRenderedBudget_Observed(t *testing.T) {
	w := New(DefaultOptions())
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
	again, err := FromSnapshot(s, DefaultOptions())
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
	if o, ok := plan.PreviewOf(s, again.Now()); !ok {
		t.Error("nothing to see")
	} else if why, ok := o.Budget(s.Pods[0]); !ok {
		t.Errorf("a native controller would ask: %s", why)
	}
}

// TestRenderedBudget_OfSidecars: a pod whose sidecar was exchanged, and whose old one is
// still to be emptied, counts as down to a budget, too: it will be.
func TestRenderedBudget_OfSidecars(t *testing.T) {
	text := strings.NewReplacer("metadata: {labels: {app: web}}", `metadata:
      labels: {app: web}
      annotations: {kruise.io/sidecarset-working-hotupgrade-container: '{"mesh":"mesh-1"}'}`,
		`image: "web:1"}]`, `image: "web:1"}, {name: mesh-1, image: "mesh:1"}, {name: mesh-2, image: "mesh:empty"}]`).Replace(replicaSet)
	w := New(DefaultOptions())
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
	again, err := FromSnapshot(s, DefaultOptions())
	must(t, err)
	if line, err := Rollout(again, p, RolloutOptions{}); err != nil || line.Summary.Outcome != Completed || line.Summary.MostDown != 1 {
		t.Errorf("%v: %+v", err, line.Summary)
	}
}
