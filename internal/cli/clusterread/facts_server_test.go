package clusterread

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/conformance"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// ofRelease is what is asked to find out the release of Kruise, whatever else is read.
var ofRelease = []string{
	"/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "/apis/apps/v1/namespaces/kruise-system/deployments?control-plane=controller-manager",
	"/apis/apps.kruise.io/v1alpha1", "/apis/apps.kruise.io/v1beta1", "/apis/policy.kruise.io/v1alpha1", "/apis/policy.kruise.io/v1beta1",
}

// fakeCluster answers list calls from a table of path to answer, in pages of one
// object; what is not in the table is an empty list.
type fakeCluster struct {
	lists     map[string][]map[string]any
	forbidden map[string]bool
	missing   map[string]bool
	// versionless is a server that does not say its version.
	versionless bool
	asked       []string
}

func (s *fakeCluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	path := r.URL.Path
	switch {
	case path == "/api":
		writeManifest(w, map[string]any{"kind": "APIVersions", "versions": []string{"v1"}})
		return
	case path == "/apis":
		writeManifest(w, map[string]any{"kind": "APIGroupList", "apiVersion": "v1", "groups": []any{
			groupOf("apps", "v1"), groupOf("apps.kruise.io", "v1beta1", "v1alpha1"), groupOf("keda.sh", "v1alpha1"), groupOf("policy.kruise.io", "v1beta1"),
		}})
		return
	case path == "/version" && !s.versionless:
		writeManifest(w, map[string]any{"major": "1", "minor": "36+", "gitVersion": "v1.36.2-lab"})
		return
	}
	q := path
	if sel := r.URL.Query().Get("labelSelector") + r.URL.Query().Get("fieldSelector"); sel != "" {
		q += "?" + sel
	}
	if !slices.Contains(ofRelease, q) {
		s.asked = append(s.asked, q)
	}
	switch {
	case s.forbidden[path]:
		w.WriteHeader(http.StatusForbidden)
		writeManifest(w, map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Forbidden", "code": 403, "message": "no, you may not"})
	case s.missing[path]:
		http.NotFound(w, r)
	default:
		writeManifest(w, s.page(path, r.URL.Query().Get("continue")))
	}
}

// page is the first object with a token, or all others.
func (s *fakeCluster) page(path, token string) map[string]any {
	items, meta := s.lists[path], map[string]any{}
	if token != "" {
		items = items[1:]
	} else if len(items) > 1 {
		items, meta["continue"] = items[:1], "more"
	}
	return map[string]any{"kind": "List", "apiVersion": "v1", "metadata": meta, "items": items}
}

func groupOf(name string, versions ...string) map[string]any {
	var list []any
	for _, v := range versions {
		list = append(list, map[string]any{"groupVersion": name + "/" + v, "version": v})
	}
	return map[string]any{"name": name, "versions": list, "preferredVersion": list[0]}
}

func writeManifest(w http.ResponseWriter, v any) { _ = json.NewEncoder(w).Encode(v) }

func readManifest(t *testing.T, s *fakeCluster, scope FactScope) (*Facts, error) {
	t.Helper()
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	return ReadFacts(t.Context(), clusterAt(srv.URL), scope)
}

func clusterAt(url string) Cluster {
	cfg := &rest.Config{Host: url, QPS: -1}
	return Cluster{Objects: dynamic.NewForConfigOrDie(cfg), Discovery: discovery.NewDiscoveryClientForConfigOrDie(cfg)}
}

// kruiseObject reads one from YAML.
func kruiseObject(t *testing.T, text string) map[string]any {
	t.Helper()
	docs, err := conformance.Docs([]byte(text))
	if err != nil || len(docs) != 1 {
		t.Fatalf("%s: %v", text, err)
	}
	return docs[0]
}

func testKruiseObject(kind, ns string, spec map[string]any) *resource.Resource {
	group := "apps.kruise.io"
	if kind == "PodUnavailableBudget" {
		group = "policy.kruise.io"
	}
	return resource.Parsed(tree.FromValue(map[string]any{
		"apiVersion": group + "/v1beta1", "kind": kind,
		"metadata": map[string]any{"name": "x", "namespace": ns}, "spec": spec,
	}), nil, resource.Origin{})
}

// servedCluster is what a cluster serves, by group and version.
type servedCluster struct {
	discovery.ServerResourcesInterface
	has map[string][]string
	err error
}

func (c servedCluster) ServerResourcesForGroupVersion(gv string) (*metav1.APIResourceList, error) {
	names, ok := c.has[gv]
	switch {
	case c.err != nil:
		return nil, c.err
	case !ok:
		return nil, apierrors.NewNotFound(schema.GroupResource{}, gv)
	}
	out := &metav1.APIResourceList{}
	for _, n := range names {
		out.APIResources = append(out.APIResources, metav1.APIResource{Name: n})
	}
	return out, nil
}

func TestKind_IsTheNewestServed(t *testing.T) {
	both := map[string][]string{"apps.kruise.io/v1beta1": {"clonesets"}, "apps.kruise.io/v1alpha1": {"clonesets", "ephemeraljobs"}}
	for name, c := range map[string]struct {
		has    map[string][]string
		plural string
		want   string
	}{
		"no Kruise":       {nil, "clonesets", ""},
		"newest":          {both, "clonesets", "v1beta1"},
		"older only":      {both, "ephemeraljobs", "v1alpha1"},
		"another":         {both, "nothing", ""},
		"an older Kruise": {map[string][]string{"apps.kruise.io/v1alpha1": {"clonesets"}}, "clonesets", "v1alpha1"},
	} {
		if got, err := ServedVersion(servedCluster{has: c.has}, c.plural); got != c.want || err != nil {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if _, err := ServedVersion(servedCluster{err: errors.New("no way")}, "clonesets"); err == nil {
		t.Error("a cluster that does not answer has no Kruise")
	}
}
