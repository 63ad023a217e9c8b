package live

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

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

// fake answers list calls from a table of path to answer, in pages of one
// object; what is not in the table is an empty list.
type fake struct {
	lists     map[string][]map[string]any
	forbidden map[string]bool
	missing   map[string]bool
	// versionless is a server that does not say its version.
	versionless bool
	asked       []string
}

func (s *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	path := r.URL.Path
	switch {
	case path == "/api":
		write(w, map[string]any{"kind": "APIVersions", "versions": []string{"v1"}})
		return
	case path == "/apis":
		write(w, map[string]any{"kind": "APIGroupList", "apiVersion": "v1", "groups": []any{
			group("apps", "v1"), group("apps.kruise.io", "v1beta1", "v1alpha1"), group("keda.sh", "v1alpha1"), group("policy.kruise.io", "v1beta1"),
		}})
		return
	case path == "/version" && !s.versionless:
		write(w, map[string]any{"major": "1", "minor": "36+", "gitVersion": "v1.36.2-lab"})
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
		write(w, map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Forbidden", "code": 403, "message": "no, you may not"})
	case s.missing[path]:
		http.NotFound(w, r)
	default:
		write(w, s.page(path, r.URL.Query().Get("continue")))
	}
}

// page is the first object with a token, or all others.
func (s *fake) page(path, token string) map[string]any {
	items, meta := s.lists[path], map[string]any{}
	if token != "" {
		items = items[1:]
	} else if len(items) > 1 {
		items, meta["continue"] = items[:1], "more"
	}
	return map[string]any{"kind": "List", "apiVersion": "v1", "metadata": meta, "items": items}
}

func group(name string, versions ...string) map[string]any {
	var list []any
	for _, v := range versions {
		list = append(list, map[string]any{"groupVersion": name + "/" + v, "version": v})
	}
	return map[string]any{"name": name, "versions": list, "preferredVersion": list[0]}
}

func write(w http.ResponseWriter, v any) { _ = json.NewEncoder(w).Encode(v) }

func read(t *testing.T, s *fake, scope Scope) (*Result, error) {
	t.Helper()
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	return Read(t.Context(), clusterAt(srv.URL), scope)
}

func clusterAt(url string) Cluster {
	cfg := &rest.Config{Host: url, QPS: -1}
	return Cluster{Objects: dynamic.NewForConfigOrDie(cfg), Discovery: discovery.NewDiscoveryClientForConfigOrDie(cfg)}
}

// object reads one from YAML.
func object(t *testing.T, text string) map[string]any {
	t.Helper()
	docs, err := conformance.Docs([]byte(text))
	if err != nil || len(docs) != 1 {
		t.Fatalf("%s: %v", text, err)
	}
	return docs[0]
}

func kruiseObject(kind, ns string, spec map[string]any) *resource.Resource {
	group := "apps.kruise.io"
	if kind == "PodUnavailableBudget" {
		group = "policy.kruise.io"
	}
	return resource.Parsed(tree.FromValue(map[string]any{
		"apiVersion": group + "/v1beta1", "kind": kind,
		"metadata": map[string]any{"name": "x", "namespace": ns}, "spec": spec,
	}), nil, resource.Origin{})
}
