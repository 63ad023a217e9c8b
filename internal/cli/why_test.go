package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// crashing is web-2, updated, with a container that ends again and again.
var crashing = strings.NewReplacer(
	`"controller-revision-hash": "web-1"`, `"controller-revision-hash": "web-2"`,
	`{"type": "Ready", "status": "True"`, `{"type": "Ready", "status": "False"`,
	`"ready": true, "state": {"running": {}}`, `"ready": false, "restartCount": 7, "state": {"waiting": {"reason": "CrashLoopBackOff"}}, "lastState": {"terminated": {"reason": "Error", "exitCode": 2}}`,
).Replace(livePod(2))

const liveMesh = `{"apiVersion": "apps.kruise.io/v1beta1", "kind": "SidecarSet", "metadata": {"name": "mesh", "creationTimestamp": "2026-02-01T00:00:00Z"},
  "spec": {"selector": {"matchLabels": {"app": "web"}}, "containers": [{"name": "mesh", "image": "mesh:1"}]}}`

// brokenShop serves a CloneSet in the middle of an update whose first pod crashes.
func brokenShop(t *testing.T, change map[string]string) string {
	t.Helper()
	web := strings.NewReplacer(`"image": "web:1"`, `"image": "web:2"`, `"updatedReplicas": 3, "updatedReadyReplicas": 3`, `"updatedReplicas": 1, "updatedReadyReplicas": 0`,
		`"updatedAvailableReplicas": 3`, `"updatedAvailableReplicas": 0`, `"updateRevision": "web-1"`, `"updateRevision": "web-2"`).Replace(liveWeb)
	second := strings.NewReplacer(`"image": "web:1"`, `"image": "web:2"`, `"name": "web-1"`, `"name": "web-2"`, `"revision": 1`, `"revision": 2`).Replace(liveRevision)
	list := func(items ...string) string {
		return `{"kind": "List", "apiVersion": "v1", "items": [` + strings.Join(items, ",") + `]}`
	}
	answers := map[string]string{
		"/api/v1/namespaces/shop":                                    `{"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": "shop", "labels": {"kubernetes.io/metadata.name": "shop"}}}`,
		"/api/v1/namespaces/shop/pods":                               list(livePod(1), crashing, livePod(3)),
		"/api/v1/namespaces/shop/pods/web-1":                         livePod(1),
		"/api/v1/namespaces/shop/pods/web-2":                         crashing,
		"/api/v1/namespaces/shop/pods/web-2/log":                     "starting\n\x1b[31mpanic: no such table\n",
		"/apis/apps/v1/namespaces/shop/controllerrevisions":          list(liveRevision, second),
		"/apis/apps/v1/namespaces/kruise-system/controllerrevisions": list(),
		"/apis/apps.kruise.io/v1beta1/sidecarsets":                   list(liveMesh),
		"/apis/apps.kruise.io/v1beta1/namespaces/shop/clonesets/web": web,
	}
	maps.Copy(answers, change)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		text, ok := answers[r.URL.Path]
		switch {
		case r.Method != http.MethodGet, strings.Contains(r.URL.Path, "/secrets"):
			t.Errorf("a question sent %s %s", r.Method, r.URL)
		case !ok:
			w.WriteHeader(http.StatusNotFound)
			_ = json.NewEncoder(w).Encode(map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404})
		case strings.HasSuffix(r.URL.Path, "/log") && (r.URL.Query().Get("tailLines") != "10" || r.URL.Query().Get("previous") != "true"):
			t.Errorf("asked for more than the end of a log: %s", r.URL)
		default:
			_, _ = fmt.Fprint(w, text)
		}
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

func TestWhy_Workload(t *testing.T) {
	code, out, errOut := call(t.Context(), t, "", "why", "cloneset/web", "-n", "shop", "--server", brokenShop(t, nil))
	want := `cloneset/web  blocked: CrashLoopBackOff (7 restarts): container main in pod web-2; image web:1; ended with Error, exit code 2
  pods: 1 of 3 updated, 0 of these ready; 2 ready in all
blocked by:
  ! crash: CrashLoopBackOff (7 restarts): container main in pod web-2; image web:1; ended with Error, exit code 2
      hint: 'kubectl logs --previous web-2 -n shop' shows why it ended; 'kubectl kruise rollout undo cloneset/web -n shop' rolls back
  - updated: 0 of 3 updated pods are available
  - maxUnavailable: 1 pod of the target revision is not available yet, at most 1: web-3 waits
the last lines of container main in web-2, in its own words:
  | starting
  | [31mpanic: no such table
`
	if diff := cmp.Diff(want, out); diff != "" || code != 0 {
		t.Errorf("exit %d\n%s\n%s", code, diff, errOut)
	}
}

func TestWhy_Pod(t *testing.T) {
	server := brokenShop(t, nil)
	_, out, errOut := call(t.Context(), t, "", "why", "web-1", "-n", "shop", "--server", server)
	want := `pod web-1  on an old revision: 1 pod is updated before it: 1 pod of the target revision is not available yet, at most 1: web-3 waits
blocked by:
  - maxUnavailable: web-1: 1 pod is updated before it: 1 pod of the target revision is not available yet, at most 1: web-3 waits
sidecars:
  mesh: it matches now, but the pod is older (2026-01-01T00:00:01Z) than the set (2026-02-01T00:00:00Z): only a new pod gets it
`
	if diff := cmp.Diff(want, out); diff != "" {
		t.Errorf("%s\n%s", diff, errOut)
	}
	if _, out, _ = call(t.Context(), t, "", "why", "cloneset/web", "-n", "shop", "-o", "json", "--server", server); !strings.Contains(out, `"updatedReady": 0`) {
		t.Errorf("no counts in\n%s", out)
	}
	_, out, _ = call(t.Context(), t, "", "why", "pod/web-2", "-n", "shop", "-o", "json", "--server", server)
	var got struct {
		About, Answer string
		Causes        []struct{ Gate string }
		Logs          []struct{ Lines []string }
		Sidecars      []struct{ Set string }
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil || got.About != "pod web-2" || len(got.Causes) != 1 || got.Causes[0].Gate != "crash" || len(got.Logs) != 1 || len(got.Sidecars) != 1 {
		t.Errorf("%v in\n%s", err, out)
	}
}

// TestWhy_PodOfADeployment: the pod's ReplicaSet leads to its Deployment.
func TestWhy_PodOfADeployment(t *testing.T) {
	owned := func(kind, name, uid string) string {
		return `"ownerReferences": [{"apiVersion": "apps/v1", "kind": "` + kind + `", "name": "` + name + `", "uid": "` + uid + `", "controller": true}]`
	}
	template := `"replicas": 1, "selector": {"matchLabels": {"app": "api"}}, "template": {"metadata": {"labels": {"app": "api"}}, "spec": {"containers": [{"name": "main", "image": "api:1"}]}}`
	pod := `{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "api-1", "namespace": "shop", "uid": "p", "labels": {"app": "api", "pod-template-hash": "1"}, ` + owned("ReplicaSet", "api-1", "r") + `},
	  "spec": {"containers": [{"name": "main", "image": "api:1"}]}, "status": {"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/1 nodes are available"}]}}`
	set := `{"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "api-1", "namespace": "shop", "uid": "r", ` + owned("Deployment", "api", "d") + `}, "spec": {` + template + `}}`
	server := brokenShop(t, map[string]string{
		"/api/v1/namespaces/shop/pods/api-1":              pod,
		"/api/v1/namespaces/shop/pods":                    `{"kind": "List", "apiVersion": "v1", "items": [` + pod + `]}`,
		"/apis/apps/v1/namespaces/shop/replicasets":       `{"kind": "List", "apiVersion": "v1", "items": [` + set + `]}`,
		"/apis/apps/v1/namespaces/shop/replicasets/api-1": set,
		"/apis/apps/v1/namespaces/shop/deployments/api":   `{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "api", "namespace": "shop", "uid": "d", "generation": 1}, "spec": {` + template + `}, "status": {"observedGeneration": 1}}`,
		"/apis/apps.kruise.io/v1beta1/sidecarsets":        `{"kind": "List", "apiVersion": "v1", "items": []}`,
	})
	_, out, errOut := call(t.Context(), t, "", "why", "api-1", "-n", "shop", "--server", server)
	want := "pod api-1  up to date with deployment.apps/api, not ready: 0/1 nodes are available\n"
	if !strings.HasPrefix(out, want) || !strings.Contains(out, "hint: 'kubectl describe pod api-1 -n shop' shows") {
		t.Errorf("%s\n%s", out, errOut)
	}
}

func TestWhy_ReportsErrors(t *testing.T) {
	server := brokenShop(t, nil)
	for _, c := range []struct {
		args []string
		code int
		said string
	}{
		{[]string{"why"}, 2, "give one TYPE/NAME or POD"},
		{[]string{"why", "cloneset/web", "-o", "xml"}, 2, `unknown value "xml"`},
		{[]string{"why", "job/web"}, 2, `unknown type "job"`},
		{[]string{"why", "cloneset/none", "-n", "shop", "--server", server}, 1, `Error from server (NotFound): clonesets.apps.kruise.io "none" not found`},
		{[]string{"why", "none", "-n", "shop", "--server", server}, 1, `Error from server (NotFound): pods "none" not found`},
	} {
		if code, _, errOut := call(t.Context(), t, "", c.args...); code != c.code || !strings.Contains(errOut, c.said) {
			t.Errorf("%q: exit %d\n%s", c.args, code, errOut)
		}
	}
}

const liveRelease = `{"kind": "List", "apiVersion": "v1", "items": [{"apiVersion": "rollouts.kruise.io/v1beta1", "kind": "Rollout", "metadata": {"name": "web", "namespace": "shop", "generation": 1},
  "spec": {"workloadRef": {"apiVersion": "apps.kruise.io/v1beta1", "kind": "CloneSet", "name": "web"}, "strategy": {"canary": {"steps": [{"replicas": 1}, {"replicas": "100%"}]}}},
  "status": {"observedGeneration": 1, "phase": "Progressing", "currentStepIndex": 1, "currentStepState": "StepPaused", "canaryStatus": {"currentStepIndex": 1, "currentStepState": "StepPaused"}}}]}`

// TestWhy_WorkloadOfAKruiseRollout: who holds the partition, at which step, and what has it go on.
func TestWhy_WorkloadOfAKruiseRollout(t *testing.T) {
	server := brokenShop(t, map[string]string{"/apis/rollouts.kruise.io/v1beta1/namespaces/shop/rollouts": liveRelease})
	for _, about := range []string{"cloneset/web", "web-1"} {
		_, out, errOut := call(t.Context(), t, "", "why", about, "-n", "shop", "--server", server)
		if !strings.Contains(out, "! owner: run by Kruise Rollout web: step 1 of 2, StepPaused: waits to be approved\n      hint: kubectl kruise rollout approve rollout/web -n shop\n") {
			t.Errorf("%s\n%s\n%s", about, out, errOut)
		}
	}
}

// TestWhy_UnitedDeployment: each subset has its answer, and the first that is stuck is the one
// of the whole.
func TestWhy_UnitedDeployment(t *testing.T) {
	subset := strings.NewReplacer(`"name": "web"`, `"name": "web", "labels": {"apps.kruise.io/subset-name": "a"}, "ownerReferences": [{"apiVersion": "apps.kruise.io/v1beta1", "kind": "UnitedDeployment", "name": "web", "uid": "ud", "controller": true}]`)
	live := subset.Replace(strings.ReplaceAll(liveWeb, `"image": "web:1"`, `"image": "web:2"`))
	united := `{"apiVersion": "apps.kruise.io/v1beta1", "kind": "UnitedDeployment", "metadata": {"name": "web", "namespace": "shop", "uid": "ud", "generation": 2},
	  "spec": {"template": {"cloneSetTemplate": {}}, "topology": {"subsets": [{"name": "a"}]}}, "status": {"observedGeneration": 1}}`
	server := brokenShop(t, map[string]string{
		"/apis/apps.kruise.io/v1beta1/namespaces/shop/uniteddeployments/web": united,
		"/apis/apps.kruise.io/v1beta1/namespaces/shop/clonesets":             `{"kind": "List", "apiVersion": "v1", "items": [` + live + `]}`,
	})
	code, out, errOut := call(t.Context(), t, "", "why", "ud/web", "-n", "shop", "--server", server)
	for _, want := range []string{
		"ud/web  progressing: Kruise has not processed the latest change yet; subset 1 of 1, cloneset.apps.kruise.io/web: blocked: CrashLoopBackOff (7 restarts): container main in pod web-2; image web:1",
		"the last lines of container main in web-2",
	} {
		if !strings.Contains(out, want) || code != 0 {
			t.Errorf("exit %d: no %q in\n%s\n%s", code, want, out, errOut)
		}
	}
	if code, _, errOut := call(t.Context(), t, "", "why", "ud/none", "-n", "shop", "--server", server); code != 1 || !strings.Contains(errOut, `uniteddeployments.apps.kruise.io "none" not found`) {
		t.Errorf("exit %d\n%s", code, errOut)
	}
}
