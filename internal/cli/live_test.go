package cli

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// cluster answers discovery and lists; every answer carries the same warning.
// kruise is what it serves of apps.kruise.io, a version or "".
func cluster(t *testing.T, kruise *string) string {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Warning", `299 - "this server is old"`)
		switch r.URL.Path {
		case "/api":
			_, _ = fmt.Fprint(w, `{"kind": "APIVersions", "versions": ["v1"]}`)
		case "/apis":
			groups := ""
			if *kruise != "" {
				groups = fmt.Sprintf(`{"name": "apps.kruise.io", "versions": [{"groupVersion": "apps.kruise.io/%[1]s", "version": "%[1]s"}]}`, *kruise)
			}
			_, _ = fmt.Fprintf(w, `{"kind": "APIGroupList", "apiVersion": "v1", "groups": [%s]}`, groups)
		case "/api/v1/namespaces":
			_, _ = fmt.Fprint(w, `{"kind": "NamespaceList", "apiVersion": "v1", "items": [{"metadata": {"name": "team-a"}}]}`)
		default:
			_, _ = fmt.Fprint(w, `{"kind": "List", "apiVersion": "v1", "items": []}`)
		}
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

const everywhere = `apiVersion: apps.kruise.io/v1beta1
kind: ResourceDistribution
metadata: {name: ca}
spec:
  resource: {apiVersion: v1, kind: ConfigMap, metadata: {name: ca}, data: {ca.crt: x}}
  targets: {allNamespaces: true}
`

func TestLive_ReadsNamespaces(t *testing.T) {
	kruise := ""
	code, out, errOut := call(t.Context(), t, "", "render", "-q", "-f", file(t, everywhere), "--live", "--server", cluster(t, &kruise))
	if code != 0 || !strings.Contains(out, "namespace: team-a") {
		t.Errorf("exit %d\n%s\n%s", code, out, errOut)
	}
	if n := strings.Count(errOut, "this server is old"); n != 1 {
		t.Errorf("the server's warning comes %d times, want once", n)
	}
}

// TestTargetAuto_AsksTheClusterEachTime: what a cluster serves is not taken from a cache, as
// Kruise may have been installed a minute ago.
func TestTargetAuto_AsksTheClusterEachTime(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	kruise := ""
	args := []string{"render", "-q", "-f", file(t, lossy), "--target", "auto", "--server", cluster(t, &kruise)}
	if _, out, errOut := call(t.Context(), t, "", args...); !strings.Contains(out, "kind: Deployment") {
		t.Errorf("without Kruise:\n%s%s", out, errOut)
	}
	kruise = "v1beta1"
	if _, out, errOut := call(t.Context(), t, "", args...); !strings.Contains(out, "kind: CloneSet") {
		t.Errorf("with Kruise:\n%s%s", out, errOut)
	}
}
