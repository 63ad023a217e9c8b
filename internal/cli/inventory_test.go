package cli

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
)

// populated is a cluster whose lists are given by path, as the
// insides of a JSON list. What is in forbidden may not be read.
func populated(t *testing.T, lists map[string]string, forbidden ...string) string {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/version":
			_, _ = fmt.Fprint(w, `{"major": "1", "minor": "35"}`)
			return
		case "/api":
			_, _ = fmt.Fprint(w, `{"kind": "APIVersions", "versions": ["v1"]}`)
			return
		case "/apis":
			_, _ = fmt.Fprint(w, `{"kind": "APIGroupList", "apiVersion": "v1", "groups": [{"name": "apps.kruise.io", "versions": [{"groupVersion": "apps.kruise.io/v1beta1"}]}]}`)
			return
		}
		if slices.Contains(forbidden, r.URL.Path) {
			w.WriteHeader(http.StatusForbidden)
			_, _ = fmt.Fprint(w, `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Forbidden", "code": 403, "message": "you may not list these"}`)
			return
		}
		_, _ = fmt.Fprintf(w, `{"kind": "List", "apiVersion": "v1", "items": [%s]}`, lists[r.URL.Path])
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

// shop is a cluster with one of each that matters, and with secrets in it.
func shop() map[string]string {
	const noise = `"uid": "u", "resourceVersion": "9", "creationTimestamp": "2026-01-01T00:00:00Z", "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "hunter2"}`
	return map[string]string{
		"/api/v1/namespaces": `{"metadata": {"name": "team-b", ` + noise + `, "labels": {"team": "b"}}}, {"metadata": {"name": "team-a", ` + noise + `}}, {"metadata": {"name": "gone", "deletionTimestamp": "2026-01-01T00:00:00Z"}}`,
		"/api/v1/nodes":      `{"metadata": {"name": "one", ` + noise + `, "labels": {"zone": "a"}}, "spec": {"taints": [{"key": "gpu", "effect": "NoSchedule", "timeAdded": "2026-01-01T00:00:00Z"}]}, "status": {"addresses": [{"address": "10.9.8.7"}], "allocatable": {"cpu": "4"}}}`,
		"/apis/apps/v1/namespaces/kruise-system/controllerrevisions": `{"metadata": {"name": "logs-1", ` + noise + `, "labels": {"kruise.io/sidecarset-name": "logs"}}, "revision": 1, "data": {"spec": {"containers": [{"name": "c", "image": "i:1"}]}}},
			{"metadata": {"name": "logs-2", "labels": {"kruise.io/sidecarset-name": "logs"}}, "revision": 2, "data": {"spec": {"containers": [{"name": "c", "env": [{"name": "PASSWORD", "value": "hunter2"}]}]}}}`,
		"/apis/apps.kruise.io/v1beta1/resourcedistributions": `{"metadata": {"name": "pull", ` + noise + `}, "spec": {"resource": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "ca"}, "data": {"p": "hunter2"}}, "targets": {"allNamespaces": true}}}`,
		"/api/v1/configmaps": `{"metadata": {"name": "ca", "namespace": "team-a", ` + noise + `}, "data": {"p": "hunter2"}}`,
	}
}

const shopFacts = `# Facts of a cluster, for kubectl kruise render --with. Written by kubectl kruise
# inventory; generate it again instead of editing it.
apiVersion: v1
kind: List
items:
- apiVersion: kubectl-kruise.dev/v1alpha1
  kind: ClusterFacts
  metadata:
    name: cluster
  spec:
    apiVersions:
    - apps.kruise.io/v1beta1
    - v1
    kubernetesVersion: "1.35"
- apiVersion: v1
  kind: ConfigMap
  metadata:
    name: ca
    namespace: team-a
- apiVersion: v1
  kind: Namespace
  metadata:
    name: team-a
- apiVersion: v1
  kind: Namespace
  metadata:
    labels:
      team: b
    name: team-b
- apiVersion: v1
  kind: Node
  metadata:
    labels:
      zone: a
    name: one
  spec:
    taints:
    - effect: NoSchedule
      key: gpu
  status:
    allocatable:
      cpu: "4"
- apiVersion: apps/v1
  kind: ControllerRevision
  metadata:
    labels:
      kruise.io/sidecarset-name: logs
    name: logs-1
  data:
    spec:
      containers:
      - image: i:1
        name: c
  revision: 1
- apiVersion: apps.kruise.io/v1beta1
  kind: ResourceDistribution
  metadata:
    name: pull
  spec:
    resource:
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: ca
    targets:
      allNamespaces: true
`

func TestInventory_WritesTheFactsOfACluster(t *testing.T) {
	server := populated(t, shop())
	code, out, errOut := call(t.Context(), t, "", "inventory", "-A", "--server", server)
	if diff := cmp.Diff(shopFacts, out); code != 0 || diff != "" {
		t.Errorf("exit %d\n%s%s", code, errOut, diff)
	}
	if want := "warning: the inventory is without SidecarSet revision logs-2: it holds values of environment variables, which only --include-env writes down\n"; errOut != want {
		t.Errorf("said %q", errOut)
	}
	path := filepath.Join(t.TempDir(), "facts.yaml")
	if code, out, errOut := call(t.Context(), t, "", "inventory", "-n", "team-a", "--server", server, "--out", path, "--include-env"); code != 0 || out+errOut != "" {
		t.Errorf("exit %d, said %q", code, out+errOut)
	}
	text, err := os.ReadFile(path)
	if n := strings.Count(string(text), "hunter2"); err != nil || n != 1 {
		t.Errorf("%v, %d times the value that was asked for:\n%s", err, n, text)
	}
}

func TestInventory_LimitsWhatItReads(t *testing.T) {
	server := populated(t, shop(), "/api/v1/nodes")
	for name, c := range map[string]struct {
		args []string
		code int
		// kinds are in the output; said is in the messages.
		kinds []string
		said  string
	}{
		"kinds":             {args: []string{"--kinds", "namespace,clusterfacts"}, kinds: []string{"ClusterFacts", "Namespace", "Namespace"}},
		"skipped kinds":     {args: []string{"--skip-kinds", "Node,ControllerRevision,ConfigMap,ResourceDistribution"}, kinds: []string{"ClusterFacts", "Namespace", "Namespace"}},
		"forbidden":         {args: []string{"--kinds", "Node,ClusterFacts"}, kinds: []string{"ClusterFacts"}, said: "warning: the inventory is without nodes: you may not list these"},
		"forbidden, strict": {args: []string{"--kinds", "Node", "--strict"}, code: 1, said: "the inventory is not complete"},
		"nothing":           {args: []string{"--kinds", "WorkloadSpread"}},
		"json":              {args: []string{"--kinds", "ClusterFacts", "-o", "json"}, kinds: []string{"ClusterFacts"}},
		"files":             {args: []string{"-f", file(t, everywhere), "--skip-kinds", "ClusterFacts"}, kinds: []string{"ConfigMap", "Namespace", "Namespace"}},

		"unknown kind":     {args: []string{"--kinds", "Secret"}, code: 2, said: `--kinds: "Secret" is not a kind of facts`},
		"unknown output":   {args: []string{"-o", "table"}, code: 2, said: "--output: unknown value"},
		"bad selector":     {args: []string{"-l", "a=b=c"}, code: 2, said: "--selector: "},
		"-A and -n":        {args: []string{"-A", "-n", "shop"}, code: 2, said: "-A and -n exclude each other"},
		"-A and -f":        {args: []string{"-A", "-f", "x.yaml"}, code: 2, said: "-A excludes -f and -k"},
		"-k and -f":        {args: []string{"-k", "x", "-f", "x.yaml"}, code: 2, said: "only one of -f or -k can be specified"},
		"-R alone":         {args: []string{"-R"}, code: 2, said: "-R without -f"},
		"an argument":      {args: []string{"pods"}, code: 2, said: `unexpected arguments: [pods]`},
		"no such file":     {args: []string{"-f", "nowhere.yaml"}, code: 1, said: "nowhere.yaml"},
		"no cluster there": {args: []string{"--server", "http://127.0.0.1:1"}, code: 1, said: "cannot ask the cluster what it serves"},
	} {
		t.Run(name, func(t *testing.T) {
			args := append([]string{"inventory", "--server", server}, c.args...)
			code, out, errOut := call(t.Context(), t, "", args...)
			if code != c.code || !strings.Contains(errOut, c.said) || c.said == "" && errOut != "" {
				t.Errorf("exit %d, said %q; want %d, %q", code, errOut, c.code, c.said)
			}
			objects, err := load.Parse("out", []byte(out))
			if err != nil {
				t.Fatal(err)
			}
			var kinds []string
			for _, r := range objects {
				kinds = append(kinds, r.Kind())
			}
			if diff := cmp.Diff(c.kinds, kinds); diff != "" {
				t.Errorf("%s\n%s", diff, out)
			}
		})
	}
}

// TestInventory_EqualsALiveRead: the same cluster, through a file and directly;
// also the server's version and what it serves.
func TestInventory_EqualsALiveRead(t *testing.T) {
	server := populated(t, shop())
	manifests := file(t, everywhere+`---
apiVersion: apps.kruise.io/v1beta1
kind: BroadcastJob
metadata: {name: sweep}
spec:
  template:
    spec:
      restartPolicy: Never
      tolerations: [{key: gpu, operator: Exists}]
      containers: [{name: c, image: "registry.example.com/sweep:1"}]
`)
	facts := filepath.Join(t.TempDir(), "facts.yaml")
	if code, _, errOut := call(t.Context(), t, "", "inventory", "-f", manifests, "--server", server, "--out", facts); code != 0 {
		t.Fatal(errOut)
	}
	for _, target := range []string{"native", "auto"} {
		_, live, said := call(t.Context(), t, "", "render", "-f", manifests, "--live", "--server", server, "--target", target)
		code, with, alsoSaid := call(t.Context(), t, "", "render", "-f", manifests, "--with", facts, "--target", target)
		if diff := cmp.Diff(live+said, with+alsoSaid); code != 0 || diff != "" {
			t.Errorf("%s: exit %d (-live +with)\n%s", target, code, diff)
		}
		if native := strings.Contains(with, "kind: Job"); native != (target == "native") || !strings.Contains(said, "conflict") && native {
			t.Errorf("%s:\n%s%s", target, with, said)
		}
	}
}
