package cli

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// asked is an API server that serves nothing, and tells what it was asked for.
func asked(t *testing.T) (url string, paths func() []string) {
	t.Helper()
	var mu sync.Mutex
	var list []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		list = append(list, r.URL.Path)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(map[string]string{
			"/api":  `{"kind": "APIVersions", "versions": ["v1"]}`,
			"/apis": `{"kind": "APIGroupList", "apiVersion": "v1", "groups": []}`,
		}[r.URL.Path]))
		if !strings.HasSuffix(r.URL.Path, "/api") && !strings.HasSuffix(r.URL.Path, "/apis") {
			_, _ = w.Write([]byte(`{"kind": "List", "apiVersion": "v1", "items": []}`))
		}
	}))
	t.Cleanup(srv.Close)
	return srv.URL, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(list)
	}
}

// TestLive_UsesTheNamespaceOfTheContext: objects without a namespace are looked for where
// kubectl would put them.
func TestLive_UsesTheNamespaceOfTheContext(t *testing.T) {
	objects := file(t, `apiVersion: apps.kruise.io/v1beta1
kind: SidecarSet
metadata: {name: logs}
spec:
  selector: {matchLabels: {app: web}}
  containers: [{name: logs, image: registry.example.com/logs:1}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: app, image: registry.example.com/web:1}]}
`)
	for _, c := range []struct {
		args []string
		want string
	}{{nil, "shop"}, {[]string{"-n", "other"}, "other"}} {
		url, paths := asked(t)
		t.Setenv("KUBECONFIG", file(t, `apiVersion: v1
kind: Config
current-context: c
contexts: [{name: c, context: {cluster: c, namespace: shop, user: u}}]
clusters: [{name: c, cluster: {server: "`+url+`"}}]
users: [{name: u, user: {}}]
`))
		if code, _, errOut := call(t.Context(), t, "", append([]string{"render", "-q", "-f", objects, "--live"}, c.args...)...); code != 0 {
			t.Errorf("exit %d: %s", code, errOut)
		}
		if want := "/api/v1/namespaces/" + c.want + "/limitranges"; !slices.Contains(paths(), want) {
			t.Errorf("%v: %s was not asked for, only\n%s", c.args, want, strings.Join(paths(), "\n"))
		}
	}
}
