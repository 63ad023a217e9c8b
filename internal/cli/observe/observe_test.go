package observe

import (
	"encoding/json"
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

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/named"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// server holds objects by their path, and lists by theirs, in pages of two.
type server struct {
	objects   map[string]string
	lists     map[string][]string
	forbidden map[string]bool
	asked     []string
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	path, query := r.URL.Path, r.URL.Query()
	s.asked = append(s.asked, strings.TrimSuffix(path+"?"+query.Get("labelSelector"), "?"))
	list, listed := s.lists[path]
	switch {
	case r.Method != http.MethodGet:
		status(w, http.StatusMethodNotAllowed, "MethodNotAllowed")
	case s.forbidden[path]:
		status(w, http.StatusForbidden, "Forbidden")
	case s.objects[path] != "":
		_, _ = w.Write(asJSON(s.objects[path]))
	case listed:
		s.page(w, list, query.Get("continue"), query.Get("resourceVersion"))
	default:
		status(w, http.StatusNotFound, "NotFound")
	}
}

// page answers like an API server: a continued list must not name a version.
func (s *server) page(w http.ResponseWriter, list []string, from, version string) {
	if (from == "") != (version == "0") {
		status(w, http.StatusBadRequest, "BadRequest")
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

func status(w http.ResponseWriter, code int, reason string) {
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

func ask(t *testing.T, s *server, arg string) (*Result, error) {
	t.Helper()
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	name, err := named.Parse(arg)
	if err != nil {
		t.Fatal(err)
	}
	return Workload(t.Context(), dynamic.NewForConfigOrDie(&rest.Config{Host: srv.URL}), name, "shop")
}

const spec = `spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: main, image: "web:1"}]}}
`

func object(apiVersion, kind, name, uid, more string) string {
	return fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata: {name: %s, namespace: shop, uid: %s, managedFields: [{manager: x}]%s}\n", apiVersion, kind, name, uid, more)
}

func ownedBy(kind, name, uid string) string {
	return fmt.Sprintf(", labels: {app: web}, ownerReferences: [{apiVersion: apps.kruise.io/v1beta1, kind: %s, name: %s, uid: %s, controller: true}]", kind, name, uid)
}

func pod(name, kind, owner, uid string) string {
	return object("v1", "Pod", name, "p-"+name, ownedBy(kind, owner, uid)) + "spec: {nodeName: n1, containers: [{name: main, image: 'web:1'}]}\nstatus: {phase: Running}\n"
}

const (
	kruiseSets = "/apis/apps.kruise.io/v1beta1/namespaces/shop/"
	core       = "/api/v1/namespaces/shop/"
	revisions  = "/apis/apps/v1/namespaces/shop/controllerrevisions"
)

func shop() *server {
	return &server{
		objects: map[string]string{kruiseSets + "clonesets/web": object("apps.kruise.io/v1beta1", "CloneSet", "web", "w1", "") + spec + "status: {updateRevision: web-7c9f, currentRevision: web-7c9f}"},
		lists: map[string][]string{
			core + "pods": {pod("web-a", "CloneSet", "web", "w1"), pod("web-b", "CloneSet", "web", "w1"), pod("web-c", "CloneSet", "web", "w1"), pod("api-a", "CloneSet", "api", "w2")},
			revisions: {
				object("apps/v1", "ControllerRevision", "web-7c9f", "r1", ownedBy("CloneSet", "web", "w1")) + "revision: 1\ndata: {spec: {template: {spec: {}}}}",
				object("apps/v1", "ControllerRevision", "api-7c9f", "r2", ownedBy("CloneSet", "api", "w2")) + "revision: 1\ndata: {}",
			},
			"/apis/policy.kruise.io/v1alpha1/namespaces/shop/podunavailablebudgets": {object("policy.kruise.io/v1alpha1", "PodUnavailableBudget", "b", "b1", "") + "spec: {selector: {matchLabels: {app: web}}, maxUnavailable: 1}"},
			"/apis/policy/v1/namespaces/shop/poddisruptionbudgets":                  {object("policy/v1", "PodDisruptionBudget", "d", "d1", "") + "spec: {selector: {matchLabels: {app: other}}, maxUnavailable: 1}"},
		},
	}
}

// TestWorkload: what comes from the cluster is what a snapshot is made of, page by
// page, and others' pods and revisions stay out.
func TestWorkload(t *testing.T) {
	res, err := ask(t, shop(), "cloneset/web")
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

// TestWorkloadInOlderKruise: v1.9.0 has CloneSets in v1alpha1 only.
func TestWorkloadInOlderKruise(t *testing.T) {
	s := shop()
	delete(s.objects, kruiseSets+"clonesets/web")
	s.objects["/apis/apps.kruise.io/v1alpha1/namespaces/shop/clonesets/web"] = object("apps.kruise.io/v1alpha1", "CloneSet", "web", "w1", "") + spec
	res, err := ask(t, s, "clone/web")
	if err != nil || res.Object.Version() != "v1alpha1" {
		t.Errorf("%v, %v", res, err)
	}
}

// TestWorkloadOfTwoKinds: a type that means two kinds finds the one that is there.
func TestWorkloadOfTwoKinds(t *testing.T) {
	s := &server{
		objects: map[string]string{"/apis/apps/v1/namespaces/shop/statefulsets/web": object("apps/v1", "StatefulSet", "web", "w1", "") + spec},
		lists:   map[string][]string{core + "pods": {}, revisions: {}},
	}
	res, err := ask(t, s, "sts/web")
	if err != nil || res.Ref.Group != "apps" {
		t.Errorf("%v, %v", res, err)
	}
}

// TestDeployment: its pods belong to its ReplicaSets, which are its revisions.
func TestDeployment(t *testing.T) {
	set := func(name, uid, owner string) string {
		return object("apps/v1", "ReplicaSet", name, uid, strings.ReplaceAll(ownedBy("Deployment", owner, owner), "apps.kruise.io/v1beta1", "apps/v1")) + spec
	}
	s := &server{
		objects: map[string]string{"/apis/apps/v1/namespaces/shop/deployments/web": object("apps/v1", "Deployment", "web", "web", "") + spec},
		lists: map[string][]string{
			"/apis/apps/v1/namespaces/shop/replicasets": {set("web-1", "rs1", "web"), set("web-2", "rs2", "web"), set("api-1", "rs3", "api")},
			core + "pods": {pod("web-1-a", "ReplicaSet", "web-1", "rs1"), pod("web-2-a", "ReplicaSet", "web-2", "rs2"), pod("api-1-a", "ReplicaSet", "api-1", "rs3")},
		},
	}
	res, err := ask(t, s, "deploy/web")
	if err != nil {
		t.Fatal(err)
	}
	snap, err := res.Snapshot(cluster.Gates{}, time.Time{})
	if err != nil || len(snap.Pods) != 2 || len(snap.Revisions) != 2 {
		t.Errorf("%d pods, %d revisions, %v", len(snap.Pods), len(snap.Revisions), err)
	}
}

// TestAsksOnlyForWhatMatters: nodes for DaemonSets, claims for those that make
// any, namespaces and Kruise's own for SidecarSets.
func TestAsksOnlyForWhatMatters(t *testing.T) {
	spread := strings.Replace(spec, "spec: {containers", "spec: {topologySpreadConstraints: [{maxSkew: 1}], containers", 1)
	claims := strings.Replace(spec, "spec:\n", "spec:\n  volumeClaimTemplates: [{metadata: {name: data}}]\n", 1)
	for _, c := range []struct {
		arg, path, object string
		asked, not        []string
	}{
		{"clone/web", kruiseSets + "clonesets/web", object("apps.kruise.io/v1beta1", "CloneSet", "web", "w1", "") + spec, []string{core + "pods?app=web", revisions + "?app=web"}, []string{"/api/v1/nodes", core + "persistentvolumeclaims"}},
		{"clone/web", kruiseSets + "clonesets/web", object("apps.kruise.io/v1beta1", "CloneSet", "web", "w1", "") + spread, []string{"/api/v1/nodes"}, nil},
		{"clone/web", kruiseSets + "clonesets/web", object("apps.kruise.io/v1beta1", "CloneSet", "web", "w1", "") + claims, []string{core + "persistentvolumeclaims?app=web"}, nil},
		{"ads/web", kruiseSets + "daemonsets/web", object("apps.kruise.io/v1beta1", "DaemonSet", "web", "w1", "") + spec, []string{"/api/v1/nodes"}, nil},
		{
			"sidecarset/web", "/apis/apps.kruise.io/v1beta1/sidecarsets/web", strings.Replace(object("apps.kruise.io/v1beta1", "SidecarSet", "web", "w1", ""), "namespace: shop, ", "", 1) + "spec: {selector: {matchLabels: {app: web}}}",
			[]string{"/api/v1/pods?app=web", "/apis/apps/v1/namespaces/kruise-system/controllerrevisions?kruise.io/sidecarset-name=web", "/api/v1/namespaces"},
			[]string{"/api/v1/nodes"},
		},
	} {
		s := &server{objects: map[string]string{c.path: c.object}, lists: map[string][]string{
			core + "pods": {}, "/api/v1/pods": {}, "/api/v1/nodes": {"apiVersion: v1\nkind: Node\nmetadata: {name: n1}"}, revisions: {},
		}}
		if _, err := ask(t, s, c.arg); err != nil {
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

// TestClaimsAreRead: with owner and labels.
func TestClaimsAreRead(t *testing.T) {
	s := shop()
	s.objects[kruiseSets+"clonesets/web"] = object("apps.kruise.io/v1beta1", "CloneSet", "web", "w1", "") + strings.Replace(spec, "spec:\n", "spec:\n  volumeClaimTemplates: [{metadata: {name: data}}]\n", 1)
	s.lists[core+"persistentvolumeclaims"] = []string{object("v1", "PersistentVolumeClaim", "data-web-a", "c1", ownedBy("CloneSet", "web", "w1"))}
	res, err := ask(t, s, "clone/web")
	if err != nil || len(res.State.Claims) != 1 || res.State.Claims[0].Owner.UID != "w1" || res.State.Claims[0].Labels["app"] != "web" {
		t.Errorf("%+v, %v", res.State.Claims, err)
	}
}

func TestWorkloadFaults(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*server)
		want   string
	}{
		"not there":      {func(s *server) { clear(s.objects) }, "clone/web is not in namespace shop"},
		"forbidden":      {func(s *server) { s.forbidden = map[string]bool{kruiseSets + "clonesets/web": true} }, "cannot read clone/web: "},
		"pods forbidden": {func(s *server) { s.forbidden = map[string]bool{core + "pods": true} }, "cannot read pods: "},
		"not readable": {func(s *server) {
			s.objects[kruiseSets+"clonesets/web"] = object("apps.kruise.io/v1beta1", "CloneSet", "web", "w1", "") + "spec: {replicas: x}"
		}, "(cluster)"},
		"a broken pod": {func(s *server) {
			s.lists[core+"pods"][0] = object("v1", "Pod", "web-a", "p", ownedBy("CloneSet", "web", "w1")) + "spec: 5"
		}, "pod web-a: "},
		"a broken history": {func(s *server) { s.lists[revisions][0] = strings.Replace(s.lists[revisions][0], "spec:", "other:", 1) }, "stored revision web-7c9f: data: "},
	} {
		s := shop()
		c.change(s)
		if _, err := ask(t, s, "clone/web"); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

// TestCarrier: where there is no Kruise, its workload is found by what rendering
// made of it, and is rebuilt from there.
func TestCarrier(t *testing.T) {
	set := func(name, more string) string {
		return object("apps/v1", "ReplicaSet", name, "r-"+name, `, annotations: {kubectl-kruise.dev/strategy: '{"replicas":2,"updateStrategy":{"rollingUpdate":{"podUpdatePolicy":"InPlaceOnly"}}}'}`+more) + spec
	}
	s := &server{lists: map[string][]string{
		"/apis/apps/v1/namespaces/shop/replicasets":  {set("web", ""), set("child", ", ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: d, uid: d, controller: true}]")},
		"/apis/apps/v1/namespaces/shop/deployments":  {},
		"/apis/apps/v1/namespaces/shop/statefulsets": {},
		"/apis/apps/v1/namespaces/shop/daemonsets":   {},
		core + "pods": {strings.ReplaceAll(pod("web-a", "ReplicaSet", "web", "r-web"), "apps.kruise.io/v1beta1", "apps/v1")},
	}}
	res, err := ask(t, s, "cloneset/web")
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
	if _, err := ask(t, s, "cloneset/web"); err == nil || !strings.Contains(err.Error(), "rendered into 2 workloads: replicaset/web-a, replicaset/web-b") {
		t.Errorf("%v", err)
	}
	s.lists["/apis/apps/v1/namespaces/shop/replicasets"] = []string{strings.Replace(set("web", ""), "strategy: '{", "strategy: '[", 1)}
	if _, err := ask(t, s, "cloneset/web"); err == nil || !strings.Contains(err.Error(), "holds no spec") {
		t.Errorf("%v", err)
	}
}

// TestSidecarSetsHaveNoNamespace: nor does the error name one.
func TestSidecarSetsHaveNoNamespace(t *testing.T) {
	if _, err := ask(t, &server{}, "sidecarset/mesh"); err == nil || err.Error() != "sidecarset/mesh is not in the cluster" {
		t.Errorf("%v", err)
	}
}

// TestGoesOnWithoutBudgets: what is not needed is skipped, and said.
func TestGoesOnWithoutBudgets(t *testing.T) {
	s := shop()
	s.forbidden = map[string]bool{"/apis/policy/v1/namespaces/shop/poddisruptionbudgets": true, revisions: true}
	res, err := ask(t, s, "clone/web")
	if err != nil || len(res.Skipped) != 2 || !strings.HasPrefix(res.Skipped[1], "PodDisruptionBudgets: ") {
		t.Errorf("%+v, %v", res, err)
	}
}
