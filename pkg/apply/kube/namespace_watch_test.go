package kube

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// openFleet opens a fleet and waits until everything about it is known.
func openFleet(t *testing.T, s *apiServer, o NamespaceWatchOptions) (*NamespaceWatch, []*WorkloadView) {
	t.Helper()
	o.StateNamespace = "kruise-state"
	f, err := WatchNamespace(t.Context(), s.config(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	views, err := f.First(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return f, views
}

// described are workloads with the names of their pods.
func described(views []*WorkloadView) []string {
	out := []string{}
	for _, v := range views {
		var pods []string
		for _, p := range v.Pods {
			pods = append(pods, p.Name)
		}
		slices.Sort(pods)
		out = append(out, strings.TrimSuffix(v.Ref().String()+": "+strings.Join(pods, " "), ": "))
	}
	return out
}

// ownedPod is a pod of a controller.
func ownedPod(namespace, name, kind, owner string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: namespace, Name: name, UID: types.UID("uid-" + name),
		OwnerReferences: []metav1.OwnerReference{{Kind: kind, Name: owner, UID: types.UID("uid-" + owner), Controller: new(true)}},
	}}
}

func newDeployment(namespace, name string) *appsv1.Deployment {
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID("uid-" + name)},
		Spec:       appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}},
	}
}

func newReplicaSet(namespace, name, deployment string) *appsv1.ReplicaSet {
	r := &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID("uid-" + name)},
		Spec:       appsv1.ReplicaSetSpec{Replicas: new(int32(1)), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}},
	}
	if deployment != "" {
		r.Labels = map[string]string{appsv1.DefaultDeploymentUniqueLabelKey: "1"}
		r.OwnerReferences = []metav1.OwnerReference{{Kind: "Deployment", Name: deployment, UID: types.UID("uid-" + deployment), Controller: new(true)}}
	}
	return r
}

func kruiseObject(kind, namespace, name string, spec map[string]any) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	u.SetKind(kind)
	u.SetNamespace(namespace)
	u.SetName(name)
	u.SetUID(types.UID("uid-" + name))
	return u
}

func selecting(name string) map[string]any {
	return map[string]any{"selector": map[string]any{"matchLabels": map[string]any{"app": name}}}
}

// TestNamespaceWatch_SortsPodsByOwner: workloads come sorted, each with its pods: those of a Deployment
// by way of its ReplicaSets, and a ReplicaSet that has none is a workload itself.
func TestNamespaceWatch_SortsPodsByOwner(t *testing.T) {
	s := newAPIServer(t, kruiseOwn)
	s.put(t, "apps/v1/deployments", newDeployment("shop", "web"))
	s.put(t, "apps/v1/replicasets", newReplicaSet("shop", "web-1", "web"))
	s.put(t, "apps/v1/replicasets", newReplicaSet("shop", "lone", ""))
	s.put(t, "apps.kruise.io/v1beta1/clonesets", kruiseObject("CloneSet", "shop", "api", selecting("api")))
	s.put(t, "apps/v1/deployments", newDeployment("other", "db"))
	for _, p := range []*corev1.Pod{
		ownedPod("shop", "web-1-a", "ReplicaSet", "web-1"), ownedPod("shop", "web-1-b", "ReplicaSet", "web-1"),
		ownedPod("shop", "lone-a", "ReplicaSet", "lone"), ownedPod("shop", "api-a", "CloneSet", "api"),
		{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "unmanaged"}},
	} {
		s.put(t, "v1/pods", p)
	}
	_, views := openFleet(t, s, NamespaceWatchOptions{Namespace: "shop"})
	want := []string{"cloneset/api: api-a", "deployment/web: web-1-a web-1-b", "replicaset/lone: lone-a"}
	if diff := cmp.Diff(want, described(views)); diff != "" {
		t.Error(diff)
	}
	if _, all := openFleet(t, s, NamespaceWatchOptions{}); len(all) != 4 {
		t.Errorf("in all namespaces: %q", described(all))
	}
}

// TestNamespaceWatch_ReadsNewestServedVersion: Kruise's kinds are read in the newest version that is served.
func TestNamespaceWatch_ReadsNewestServedVersion(t *testing.T) {
	s := newAPIServer(t, map[string]string{"apps.kruise.io/v1alpha1/clonesets": "CloneSet"})
	s.put(t, "apps.kruise.io/v1alpha1/clonesets", kruiseObject("CloneSet", "shop", "api", selecting("api")))
	f, views := openFleet(t, s, NamespaceWatchOptions{Namespace: "shop"})
	if diff := cmp.Diff([]string{"cloneset/api"}, described(views)); diff != "" || len(f.Skipped()) > 0 {
		t.Errorf("%s, skipped %q", diff, f.Skipped())
	}
}

// TestNamespaceWatch_NamesUnreadableRecords: a record that was edited is named, and its workload is shown
// without a rollout.
func TestNamespaceWatch_NamesUnreadableRecords(t *testing.T) {
	s := newAPIServer(t, kruiseOwn)
	s.put(t, "apps/v1/deployments", newDeployment("shop", "web"))
	s.put(t, "v1/configmaps", &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "rollout.deployment-web", Labels: map[string]string{recordLabel: "deployment-web"}},
		Data:       map[string]string{keyRecord: "{"},
	})
	f, views := openFleet(t, s, NamespaceWatchOptions{})
	skipped := f.Skipped()
	if len(views) != 1 || views[0].Record.Version != "" || len(skipped) != 1 || !strings.Contains(skipped[0], "ConfigMap shop/rollout.deployment-web holds no rollout") {
		t.Errorf("%q, skipped %q", described(views), skipped)
	}
}

// TestNamespaceWatch_Forbidden: without pods there is nothing to show; without nodes there is, and the
// fleet says what is missing.
func TestNamespaceWatch_Forbidden(t *testing.T) {
	s := newAPIServer(t, kruiseOwn)
	s.put(t, "apps/v1/deployments", newDeployment("shop", "web"))
	s.refuse("v1/nodes", http.StatusForbidden)
	s.refuse("apps.kruise.io/v1beta1/clonesets", http.StatusForbidden)
	s.refuse("apps.kruise.io/v1alpha1/clonesets", http.StatusForbidden)
	f, views := openFleet(t, s, NamespaceWatchOptions{})
	if skipped := strings.Join(f.Skipped(), "\n"); len(views) != 1 || len(f.Skipped()) != 2 || !strings.Contains(skipped, "cannot read clonesets") || !strings.Contains(skipped, "cannot read nodes") {
		t.Errorf("%q, skipped %q", described(views), skipped)
	}
	s.refuse("v1/pods", http.StatusForbidden)
	f, err := WatchNamespace(t.Context(), s.config(), NamespaceWatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if views, err := f.First(t.Context()); err == nil || !strings.Contains(err.Error(), "cannot read pods") || f.Fault() == nil {
		t.Errorf("%q, %v", described(views), err)
	}
}

// TestNamespaceWatch_SidecarSets: they are among the workloads of all namespaces, if the selector matches
// them, with the pods that carry their containers; SidecarSets has all of them, with all pods.
func TestNamespaceWatch_SidecarSets(t *testing.T) {
	s := newAPIServer(t, kruiseOwn)
	mesh := kruiseObject("SidecarSet", "", "mesh", selecting("web"))
	mesh.SetLabels(map[string]string{"team": "red"})
	s.put(t, "apps.kruise.io/v1beta1/sidecarsets", mesh)
	s.put(t, "apps.kruise.io/v1beta1/sidecarsets", kruiseObject("SidecarSet", "", "log", selecting("web")))
	injected := ownedPod("shop", "a", "Job", "x")
	injected.Annotations = map[string]string{"kruise.io/sidecarset-injected-list": "mesh,log"}
	s.put(t, "v1/pods", injected)
	s.put(t, "v1/pods", ownedPod("shop", "b", "Job", "x"))
	for selector, want := range map[string][]string{"": {"sidecarset/log: a", "sidecarset/mesh: a"}, "team=red": {"sidecarset/mesh: a"}} {
		f, views := openFleet(t, s, NamespaceWatchOptions{Selector: selector})
		if diff := cmp.Diff(want, described(views)); diff != "" {
			t.Errorf("%q: %s", selector, diff)
		}
		if all := described(f.SidecarSets()); !slices.Equal(all, []string{"sidecarset/log: a b", "sidecarset/mesh: a b"}) {
			t.Errorf("%q: %q", selector, all)
		}
	}
	if _, views := openFleet(t, s, NamespaceWatchOptions{Namespace: "shop"}); len(views) != 0 {
		t.Errorf("in a namespace: %q", described(views))
	}
}

// TestNamespaceWatch_RenderedWorkloads: a native workload goes by the name of the one of Kruise that it
// was rendered from, unless several were rendered from that.
func TestNamespaceWatch_RenderedWorkloads(t *testing.T) {
	rendered := func(name string) *appsv1.Deployment {
		d := newDeployment("shop", name)
		d.Labels = map[string]string{"kubectl-kruise.dev/source": "cloneset.web"}
		d.Annotations = map[string]string{"kubectl-kruise.dev/strategy": `{"selector":{"matchLabels":{"app":"web"}}}`}
		return d
	}
	s := newAPIServer(t, nil)
	s.put(t, "apps/v1/deployments", rendered("web"))
	f, views := openFleet(t, s, NamespaceWatchOptions{Namespace: "shop"})
	if diff := cmp.Diff([]string{"cloneset/web"}, described(views)); diff != "" || views[0].Carrier == nil || views[0].Carrier.Kind != "Deployment" {
		t.Error(diff)
	}
	s.put(t, "apps/v1/deployments", rendered("web-canary"))
	eventually(t, f.conn.changes, "each has its own name", func() bool {
		return slices.Equal(described(f.Look()), []string{"deployment/web", "deployment/web-canary"})
	})
}

// TestNamespaceWatch_LookKeepsWhatIsUnchanged: a workload about which nothing has changed is the very
// same view, and one with a changed pod another.
func TestNamespaceWatch_LookKeepsWhatIsUnchanged(t *testing.T) {
	s := newAPIServer(t, nil)
	s.put(t, "apps/v1/deployments", newDeployment("shop", "web"))
	s.put(t, "apps/v1/statefulsets", kruiseObject("StatefulSet", "shop", "db", selecting("db")))
	s.put(t, "v1/pods", ownedPod("shop", "db-0", "StatefulSet", "db"))
	f, before := openFleet(t, s, NamespaceWatchOptions{Namespace: "shop"})
	s.put(t, "v1/pods", ownedPod("shop", "db-1", "StatefulSet", "db"))
	eventually(t, f.conn.changes, "the second pod is seen", func() bool {
		return slices.Equal(described(f.Look()), []string{"deployment/web", "statefulset/db: db-0 db-1"})
	})
	after := f.Look()
	if after[0] != before[0] || after[1] == before[1] || len(before[1].Pods) != 1 {
		t.Errorf("%q, then %q", described(before), described(after))
	}
	s.remove(t, "v1/pods", "shop", "db-0")
	eventually(t, f.conn.changes, "the pod is gone", func() bool {
		return slices.Equal(described(f.Look()), []string{"deployment/web", "statefulset/db: db-1"})
	})
}

// TestNamespaceWatch_NamesExecutorsOfActiveRollouts: a rollout that is not over has the executor that its lease names, as
// long as that lasts; of one that is over none is asked for.
func TestNamespaceWatch_NamesExecutorsOfActiveRollouts(t *testing.T) {
	lease := func(ago time.Duration) *coordinationv1.Lease {
		return &coordinationv1.Lease{Spec: coordinationv1.LeaseSpec{
			HolderIdentity: new("ann@desk"), LeaseDurationSeconds: new(int32(20)), RenewTime: new(metav1.NewMicroTime(time.Now().Add(-ago))),
		}}
	}
	for name, c := range map[string]struct {
		lease    *coordinationv1.Lease
		finished bool
		refused  bool
		begun    bool
		want     string
	}{
		"held":               {lease: lease(time.Second), begun: true, want: "ann@desk"},
		"expired":            {lease: lease(time.Minute), begun: true},
		"none":               {begun: true},
		"not to be read":     {lease: lease(time.Second), refused: true, begun: true, want: unreadExecutor},
		"finished, not over": {lease: lease(time.Second), finished: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newAPIServer(t, nil)
			set, _ := newStatefulSet()
			s.put(t, "apps/v1/statefulsets", set)
			rec := plan.Record{Ref: shopWeb.Ref, Begun: stepBegan, By: "ann", Progress: plan.Progress{Started: stepBegan}, Plan: onePlan}
			rec.Plan.Target = plan.Target{APIVersion: "apps/v1", Kind: shopWeb.Kind, Namespace: shopWeb.Namespace, Name: shopWeb.Name}
			if c.finished {
				rec.Progress.Step, rec.Progress.Finished = len(rec.Plan.Steps), stepBegan.Add(time.Hour)
			}
			cm, err := Records{}.configMap(rec, metav1.OwnerReference{})
			if err != nil {
				t.Fatal(err)
			}
			s.put(t, "v1/configmaps", cm)
			if c.lease != nil {
				c.lease.Namespace, c.lease.Name = cm.Namespace, cm.Name
				s.put(t, "coordination.k8s.io/v1/leases", c.lease)
			}
			if c.refused {
				s.refuse("coordination.k8s.io/v1/leases", http.StatusForbidden)
			}
			_, views := openFleet(t, s, NamespaceWatchOptions{Namespace: "shop"})
			if len(views) != 1 || views[0].Begun != c.begun || views[0].Executor != c.want || views[0].Record.By != "ann" {
				t.Errorf("%q: begun %t, executor %q", described(views), views[0].Begun, views[0].Executor)
			}
		})
	}
}

// TestNamespaceWatch_Distributions: what is spread over subsets, namespaces and nodes is watched when it
// is asked for first; kinds that are not served are missing.
func TestNamespaceWatch_Distributions(t *testing.T) {
	s := newAPIServer(t, kruiseOwn)
	s.put(t, "apps.kruise.io/v1beta1/uniteddeployments", kruiseObject("UnitedDeployment", "shop", "web", selecting("web")))
	gone := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "gone"}, Status: corev1.NamespaceStatus{Phase: corev1.NamespaceTerminating}}
	s.put(t, "v1/namespaces", gone)
	s.put(t, "v1/namespaces", &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop", Labels: map[string]string{"team": "red"}}})
	f, _ := openFleet(t, s, NamespaceWatchOptions{})
	var got Distributions
	eventually(t, f.conn.changes, "all kinds have answered", func() (ok bool) {
		got, ok = f.Distributions()
		return ok
	})
	if len(got.United) != 1 || got.United[0].Name != "web" || len(got.Spreads) != 0 || len(got.Pulls) != 0 {
		t.Errorf("%+v", got)
	}
	always := []string{"default", "kruise-state", "kube-node-lease", "kube-system", "other", "shop"}
	if diff := cmp.Diff(always, slices.Sorted(maps.Keys(got.Namespaces))); diff != "" || got.Namespaces["shop"]["team"] != "red" {
		t.Error(diff)
	}
	if diff := cmp.Diff(slices.Sorted(slices.Values(append(always, "gone"))), f.Namespaces()); diff != "" {
		t.Error(diff)
	}
}

// TestNamespaceWatch_KeepsNoTemplates: a fleet keeps workloads without their templates; a snapshot of one
// has it, of the source and of its carrier.
func TestNamespaceWatch_KeepsNoTemplates(t *testing.T) {
	u := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment",
		"metadata": map[string]any{
			"name": "web", "namespace": "shop", "uid": "u", "labels": map[string]any{"kubectl-kruise.dev/source": "cloneset.web"},
			"annotations": map[string]any{"kubectl-kruise.dev/strategy": `{"selector":{"matchLabels":{"app":"web"}}}`},
		},
		"spec": map[string]any{
			"selector": map[string]any{"matchLabels": map[string]any{"app": "web"}},
			"template": map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "main", "image": "web:1"}}}},
		},
	}}
	got, err := readWorkloadState(u)
	if err != nil {
		t.Fatal(err)
	}
	if got.source == nil || got.source.Template != nil || got.workload.Template != nil {
		t.Fatalf("%+v of %+v is not bare", got.workload, got.source)
	}
	snapshot, err := (&WorkloadView{Workload: got.source, Carrier: got.workload}).Snapshot(metav1.Now().Time)
	if err != nil {
		t.Fatal(err)
	}
	want, err := cluster.ReadWorkload(tree.FromValue(u.Object))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, snapshot.Carrier); diff != "" {
		t.Error(diff)
	}
	containers, _, _ := unstructured.NestedSlice(snapshot.Workload.Template, "spec", "containers")
	if snapshot.Workload.Kind != "CloneSet" || len(containers) != 1 {
		t.Errorf("%+v", snapshot.Workload)
	}
}
