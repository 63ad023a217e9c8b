package live

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// server answers list calls from a table of path to answer, in pages of one
// object, and refuses what is not in the table.
type server struct {
	lists     map[string][]map[string]any
	forbidden map[string]bool
	missing   map[string]bool
	asked     []string
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	path := r.URL.Path
	switch path {
	case "/api":
		write(w, map[string]any{"kind": "APIVersions", "versions": []string{"v1"}})
		return
	case "/apis":
		write(w, map[string]any{"kind": "APIGroupList", "apiVersion": "v1", "groups": []any{
			group("apps", "v1"), group("apps.kruise.io", "v1beta1", "v1alpha1"),
		}})
		return
	}
	q := path
	if sel := r.URL.Query().Get("labelSelector") + r.URL.Query().Get("fieldSelector"); sel != "" {
		q += "?" + sel
	}
	s.asked = append(s.asked, q)
	if s.forbidden[path] {
		w.WriteHeader(http.StatusForbidden)
		write(w, map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Forbidden", "code": 403, "message": "no, you may not"})
		return
	}
	if s.missing[path] {
		http.NotFound(w, r)
		return
	}
	items := s.lists[path]
	meta := map[string]any{}
	if token := r.URL.Query().Get("continue"); token == "" && len(items) > 1 {
		items, meta["continue"] = items[:1], "more"
	} else if token != "" {
		items = items[1:]
	}
	write(w, map[string]any{"kind": "List", "apiVersion": "v1", "metadata": meta, "items": items})
}

func group(name string, versions ...string) map[string]any {
	var list []any
	for _, v := range versions {
		list = append(list, map[string]any{"groupVersion": name + "/" + v, "version": v})
	}
	return map[string]any{"name": name, "versions": list, "preferredVersion": list[0]}
}

func write(w http.ResponseWriter, v any) { _ = json.NewEncoder(w).Encode(v) }

func object(kind, ns, name string) map[string]any {
	meta := map[string]any{"name": name, "managedFields": []any{map[string]any{"manager": "x"}}}
	if ns != "" {
		meta["namespace"] = ns
	}
	return map[string]any{"apiVersion": "v1", "kind": kind, "metadata": meta}
}

func read(t *testing.T, s *server, stream ...*resource.Resource) (*Result, error) {
	t.Helper()
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	cfg := &rest.Config{Host: srv.URL}
	return Read(t.Context(), dynamic.NewForConfigOrDie(cfg), discovery.NewDiscoveryClientForConfigOrDie(cfg), stream, "")
}

func kruiseObject(kind, ns string, spec map[string]any) *resource.Resource {
	return resource.Parsed(tree.FromValue(map[string]any{
		"apiVersion": "apps.kruise.io/v1beta1", "kind": kind,
		"metadata": map[string]any{"name": "x", "namespace": ns}, "spec": spec,
	}), nil, resource.Origin{})
}

func TestReadPagesAndStrips(t *testing.T) {
	s := &server{lists: map[string][]map[string]any{
		"/api/v1/namespaces": {object("Namespace", "", "a"), object("Namespace", "", "b")},
	}}
	res, err := read(t, s)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range res.Context {
		names = append(names, r.ID().String())
		if tree.Get(r.Node(), "metadata", "managedFields") != nil {
			t.Errorf("%s keeps managedFields", r.ID())
		}
	}
	if diff := cmp.Diff([]string{"Namespace a", "Namespace b"}, names); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"apps.kruise.io/v1alpha1", "apps.kruise.io/v1beta1", "apps/v1", "v1"}, res.APIVersions); diff != "" {
		t.Error(diff)
	}
}

func TestReadAsksForWhatTheStreamNeeds(t *testing.T) {
	s := &server{}
	_, err := read(t, s,
		kruiseObject("UnitedDeployment", "shop", map[string]any{}),
		kruiseObject("ResourceDistribution", "", map[string]any{"resource": map[string]any{"kind": "ConfigMap", "metadata": map[string]any{"name": "ca"}}}),
		kruiseObject("ResourceDistribution", "", map[string]any{"resource": map[string]any{"kind": "Secret", "metadata": map[string]any{"name": "pull"}}}),
	)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"/api/v1/nodes",
		"/apis/apps/v1/namespaces/shop/deployments?apps.kruise.io/subset-name",
		"/apis/apps.kruise.io/v1beta1/namespaces/shop/clonesets?apps.kruise.io/subset-name",
		"/apis/apps.kruise.io/v1beta1/namespaces/shop/uniteddeployments",
		"/apis/apps/v1/namespaces/kruise-system/controllerrevisions?kruise.io/sidecarset-name",
		"/api/v1/configmaps?metadata.name=ca",
	} {
		if !slices.Contains(s.asked, want) {
			t.Errorf("never asked for %s; asked:\n%s", want, strings.Join(s.asked, "\n"))
		}
	}
	for _, q := range s.asked {
		if strings.Contains(q, "secrets") {
			t.Errorf("a Secret was read: %s", q)
		}
	}
}

func TestReadGoesOnWithoutTheForbidden(t *testing.T) {
	s := &server{
		lists:     map[string][]map[string]any{"/api/v1/namespaces": {object("Namespace", "", "a")}},
		forbidden: map[string]bool{"/api/v1/nodes": true},
	}
	res, err := read(t, s)
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Skipped) != 1 || !strings.HasPrefix(res.Skipped[0], "nodes: ") {
		t.Errorf("skipped = %q, want the nodes alone", res.Skipped)
	}
	if len(res.Context) != 1 {
		t.Errorf("%d context objects, want the namespace", len(res.Context))
	}
}

// TestReadOldKruise: Kruise v1.9.0 serves v1beta1, but not for these kinds.
func TestReadOldKruise(t *testing.T) {
	const newer, older = "/apis/apps.kruise.io/v1beta1/", "/apis/apps.kruise.io/v1alpha1/"
	s := &server{missing: map[string]bool{}, lists: map[string][]map[string]any{}}
	for _, path := range []string{"namespaces/shop/clonesets", "namespaces/shop/uniteddeployments", "resourcedistributions"} {
		s.missing[newer+path] = true
		s.lists[older+path] = []map[string]any{object("Some", "", path)}
	}
	res, err := read(t, s, kruiseObject("UnitedDeployment", "shop", map[string]any{}), kruiseObject("ResourceDistribution", "", map[string]any{}))
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Context) != 3 || len(res.Skipped) != 0 {
		t.Errorf("%d objects read, want 3; skipped: %q", len(res.Context), res.Skipped)
	}
}

func TestReadNamesAnUnreachableCluster(t *testing.T) {
	cfg := &rest.Config{Host: "http://127.0.0.1:1"}
	_, err := Read(t.Context(), dynamic.NewForConfigOrDie(cfg), discovery.NewDiscoveryClientForConfigOrDie(cfg), nil, "")
	if err == nil || !strings.HasPrefix(err.Error(), "cannot ask the cluster what it serves: ") {
		t.Errorf("err = %v", err)
	}
}
