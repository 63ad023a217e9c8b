package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

const liveWeb = `{"apiVersion": "apps.kruise.io/v1beta1", "kind": "CloneSet",
  "metadata": {"name": "web", "namespace": "shop", "uid": "w1", "generation": 1},
  "spec": {"replicas": 3, "selector": {"matchLabels": {"app": "web"}},
    "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"podUpdatePolicy": "InPlaceIfPossible", "maxUnavailable": 1}},
    "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "main", "image": "web:1"}]}}},
  "status": {"observedGeneration": 1, "replicas": 3, "readyReplicas": 3, "availableReplicas": 3, "updatedReplicas": 3, "updatedReadyReplicas": 3,
    "updatedAvailableReplicas": 3, "expectedUpdatedReplicas": 3, "currentRevision": "web-1", "updateRevision": "web-1"}}`

const liveRevision = `{"apiVersion": "apps/v1", "kind": "ControllerRevision", "revision": 1,
  "metadata": {"name": "web-1", "namespace": "shop", "ownerReferences": [{"apiVersion": "apps.kruise.io/v1beta1", "kind": "CloneSet", "name": "web", "uid": "w1", "controller": true}]},
  "data": {"spec": {"template": {"$patch": "replace", "metadata": {"labels": {"app": "web"}}, "spec": {"containers": [
    {"name": "main", "image": "web:1", "imagePullPolicy": "Always", "resources": {}, "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File"}],
    "dnsPolicy": "ClusterFirst", "restartPolicy": "Always", "schedulerName": "default-scheduler", "securityContext": {}, "terminationGracePeriodSeconds": 30}}}}}`

func livePod(i int) string {
	return fmt.Sprintf(`{"apiVersion": "v1", "kind": "Pod",
  "metadata": {"name": "web-%[1]d", "namespace": "shop", "uid": "p%[1]d", "creationTimestamp": "2026-01-01T00:00:0%[1]dZ",
    "labels": {"app": "web", "controller-revision-hash": "web-1", "lifecycle.apps.kruise.io/state": "Normal"},
    "ownerReferences": [{"apiVersion": "apps.kruise.io/v1beta1", "kind": "CloneSet", "name": "web", "uid": "w1", "controller": true}]},
  "spec": {"nodeName": "n1", "readinessGates": [{"conditionType": "InPlaceUpdateReady"}], "containers": [{"name": "main", "image": "web:1"}]},
  "status": {"phase": "Running", "conditions": [
      {"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:01:0%[1]dZ"},
      {"type": "InPlaceUpdateReady", "status": "True", "lastTransitionTime": "2026-01-01T00:01:00Z"}],
    "containerStatuses": [{"name": "main", "image": "web:1", "imageID": "sha256:1", "ready": true, "state": {"running": {}}}]}}`, i)
}

// shopCluster serves one CloneSet with three pods, and refuses every write.
func shopCluster(t *testing.T) string {
	t.Helper()
	answers := map[string][]string{
		"/api/v1/namespaces/shop/pods":                           {livePod(1), livePod(2), livePod(3)},
		"/apis/apps/v1/namespaces/shop/controllerrevisions":      {liveRevision},
		"/apis/policy/v1/namespaces/shop/poddisruptionbudgets":   {},
		"/apis/apps.kruise.io/v1beta1/namespaces/shop/clonesets": {liveWeb},
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		list, ok := answers[r.URL.Path]
		switch {
		case r.Method != http.MethodGet:
			t.Errorf("a preview sent %s %s", r.Method, r.URL)
		case r.URL.Path == "/apis/apps.kruise.io/v1beta1/namespaces/shop/clonesets/web":
			_, _ = fmt.Fprint(w, liveWeb)
		case ok:
			_, _ = fmt.Fprintf(w, `{"kind": "List", "apiVersion": "v1", "items": [%s]}`, strings.Join(list, ","))
		default:
			w.WriteHeader(http.StatusNotFound)
			_ = json.NewEncoder(w).Encode(map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404})
		}
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

// TestPlan_NamesThePodsOfTheCluster: the plan names the very pods of the cluster, most recently ready
// first, is pinned to the object, and nothing is written.
func TestPlan_NamesThePodsOfTheCluster(t *testing.T) {
	server := shopCluster(t)
	code, out, errOut := call(t.Context(), t, "", "plan", "cloneset/web", "-n", "shop", "--image", "main=web:2", "--steps", "1,100%", "--server", server)
	if code != 0 {
		t.Fatalf("exit %d\n%s\n%s", code, out, errOut)
	}
	for _, want := range []string{"in place: web-3\n", "in place: web-2, web-1\n", "web-1 to (a new revision)", "up to 1 of 3 pods"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if strings.Contains(out, "made up") {
		t.Errorf("pods of a cluster are not made up:\n%s", out)
	}
	_, out, _ = call(t.Context(), t, "", "plan", "cloneset/web", "-n", "shop", "--image", "main=web:2", "-o", "yaml", "--server", server)
	if !strings.Contains(out, "uid: w1\n") {
		t.Errorf("the plan is not pinned to the object:\n%s", out)
	}
}

// TestSimulate_FindsTheObjectOfAPlan: a plan that was written for a cluster finds its object again.
func TestSimulate_FindsTheObjectOfAPlan(t *testing.T) {
	server := shopCluster(t)
	_, planned, _ := call(t.Context(), t, "", "plan", "cloneset/web", "-n", "shop", "--image", "main=web:2", "-o", "yaml", "--server", server)
	code, out, errOut := call(t.Context(), t, "", "simulate", file(t, planned), "--server", server)
	if code != 0 || !strings.Contains(out, "completes in ") || !strings.Contains(out, "web-3") {
		t.Errorf("exit %d\n%s\n%s", code, out, errOut)
	}
}

// TestPlan_FromFilesAsksNoServer: with --against FILE no server is asked.
func TestPlan_FromFilesAsksNoServer(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Errorf("asked for %s", r.URL) }))
	t.Cleanup(srv.Close)
	path := file(t, liveWeb)
	if code, out, errOut := call(t.Context(), t, "", "plan", "--against", path, "--image", "main=web:2", "--server", srv.URL); code != 0 {
		t.Errorf("exit %d\n%s\n%s", code, out, errOut)
	}
}

func TestPlan_ExitCodes(t *testing.T) {
	path := file(t, liveWeb)
	for _, c := range []struct {
		args []string
		want int
	}{
		{[]string{"plan", "--against", path, "--image", "main=web:2"}, 0},
		{[]string{"plan", "--against", path, "-f", path}, 0},
		{[]string{"plan"}, 2},
		{[]string{"plan", "--against", path, "--image", "main=web:2", "--steps", "x"}, 2},
		{[]string{"plan", "--against", "/nonexistent", "--image", "main=web:2"}, 1},
		{[]string{"simulate", "--against", path, "--image", "main=web:2"}, 0},
		{[]string{"simulate", "--against", path, "--image", "main=web:2", "--fail-pod", "1"}, 3},
		{[]string{"simulate", "/nonexistent.yaml", "--against", path}, 1},
		{[]string{"explain", "inplace", path, path}, 0},
		{[]string{"explain", "inplace", path}, 2},
		{[]string{"explain", "inplace", path, "/nonexistent"}, 1},
	} {
		if code, _, errOut := call(t.Context(), t, "", c.args...); code != c.want {
			t.Errorf("%q: exit %d, want %d\n%s", c.args, code, c.want, errOut)
		}
	}
}

// TestPlan_HintOfAMissingWorkloadWorks checks that the hint is a command that helps.
func TestPlan_HintOfAMissingWorkloadWorks(t *testing.T) {
	server := shopCluster(t)
	for args, files := range map[string]bool{
		"plan cloneset/api --image main=web:2":        true,
		"simulate cloneset/api --image main=web:2":    true,
		"why cloneset/api":                            false,
		"rollout pause pod/web":                       false,
		"rollout resume cloneset/api":                 false,
		"rollout run cloneset/api --image main=web:2": false,
	} {
		code, _, errOut := call(t.Context(), t, "", append(strings.Fields(args), "-n", "shop", "--server", server)...)
		if code != 1 || !strings.Contains(errOut, "not found") || !strings.Contains(errOut, "hint: check the name and -n") || strings.Contains(errOut, "--against") != files {
			t.Errorf("%s: exit %d\n%s", args, code, errOut)
		}
	}
}

// carriedCluster has no Kruise, but the ReplicaSet that cloneset/web was rendered
// into, with two pods.
func carriedCluster(t *testing.T) string {
	t.Helper()
	set := `{"apiVersion": "apps/v1", "kind": "ReplicaSet",
  "metadata": {"name": "web", "namespace": "shop", "uid": "r1", "generation": 1, "labels": {"kubectl-kruise.dev/source": "cloneset.web"},
    "annotations": {"kubectl-kruise.dev/strategy": "{\"replicas\":2,\"selector\":{\"matchLabels\":{\"app\":\"web\"}},\"updateStrategy\":{\"rollingUpdate\":{\"podUpdatePolicy\":\"InPlaceIfPossible\"}}}"}},
  "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "web"}},
    "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "main", "image": "web:1", "imagePullPolicy": "Always"}]}}},
  "status": {"observedGeneration": 1, "replicas": 2, "readyReplicas": 2, "availableReplicas": 2}}`
	pod := func(i int) string {
		text := strings.NewReplacer("apps.kruise.io/v1beta1", "apps/v1", `"CloneSet"`, `"ReplicaSet"`, `"uid": "w1"`, `"uid": "r1"`).Replace(livePod(i))
		return strings.Replace(text, `"readinessGates": [{"conditionType": "InPlaceUpdateReady"}], `, "", 1)
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		var items string
		switch r.URL.Path {
		case "/apis/apps/v1/namespaces/shop/replicasets":
			items = set
		case "/api/v1/namespaces/shop/pods":
			items = pod(1) + "," + pod(2)
		default:
			w.WriteHeader(http.StatusNotFound)
			_, _ = fmt.Fprint(w, `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404}`)
			return
		}
		_, _ = fmt.Fprintf(w, `{"kind": "List", "apiVersion": "v1", "items": [%s]}`, items)
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

// TestPlan_WithoutKruiseFindsTheRenderedWorkload: cloneset/web is found through what it was rendered into,
// and its pods are updated by this client, in place; a manifest of the CloneSet
// does as well as an image.
func TestPlan_WithoutKruiseFindsTheRenderedWorkload(t *testing.T) {
	server := carriedCluster(t)
	manifest := file(t, `apiVersion: apps.kruise.io/v1beta1
kind: CloneSet
metadata: {name: web, namespace: shop}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  updateStrategy: {rollingUpdate: {podUpdatePolicy: InPlaceIfPossible}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: main, image: "web:2"}]}}
`)
	for _, args := range [][]string{
		{"plan", "cloneset/web", "-n", "shop", "--image", "main=web:2", "--server", server},
		{"plan", "-f", manifest, "--server", server},
	} {
		code, out, errOut := call(t.Context(), t, "", args...)
		if code != 0 {
			t.Errorf("%q: exit %d\n%s%s", args, code, out, errOut)
			continue
		}
		for _, want := range []string{"cloneset/web in shop, updated by this client, pod by pod", "runs as        replicaset/web", "recreate: 2 of 2 pods, although the change is possible in place", "+ web:2"} {
			if !strings.Contains(out, want) {
				t.Errorf("%q: no %q in\n%s", args, want, out)
			}
		}
	}
}
