package clusterread

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// stateServer holds objects by their path, and lists by theirs, in pages of two.
type stateServer struct {
	objects   map[string]string
	lists     map[string][]string
	forbidden map[string]bool
	asked     []string
}

func (s *stateServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	path, query := r.URL.Path, r.URL.Query()
	s.asked = append(s.asked, strings.TrimSuffix(path+"?"+query.Get("labelSelector"), "?"))
	list, listed := s.lists[path]
	switch {
	case r.Method != http.MethodGet:
		stateStatus(w, http.StatusMethodNotAllowed, "MethodNotAllowed")
	case s.forbidden[path]:
		stateStatus(w, http.StatusForbidden, "Forbidden")
	case s.objects[path] != "":
		_, _ = w.Write(asJSON(s.objects[path]))
	case listed:
		s.page(w, list, query.Get("continue"), query.Get("resourceVersion"))
	default:
		stateStatus(w, http.StatusNotFound, "NotFound")
	}
}

// page answers like an API server: a continued list must not name a version.
func (s *stateServer) page(w http.ResponseWriter, list []string, from, version string) {
	if (from == "") != (version == "0") {
		stateStatus(w, http.StatusBadRequest, "BadRequest")
		return
	}
	var at int
	_, _ = fmt.Sscan(from, &at)
	meta, items := map[string]any{}, []json.RawMessage{}
	for i := at; i < len(list) && i < at+2; i++ {
		items = append(items, asJSON(list[i]))
	}
	if at+2 < len(list) {
		meta["continue"] = fmt.Sprint(at + 2)
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"kind": "List", "apiVersion": "v1", "metadata": meta, "items": items})
}

func stateStatus(w http.ResponseWriter, code int, reason string) {
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "code": code, "message": "no, you may not"})
}

func asJSON(doc string) []byte {
	b, err := yaml.YAMLToJSON([]byte(doc))
	if err != nil {
		panic(doc + err.Error())
	}
	return b
}

func askWorkload(t *testing.T, s *stateServer, arg string) (*WorkloadState, error) {
	t.Helper()
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	name, err := resourcearg.Parse(arg)
	if err != nil {
		t.Fatal(err)
	}
	return ReadWorkload(t.Context(), dynamic.NewForConfigOrDie(&rest.Config{Host: srv.URL}), name, "shop")
}

const stateSpec = `spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: main, image: "web:1"}]}}
`

func observedObject(apiVersion, kind, name, uid, more string) string {
	return fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata: {name: %s, namespace: shop, uid: %s, managedFields: [{manager: x}]%s}\n", apiVersion, kind, name, uid, more)
}

func ownedBy(kind, name, uid string) string {
	return fmt.Sprintf(", labels: {app: web}, ownerReferences: [{apiVersion: apps.kruise.io/v1beta1, kind: %s, name: %s, uid: %s, controller: true}]", kind, name, uid)
}

func observedPod(name, kind, owner, uid string) string {
	return observedObject("v1", "Pod", name, "p-"+name, ownedBy(kind, owner, uid)) + "spec: {nodeName: n1, containers: [{name: main, image: 'web:1'}]}\nstatus: {phase: Running}\n"
}

const (
	kruiseSets        = "/apis/apps.kruise.io/v1beta1/namespaces/shop/"
	coreKinds         = "/api/v1/namespaces/shop/"
	revisionsResource = "/apis/apps/v1/namespaces/shop/controllerrevisions"
)

func shopKinds() *stateServer {
	return &stateServer{
		objects: map[string]string{kruiseSets + "clonesets/web": observedObject("apps.kruise.io/v1beta1", "CloneSet", "web", "w1", "") + stateSpec + "status: {updateRevision: web-7c9f, currentRevision: web-7c9f}"},
		lists: map[string][]string{
			coreKinds + "pods": {observedPod("web-a", "CloneSet", "web", "w1"), observedPod("web-b", "CloneSet", "web", "w1"), observedPod("web-c", "CloneSet", "web", "w1"), observedPod("api-a", "CloneSet", "api", "w2")},
			revisionsResource: {
				observedObject("apps/v1", "ControllerRevision", "web-7c9f", "r1", ownedBy("CloneSet", "web", "w1")) + "revision: 1\ndata: {spec: {template: {spec: {}}}}",
				observedObject("apps/v1", "ControllerRevision", "api-7c9f", "r2", ownedBy("CloneSet", "api", "w2")) + "revision: 1\ndata: {}",
			},
			"/apis/policy.kruise.io/v1alpha1/namespaces/shop/podunavailablebudgets": {observedObject("policy.kruise.io/v1alpha1", "PodUnavailableBudget", "b", "b1", "") + "spec: {selector: {matchLabels: {app: web}}, maxUnavailable: 1}"},
			"/apis/policy/v1/namespaces/shop/poddisruptionbudgets":                  {observedObject("policy/v1", "PodDisruptionBudget", "d", "d1", "") + "spec: {selector: {matchLabels: {app: other}}, maxUnavailable: 1}"},
		},
	}
}

// TestReadWorkload_ReadsOnlyItsObjects: what comes from the cluster is what a snapshot is made of, page by
// page, and others' pods and revisions stay out.
func TestReadWorkload_ReadsOnlyItsObjects(t *testing.T) {
	res, err := askWorkload(t, shopKinds(), "cloneset/web")
	if err != nil {
		t.Fatal(err)
	}
	s, err := res.Snapshot(cluster.DefaultGates(), time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Pods) != 3 || len(s.Revisions) != 1 || len(s.Budgets) != 1 || len(s.Disruptions) != 0 || s.Workload.UID != "w1" {
		t.Errorf("%d pods, %d revisions, %d budgets, %d disruption budgets, uid %s", len(s.Pods), len(s.Revisions), len(s.Budgets), len(s.Disruptions), s.Workload.UID)
	}
	if len(res.Skipped) != 0 {
		t.Errorf("skipped %q", res.Skipped)
	}
}

// TestReadWorkload_InAnOlderKruise: v1.9.0 has CloneSets in v1alpha1 only.
func TestReadWorkload_InAnOlderKruise(t *testing.T) {
	s := shopKinds()
	delete(s.objects, kruiseSets+"clonesets/web")
	s.objects["/apis/apps.kruise.io/v1alpha1/namespaces/shop/clonesets/web"] = observedObject("apps.kruise.io/v1alpha1", "CloneSet", "web", "w1", "") + stateSpec
	res, err := askWorkload(t, s, "clone/web")
	if err != nil || res.Object.Version() != "v1alpha1" {
		t.Errorf("%v, %v", res, err)
	}
}

// TestReadWorkload_OfAnAmbiguousType: a type that means two kinds finds the one that is there.
func TestReadWorkload_OfAnAmbiguousType(t *testing.T) {
	s := &stateServer{
		objects: map[string]string{"/apis/apps/v1/namespaces/shop/statefulsets/web": observedObject("apps/v1", "StatefulSet", "web", "w1", "") + stateSpec},
		lists:   map[string][]string{coreKinds + "pods": {}, revisionsResource: {}},
	}
	res, err := askWorkload(t, s, "sts/web")
	if err != nil || res.Ref.Group != "apps" {
		t.Errorf("%v, %v", res, err)
	}
}

// TestReadWorkload_DeploymentHasItsReplicaSets: its pods belong to its ReplicaSets, which are its revisions.
func TestReadWorkload_DeploymentHasItsReplicaSets(t *testing.T) {
	set := func(name, uid, owner string) string {
		return observedObject("apps/v1", "ReplicaSet", name, uid, strings.ReplaceAll(ownedBy("Deployment", owner, owner), "apps.kruise.io/v1beta1", "apps/v1")) + stateSpec
	}
	s := &stateServer{
		objects: map[string]string{"/apis/apps/v1/namespaces/shop/deployments/web": observedObject("apps/v1", "Deployment", "web", "web", "") + stateSpec},
		lists: map[string][]string{
			"/apis/apps/v1/namespaces/shop/replicasets": {set("web-1", "rs1", "web"), set("web-2", "rs2", "web"), set("api-1", "rs3", "api")},
			coreKinds + "pods":                          {observedPod("web-1-a", "ReplicaSet", "web-1", "rs1"), observedPod("web-2-a", "ReplicaSet", "web-2", "rs2"), observedPod("api-1-a", "ReplicaSet", "api-1", "rs3")},
		},
	}
	res, err := askWorkload(t, s, "deploy/web")
	if err != nil {
		t.Fatal(err)
	}
	snap, err := res.Snapshot(cluster.Gates{}, time.Time{})
	if err != nil || len(snap.Pods) != 2 || len(snap.Revisions) != 2 {
		t.Errorf("%d pods, %d revisions, %v", len(snap.Pods), len(snap.Revisions), err)
	}
}

// TestReadWorkload_AsksOnlyForNeededObjects: nodes for DaemonSets, claims for those that make
// any, namespaces and Kruise's own for SidecarSets.
func TestReadWorkload_AsksOnlyForNeededObjects(t *testing.T) {
	spread := strings.Replace(stateSpec, "spec: {containers", "spec: {topologySpreadConstraints: [{maxSkew: 1}], containers", 1)
	claims := strings.Replace(stateSpec, "spec:\n", "spec:\n  volumeClaimTemplates: [{metadata: {name: data}}]\n", 1)
	for _, c := range []struct {
		arg, path, object string
		asked, not        []string
	}{
		{"clone/web", kruiseSets + "clonesets/web", observedObject("apps.kruise.io/v1beta1", "CloneSet", "web", "w1", "") + stateSpec, []string{coreKinds + "pods?app=web", revisionsResource + "?app=web"}, []string{"/api/v1/nodes", coreKinds + "persistentvolumeclaims"}},
		{"clone/web", kruiseSets + "clonesets/web", observedObject("apps.kruise.io/v1beta1", "CloneSet", "web", "w1", "") + spread, []string{"/api/v1/nodes"}, nil},
		{"clone/web", kruiseSets + "clonesets/web", observedObject("apps.kruise.io/v1beta1", "CloneSet", "web", "w1", "") + claims, []string{coreKinds + "persistentvolumeclaims?app=web"}, nil},
		{"ads/web", kruiseSets + "daemonsets/web", observedObject("apps.kruise.io/v1beta1", "DaemonSet", "web", "w1", "") + stateSpec, []string{"/api/v1/nodes"}, nil},
		{
			"sidecarset/web", "/apis/apps.kruise.io/v1beta1/sidecarsets/web", strings.Replace(observedObject("apps.kruise.io/v1beta1", "SidecarSet", "web", "w1", ""), "namespace: shop, ", "", 1) + "spec: {selector: {matchLabels: {app: web}}}",
			[]string{"/api/v1/pods?app=web", "/apis/apps/v1/namespaces/kruise-system/controllerrevisions?kruise.io/sidecarset-name=web", "/api/v1/namespaces"},
			[]string{"/api/v1/nodes"},
		},
	} {
		s := &stateServer{objects: map[string]string{c.path: c.object}, lists: map[string][]string{
			coreKinds + "pods": {}, "/api/v1/pods": {}, "/api/v1/nodes": {"apiVersion: v1\nkind: Node\nmetadata: {name: n1}"}, revisionsResource: {},
		}}
		if _, err := askWorkload(t, s, c.arg); err != nil {
			t.Errorf("%s: %v", c.arg, err)
		}
		for _, want := range c.asked {
			if !slices.Contains(s.asked, want) {
				t.Errorf("%s: never asked for %s but for %q", c.arg, want, s.asked)
			}
		}
		for _, q := range s.asked {
			if path, _, _ := strings.Cut(q, "?"); slices.Contains(c.not, path) || strings.Contains(q, "secrets") {
				t.Errorf("%s: asked for %s", c.arg, q)
			}
		}
	}
}

// TestReadWorkload_HasItsClaims: with owner and labels.
func TestReadWorkload_HasItsClaims(t *testing.T) {
	s := shopKinds()
	s.objects[kruiseSets+"clonesets/web"] = observedObject("apps.kruise.io/v1beta1", "CloneSet", "web", "w1", "") + strings.Replace(stateSpec, "spec:\n", "spec:\n  volumeClaimTemplates: [{metadata: {name: data}}]\n", 1)
	s.lists[coreKinds+"persistentvolumeclaims"] = []string{observedObject("v1", "PersistentVolumeClaim", "data-web-a", "c1", ownedBy("CloneSet", "web", "w1"))}
	res, err := askWorkload(t, s, "clone/web")
	if err != nil || len(res.State.Claims) != 1 || res.State.Claims[0].Owner.UID != "w1" || res.State.Claims[0].Labels["app"] != "web" {
		t.Errorf("%+v, %v", res.State.Claims, err)
	}
}

func TestReadWorkload_ReportsErrors(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*stateServer)
		want   string
	}{
		"not there":      {func(s *stateServer) { clear(s.objects) }, `clonesets.apps.kruise.io "web" not found`},
		"forbidden":      {func(s *stateServer) { s.forbidden = map[string]bool{kruiseSets + "clonesets/web": true} }, "cannot read clone/web: "},
		"pods forbidden": {func(s *stateServer) { s.forbidden = map[string]bool{coreKinds + "pods": true} }, "cannot read pods: "},
		"not readable": {func(s *stateServer) {
			s.objects[kruiseSets+"clonesets/web"] = observedObject("apps.kruise.io/v1beta1", "CloneSet", "web", "w1", "") + "spec: {replicas: x}"
		}, "(cluster)"},
		"a broken pod": {func(s *stateServer) {
			s.lists[coreKinds+"pods"][0] = observedObject("v1", "Pod", "web-a", "p", ownedBy("CloneSet", "web", "w1")) + "spec: 5"
		}, "pod web-a: "},
		"a broken history": {func(s *stateServer) {
			s.lists[revisionsResource][0] = strings.Replace(s.lists[revisionsResource][0], "spec:", "other:", 1)
		}, "stored revision web-7c9f: data: "},
	} {
		s := shopKinds()
		c.change(s)
		if _, err := askWorkload(t, s, "clone/web"); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

// TestReadWorkload_WithoutKruiseIsRebuilt: where there is no Kruise, its workload is found by what rendering
// made of it, and is rebuilt from there.
func TestReadWorkload_WithoutKruiseIsRebuilt(t *testing.T) {
	set := func(name, more string) string {
		return observedObject("apps/v1", "ReplicaSet", name, "r-"+name, `, annotations: {kubectl-kruise.dev/strategy: '{"replicas":2,"updateStrategy":{"rollingUpdate":{"podUpdatePolicy":"InPlaceOnly"}}}'}`+more) + stateSpec
	}
	s := &stateServer{lists: map[string][]string{
		"/apis/apps/v1/namespaces/shop/replicasets":  {set("web", ""), set("child", ", ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: d, uid: d, controller: true}]")},
		"/apis/apps/v1/namespaces/shop/deployments":  {},
		"/apis/apps/v1/namespaces/shop/statefulsets": {},
		"/apis/apps/v1/namespaces/shop/daemonsets":   {},
		coreKinds + "pods":                           {strings.ReplaceAll(observedPod("web-a", "ReplicaSet", "web", "r-web"), "apps.kruise.io/v1beta1", "apps/v1")},
	}}
	res, err := askWorkload(t, s, "cloneset/web")
	if err != nil {
		t.Fatal(err)
	}
	if res.Ref.Kind != "ReplicaSet" || res.Source == nil || res.Source.Kind != "CloneSet" || len(res.State.Pods) != 1 {
		t.Fatalf("%+v", res)
	}
	if c, ok := res.Source.Object.(*kruise.CloneSet); !ok || c.Spec.UpdateStrategy.RollingUpdate.PodUpdatePolicy != kruise.InPlaceOnlyCloneSetPodUpdateStrategyType || c.Spec.Template.Spec.Containers[0].Image != "web:1" {
		t.Errorf("rebuilt as %+v", res.Source.Object)
	}
	s.lists["/apis/apps/v1/namespaces/shop/replicasets"] = []string{set("web-a", ""), set("web-b", "")}
	if _, err := askWorkload(t, s, "cloneset/web"); err == nil || !strings.Contains(err.Error(), "rendered into 2 workloads: replicaset/web-a, replicaset/web-b") {
		t.Errorf("%v", err)
	}
	s.lists["/apis/apps/v1/namespaces/shop/replicasets"] = []string{strings.Replace(set("web", ""), "strategy: '{", "strategy: '[", 1)}
	if _, err := askWorkload(t, s, "cloneset/web"); err == nil || !strings.Contains(err.Error(), "holds no spec") {
		t.Errorf("%v", err)
	}
}

// TestReadWorkload_SidecarSetHasNoNamespace: nor does the error name one.
func TestReadWorkload_SidecarSetHasNoNamespace(t *testing.T) {
	_, err := askWorkload(t, &stateServer{}, "sidecarset/mesh")
	if placed, ok := errors.AsType[*resource.Error](err); !ok || placed.Hint != "check the name" {
		t.Errorf("%v", err)
	}
}

// TestReadWorkload_NamesUnreadableBudgets checks that what cannot be read and is not needed is skipped and
// named.
func TestReadWorkload_NamesUnreadableBudgets(t *testing.T) {
	s := shopKinds()
	s.forbidden = map[string]bool{"/apis/policy/v1/namespaces/shop/poddisruptionbudgets": true, revisionsResource: true}
	res, err := askWorkload(t, s, "clone/web")
	if err != nil || len(res.Skipped) != 2 || !strings.HasPrefix(res.Skipped[1], "PodDisruptionBudgets: ") {
		t.Errorf("%+v, %v", res, err)
	}
}

// TestFindWorkload_ReadsAVersionThatCanBeWritten: a CloneSet that v1beta1 refuses as it is, and that the cluster took in
// v1alpha1, is read in that version where it is served; every other one is in the newest.
func TestFindWorkload_ReadsAVersionThatCanBeWritten(t *testing.T) {
	const (
		beta  = "{apiVersion: apps.kruise.io/v1beta1, kind: CloneSet, metadata: {name: web, namespace: a}, spec: {updateStrategy: {rollingUpdate: {maxUnavailable: X, maxSurge: 1}}}}"
		alpha = "{apiVersion: apps.kruise.io/v1alpha1, kind: CloneSet, metadata: {name: web, namespace: a}, spec: {updateStrategy: {maxUnavailable: X, maxSurge: 1}}}"
	)
	for _, c := range []struct {
		unavailable string
		served      bool
		want        string
	}{{"0", true, "apps.kruise.io/v1alpha1"}, {"0", false, "apps.kruise.io/v1beta1"}, {"1", true, "apps.kruise.io/v1beta1"}, {"0%", true, "apps.kruise.io/v1beta1"}} {
		objects := map[string]string{"/apis/apps.kruise.io/v1beta1/namespaces/a/clonesets/web": strings.ReplaceAll(beta, "X", c.unavailable)}
		if c.served {
			objects["/apis/apps.kruise.io/v1alpha1/namespaces/a/clonesets/web"] = strings.ReplaceAll(alpha, "X", c.unavailable)
		}
		server := httptest.NewServer(&stateServer{objects: objects})
		client, err := dynamic.NewForConfig(&rest.Config{Host: server.URL})
		if err != nil {
			t.Fatal(err)
		}
		name, err := resourcearg.Parse("cloneset/web")
		if err != nil {
			t.Fatal(err)
		}
		got, err := FindWorkload(t.Context(), client, name, "a")
		server.Close()
		if err != nil || got.APIVersion() != c.want {
			t.Errorf("%+v: %v, %v", c, got, err)
		}
	}
}
