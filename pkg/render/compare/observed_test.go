package compare_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/compare"
)

// TestRun_ObservedPodsOutrankManifests: what is known of the pods goes before what manifests say: one
// of three has the new template already, and a manifest without replicas leaves
// their number to the cluster.
func TestRun_ObservedPodsOutrankManifests(t *testing.T) {
	old := strings.Replace(clone, "  replicas: 10\n", "", 1)
	now := strings.Replace(old, "web:1", "web:2", 1)
	read := func(text string) *cluster.Workload {
		w, err := cluster.ReadWorkload(parse(t, text)[0].Node())
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	s := plan.Snapshot{Gates: cluster.DefaultGates(), Revisions: []cluster.Revision{
		{Name: "web-1", Number: 1, Template: read(old).Template}, {Name: "web-2", Number: 2, Template: read(now).Template},
	}}
	for i, revision := range []string{"web-1", "web-1", "web-2"} {
		s.Pods = append(s.Pods, &cluster.Pod{
			Namespace: "shop", Name: fmt.Sprintf("web-%d", i), UID: fmt.Sprint(i), Node: "node-1", Phase: "Running", ReadinessGates: []string{"InPlaceUpdateReady"},
			Labels:     map[string]string{"app": "web", "controller-revision-hash": revision},
			Owner:      cluster.Owner{Kind: "CloneSet", Name: "web"},
			Containers: []cluster.Container{{Name: "main", Image: "web:" + revision[len("web-"):], StatusImage: "web:" + revision[len("web-"):], ImageID: "sha256:" + revision, Reported: true, Ready: true}},
			Conditions: []cluster.Condition{{Type: "Ready", Status: "True"}, {Type: "InPlaceUpdateReady", Status: "True"}},
		})
	}
	var asked []cluster.Ref
	r := compare.Run(t.Context(), parse(t, old), parse(t, now), compare.Options{Gates: s.Gates, Observed: func(ref cluster.Ref) (plan.Snapshot, bool) {
		asked = append(asked, ref)
		return s, true
	}})
	want := "restart changed CloneSet shop/web | inPlace 3->3 reach 2/3 down 1 surge 0 by kruise\n  spec.template.spec.containers[main].image: web:1 -> web:2 image\n"
	if got := outline(r); got != want || !r.Changes[0].Rollout.Observed {
		t.Errorf("got\n%s", got)
	}
	if len(asked) != 1 || asked[0] != (cluster.Ref{Group: "apps.kruise.io", Kind: "CloneSet", Namespace: "shop", Name: "web"}) {
		t.Errorf("asked for %v", asked)
	}
}

// Every SidecarSet observes all pods of the cluster; only those that it selects are counted.
func TestObservedPods_OfASidecarSetAreThoseThatItSelects(t *testing.T) {
	old := `apiVersion: apps.kruise.io/v1beta1
kind: SidecarSet
metadata: {name: mesh}
spec:
  selector: {matchLabels: {app: web}}
  updateStrategy: {type: RollingUpdate}
  containers: [{name: agent, image: "agent:1"}]
`
	s := plan.Snapshot{Gates: cluster.DefaultGates()}
	for i, app := range []string{"web", "other", "web"} {
		s.Pods = append(s.Pods, &cluster.Pod{
			Namespace: "shop", Name: fmt.Sprintf("%s-%d", app, i), UID: fmt.Sprint(i), Phase: "Running", Labels: map[string]string{"app": app},
			Annotations: map[string]string{"kruise.io/sidecarset-hash": `{"mesh":{"hash":"x"}}`, "kruise.io/sidecarset-injected-list": "mesh"},
			Containers:  []cluster.Container{{Name: "agent", Image: "agent:1", Reported: true, Ready: true}},
			Conditions:  []cluster.Condition{{Type: "Ready", Status: "True"}},
		})
	}
	r := compare.Run(t.Context(), parse(t, old), parse(t, strings.Replace(old, "agent:1", "agent:2", 1)), compare.Options{Gates: s.Gates, Observed: func(cluster.Ref) (plan.Snapshot, bool) {
		return s, true
	}})
	if rollout := r.Changes[0].Rollout; rollout == nil || rollout.Total != 2 {
		t.Errorf("rollout = %+v, want 2 pods in total", rollout)
	}
	if len(s.Pods) != 3 {
		t.Errorf("the snapshot of the caller has %d pods now, want 3", len(s.Pods))
	}
}

// TestRun_CountsNoMorePodsThanItMay: workloads with very many pods are not counted, and keep no other from
// being counted.
func TestRun_CountsNoMorePodsThanItMay(t *testing.T) {
	var old strings.Builder
	for name, replicas := range map[string]string{"a": "2147483647", "b": "2147483647", "c": "150000", "web": "10"} {
		old.WriteString("---\n" + strings.NewReplacer("name: web,", "name: "+name+",", "replicas: 10", "replicas: "+replicas).Replace(clone))
	}
	r := compare.Run(t.Context(), parse(t, old.String()), parse(t, strings.ReplaceAll(old.String(), "web:1", "web:2")), compare.Options{Gates: cluster.DefaultGates()})
	if len(r.Changes) != 4 {
		t.Fatalf("%d changes", len(r.Changes))
	}
	for _, ch := range r.Changes {
		if counted := ch.Rollout.Uncounted == ""; counted != (ch.ID.Name == "web") || counted && ch.Rollout.Reach != 10 {
			t.Errorf("%s: %d of %d pods, %q", ch.ID, ch.Rollout.Reach, ch.Rollout.Total, ch.Rollout.Uncounted)
		}
	}
}
