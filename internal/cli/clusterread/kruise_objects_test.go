package clusterread

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/rbac"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// heldObjects is an object of Kruise with a label, and with a controller.
func heldObjects(name, team string, controlled bool) map[string]any {
	meta := map[string]any{"name": name, "namespace": "shop", "labels": map[string]any{"team": team}, "managedFields": []any{map[string]any{"manager": "x"}}}
	if controlled {
		meta["ownerReferences"] = []any{map[string]any{"kind": "UnitedDeployment", "name": "x", "controller": true}}
	}
	return map[string]any{"metadata": meta, "spec": map[string]any{"replicas": int64(3)}}
}

func questionNames(list []*resource.Resource) string {
	var out []string
	for _, r := range list {
		out = append(out, r.ID().String())
	}
	return strings.Join(out, ", ")
}

// at is where a fake answers.
func at(t *testing.T, s *fakeCluster) Cluster {
	t.Helper()
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	return clusterAt(srv.URL)
}

// TestCheck_SelectsWhatUsersWrote: what people have written is checked as a whole; what a controller has created,
// what is not selected and what is not Kruise's is context.
func TestCheck_SelectsWhatUsersWrote(t *testing.T) {
	s := &fakeCluster{
		lists: map[string][]map[string]any{
			"/apis/apps.kruise.io/v1beta1/namespaces/shop/clonesets": {heldObjects("a", "x", false), heldObjects("b", "x", true), heldObjects("c", "y", false)},
			"/apis/apps/v1/namespaces/shop/deployments":              {heldObjects("d", "x", false)},
		},
		missing:   map[string]bool{"/apis/apps.kruise.io/v1beta1/namespaces/shop/broadcastjobs": true, "/apis/apps.kruise.io/v1alpha1/namespaces/shop/broadcastjobs": true},
		forbidden: map[string]bool{"/api/v1/namespaces": true},
	}
	found, err := ReadKruiseObjects(t.Context(), at(t, s), "shop", "team=x")
	if err != nil {
		t.Fatal(err)
	}
	if got := questionNames(found.Objects); got != "CloneSet shop/a" {
		t.Errorf("objects: %s", got)
	}
	if got := questionNames(found.Context); got != "Deployment shop/d, CloneSet shop/b, CloneSet shop/c" {
		t.Errorf("context: %s", got)
	}
	if diff := cmp.Diff([]string{"namespaces: no, you may not"}, found.Skipped); diff != "" {
		t.Error(diff)
	}
	if n := found.Objects[0].Node(); tree.Get(n, "metadata", "managedFields") != nil || tree.Get(n, "spec", "replicas") == nil {
		t.Error("what the check needs is not there, or more")
	}
	for _, path := range s.asked {
		if strings.HasSuffix(path, "/sidecarsets") || strings.HasSuffix(path, "/pods") || strings.HasSuffix(path, "/nodeimages") {
			t.Errorf("%s is asked for in a namespace", path)
		}
	}
}

// TestCheck_HoldsEachTextOnce: thousands of workloads say the same; each text is held once.
func TestCheck_HoldsEachTextOnce(t *testing.T) {
	s := &fakeCluster{lists: map[string][]map[string]any{
		"/apis/apps.kruise.io/v1beta1/namespaces/shop/clonesets": {heldObjects("a", "x", false), heldObjects("b", "x", false)},
	}}
	found, err := ReadKruiseObjects(t.Context(), at(t, s), "shop", "")
	if err != nil || len(found.Objects) != 2 {
		t.Fatal(err, found)
	}
	for _, path := range [][]string{{"metadata", "namespace"}, {"metadata", "labels", "team"}, {"spec", "replicas"}} {
		if a, b := tree.Get(found.Objects[0].Node(), path...), tree.Get(found.Objects[1].Node(), path...); a == nil || a != b {
			t.Errorf("%v: %v and %v", path, a, b)
		}
	}
}

// TestCheck_ReadsKindsWithoutANamespaceOnce: kinds without a namespace are looked at with all of them.
func TestCheck_ReadsKindsWithoutANamespaceOnce(t *testing.T) {
	s := &fakeCluster{lists: map[string][]map[string]any{"/apis/apps.kruise.io/v1beta1/sidecarsets": {{"metadata": map[string]any{"name": "logs"}}}}}
	found, err := ReadKruiseObjects(t.Context(), at(t, s), "", "")
	if err != nil || questionNames(found.Objects) != "SidecarSet logs" {
		t.Errorf("%v: %s", err, questionNames(found.Objects))
	}
	if _, err := ReadKruiseObjects(t.Context(), at(t, s), "", "no selector!"); err == nil {
		t.Error("a bad selector is taken")
	}
}

// TestCheck_NeedsThePrintedRole: the role that is printed for it has what it asks for, and no more.
func TestCheck_NeedsThePrintedRole(t *testing.T) {
	s := &fakeCluster{}
	if _, err := ReadKruiseObjects(t.Context(), at(t, s), "", ""); err != nil {
		t.Fatal(err)
	}
	asked := map[string]bool{"/pods": true} // ReadSelectedPods asks for them
	for _, path := range s.asked {
		path, _, _ = strings.Cut(path, "?")
		parts := strings.Split(strings.TrimPrefix(strings.TrimPrefix(path, "/apis/"), "/api/"), "/")
		group := parts[0]
		if strings.HasPrefix(path, "/api/") {
			group = ""
		}
		asked[group+"/"+parts[len(parts)-1]] = true
	}
	needed := map[string]bool{}
	for _, n := range rbac.All(nil, []rbac.Feature{rbac.Lint}) {
		needed[n.Group+"/"+n.Resource] = true
	}
	if diff := cmp.Diff(asked, needed); diff != "" {
		t.Errorf("asked for (-) and allowed (+): %s", diff)
	}
}

// TestSelected: one question for each object that selects, none for one that does not.
func TestSelected(t *testing.T) {
	s := &fakeCluster{lists: map[string][]map[string]any{"/api/v1/namespaces/shop/pods": {named("Pod", "shop", "p")}}}
	list := []*resource.Resource{
		parse(t, "apiVersion: policy.kruise.io/v1beta1\nkind: PodUnavailableBudget\nmetadata: {name: web, namespace: shop}\nspec: {selector: {matchLabels: {app: web}}}"),
		parse(t, "apiVersion: policy.kruise.io/v1beta1\nkind: PodUnavailableBudget\nmetadata: {name: db, namespace: shop}\nspec: {targetRef: {name: db}}"),
	}
	found, err := ReadSelectedPods(t.Context(), at(t, s), list)
	if err != nil || questionNames(found) != "Pod shop/p" {
		t.Errorf("%v: %s", err, questionNames(found))
	}
	if diff := cmp.Diff([]string{"/api/v1/namespaces/shop/pods?app=web"}, s.asked); diff != "" {
		t.Error(diff)
	}
}
