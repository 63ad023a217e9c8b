package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/kyaml/kio"
)

// skewed is a server of some version, by what it serves by default
// on or off: testdata/skew has one for each minor version, written down from what is known
// of each release, not read from servers.
type skewed struct {
	Version      string              `json:"version"`
	Serves       map[string][]string `json:"serves"`
	Subresources []string            `json:"subresources"`
}

// minor is such as 33.
func (s skewed) minor() (m int) {
	_, _ = fmt.Sscanf(s.Version, "v1.%d.", &m)
	return m
}

// servers are all of testdata/skew, each with its address.
func servers(t *testing.T) map[string]skewed {
	t.Helper()
	files, err := filepath.Glob("testdata/skew/*.json")
	if err != nil || len(files) != 9 {
		t.Fatalf("%d fixtures, %v", len(files), err)
	}
	out := map[string]skewed{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var s skewed
		if err := json.Unmarshal(text, &s); err != nil {
			t.Fatal(err)
		}
		out[s.start(t)] = s
	}
	return out
}

// start answers discovery, and lists of everything without an object.
func (s skewed) start(t *testing.T) (url string) {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(s.answer(r.URL.Path))
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

func (s skewed) answer(path string) any {
	switch path {
	case "/version":
		return map[string]string{"major": "1", "minor": fmt.Sprint(s.minor()), "gitVersion": s.Version}
	case "/api":
		return map[string]any{"kind": "APIVersions", "versions": []string{"v1"}}
	case "/apis":
		return map[string]any{"kind": "APIGroupList", "apiVersion": "v1", "groups": s.groups()}
	}
	gv := strings.TrimPrefix(strings.TrimPrefix(path, "/apis/"), "/api/")
	if kinds, ok := s.Serves[gv]; ok {
		return map[string]any{"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": gv, "resources": s.resources(gv, kinds)}
	}
	return map[string]any{"kind": "List", "apiVersion": "v1", "metadata": map[string]any{}, "items": []any{}}
}

func (s skewed) groups() (out []map[string]any) {
	for gv := range s.Serves {
		if group, version, ok := strings.Cut(gv, "/"); ok {
			versions := []map[string]string{{"groupVersion": gv, "version": version}}
			out = append(out, map[string]any{"name": group, "versions": versions, "preferredVersion": versions[0]})
		}
	}
	return out
}

func (s skewed) resources(gv string, kinds []string) (out []map[string]any) {
	for _, kind := range kinds {
		out = append(out, map[string]any{"name": strings.ToLower(kind) + "s", "kind": kind, "namespaced": true, "verbs": []string{"get", "list"}})
	}
	if gv == "v1" {
		for _, name := range s.Subresources {
			out = append(out, map[string]any{"name": name, "kind": "Pod", "namespaced": true, "verbs": []string{"update", "patch"}})
		}
	}
	return out
}

func present(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// TestServerVersions_RenderOnlyServedKinds: whatever version the server has, rendering for it makes nothing that it
// does not serve.
func TestServerVersions_RenderOnlyServedKinds(t *testing.T) {
	for url, server := range servers(t) {
		for name, dir := range examples(t) {
			args := []string{"render", "-q", "-f", filepath.Join(dir, "app.yaml"), "--live", "--allow-empty", "--server", url}
			if !present(args[3]) || name == "nodeimage" {
				continue // nothing becomes of a NodeImage: it stays
			}
			if with := filepath.Join(dir, "with.yaml"); present(with) {
				args = append(args, "--with", with)
			}
			code, out, said := call(t.Context(), t, "", args...)
			if code != 0 {
				t.Errorf("%s, %s: exit code %d: %s", server.Version, name, code, said)
				continue
			}
			objects, err := (&kio.ByteReader{Reader: strings.NewReader(out), OmitReaderAnnotations: true}).Read()
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range objects {
				if !slices.Contains(server.Serves[o.GetApiVersion()], o.GetKind()) && !strings.Contains(o.GetApiVersion(), "keda.sh/") {
					t.Errorf("%s does not serve %s %s, of examples/%s", server.Version, o.GetApiVersion(), o.GetKind(), name)
				}
			}
		}
	}
}

const (
	pulls = `apiVersion: apps.kruise.io/v1beta1
kind: ImagePullJob
metadata: {name: pull, annotations: {kubectl-kruise.dev/nodes: "2"}}
spec: {image: "registry.example.com/web:2", completionPolicy: {type: Always}}
`
	guarded = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {policy.kruise.io/delete-protection: Always}}
spec: {selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: app, image: a}]}}}
`
	many = `apiVersion: apps.kruise.io/v1beta1
kind: StatefulSet
metadata: {name: db}
spec:
  serviceName: db
  podManagementPolicy: Parallel
  updateStrategy: {rollingUpdate: {maxUnavailable: 2}}
  selector: {matchLabels: {app: db}}
  template: {metadata: {labels: {app: db}}, spec: {containers: [{name: app, image: a}]}}
`
	native = `apiVersion: apps.kruise.io/v1beta1
kind: SidecarSet
metadata: {name: log}
spec:
  selector: {matchLabels: {app: web}}
  updateStrategy: {type: NotUpdate}
  initContainers: [{name: log, image: log, restartPolicy: Always}]
---
` + guarded
	recreateRequest = `apiVersion: apps.kruise.io/v1beta1
kind: ContainerRecreateRequest
metadata: {name: again, annotations: {kubectl-kruise.dev/method: resize}}
spec: {podName: web-0, containers: [{name: app}]}
---
apiVersion: v1
kind: Pod
metadata: {name: web-0, uid: u}
spec:
  restartPolicy: Always
  containers: [{name: app, image: a, resources: {requests: {cpu: 100m}}, resizePolicy: [{resourceName: cpu, restartPolicy: RestartContainer}]}]
status: {phase: Running, containerStatuses: [{name: app, image: a, imageID: "a@sha256:0000000000000000000000000000000000000000000000000000000000000000", containerID: "containerd://1", restartCount: 0, started: true, ready: true, state: {running: {startedAt: "2026-01-01T00:00:00Z"}}}]}
`
)

// TestServerVersions_DecideWhatIsRendered: what is made depends on the server's version where the server's
// abilities do, and from the version on that has them.
func TestServerVersions_DecideWhatIsRendered(t *testing.T) {
	for url, server := range servers(t) {
		for what, c := range map[string]struct {
			input string
			args  []string
			has   string
			since int
		}{
			"native sidecars":           {native, nil, "restartPolicy: Always", 29},
			"policies that refuse":      {guarded, nil, "kind: ValidatingAdmissionPolicy\n", 30},
			"resize":                    {recreateRequest, []string{"--patches-dir", t.TempDir()}, "subresource resize", 33},
			"image volumes":             {pulls, nil, "reference: registry.example.com/web:2", 35},
			"policies that change":      {native, []string{"--sidecarset-as", "admission"}, "kind: MutatingAdmissionPolicy\n", 36},
			"StatefulSets, many a time": {many, nil, "maxUnavailable: 2", 37},
		} {
			args := append([]string{"render", "-f", file(t, c.input), "--live", "--allow-empty", "--server", url}, c.args...)
			_, out, said := call(t.Context(), t, "", args...)
			if len(c.args) == 2 && c.args[0] == "--patches-dir" {
				text, _ := os.ReadFile(filepath.Join(c.args[1], "README.md"))
				out = string(text)
			}
			if got := strings.Contains(out, c.has); got != (server.minor() >= c.since) {
				t.Errorf("%s, %s: %t\n%s\n%s", server.Version, what, got, out, said)
			}
		}
	}
}

// TestServerVersions_AreReadFromClusterFacts: rendering from a file follows what a server reports about itself.
func TestServerVersions_AreReadFromClusterFacts(t *testing.T) {
	for url, server := range servers(t) {
		code, out, said := call(t.Context(), t, "", "inventory", "--server", url)
		if want := fmt.Sprintf("kubernetesVersion: \"1.%d\"", server.minor()); code != 0 || !strings.Contains(out, want) {
			t.Errorf("%s: exit code %d\n%s%s", server.Version, code, out, said)
		}
		for gv := range server.Serves {
			if !strings.Contains(out, "    - "+gv+"\n") && !strings.Contains(out, "  - "+gv+"\n") {
				t.Errorf("%s: no %s in\n%s", server.Version, gv, out)
			}
		}
	}
}

// TestServerVersions_UnknownOnesAreReported: a server that this program does not know is named.
func TestServerVersions_UnknownOnesAreReported(t *testing.T) {
	for version, known := range map[string]bool{"v1.28.9": false, "v1.29.0": true, "v1.37.1": true, "v1.38.0": false} {
		_, out, _ := call(t.Context(), t, "", "doctor", "--server", skewed{Version: version}.start(t))
		if said := strings.Contains(out, "this program knows 1.29 to 1.37"); said == known || !strings.Contains(out, version) {
			t.Errorf("%s:\n%s", version, out)
		}
	}
}
