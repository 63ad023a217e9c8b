package clusterread

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/distort"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

func parseObjects(t *testing.T, docs ...string) []*resource.Resource {
	t.Helper()
	list, err := load.Parse("in.yaml", []byte(strings.Join(docs, "\n---\n")))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func testWorkload(apiVersion, kind, more string) string {
	return fmt.Sprintf(`apiVersion: %s
kind: %s
metadata: {name: web, namespace: shop, uid: w1}
spec:
%s
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {nodeSelector: {disk: fast}, containers: [{name: main, image: "web:1"}]}
`, apiVersion, kind, more)
}

func populated(t *testing.T, o simulate.Population, docs ...string) plan.Snapshot {
	t.Helper()
	list := parseObjects(t, docs...)
	s, err := Populate(list[0], list, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func countReady(s plan.Snapshot) int {
	n := 0
	for _, p := range s.Pods {
		if rules.Ready(p) && p.Node != "" {
			n++
		}
	}
	return n
}

// TestPopulate: every kind comes up with its pods, on nodes that suit it, and
// without a made-up uid.
func TestPopulate(t *testing.T) {
	for _, c := range []struct {
		name, apiVersion, kind, more string
		o                            simulate.Population
		pods                         int
	}{
		{"as many as it wants", "apps.kruise.io/v1beta1", "CloneSet", "  replicas: 12", simulate.Population{}, 12},
		{"one without a word", "apps.kruise.io/v1alpha1", "CloneSet", "", simulate.Population{}, 1},
		{"as many as asked for", "apps.kruise.io/v1beta1", "CloneSet", "  replicas: 12", simulate.Population{Pods: 3, Nodes: 2}, 3},
		{"in order", "apps.kruise.io/v1beta1", "StatefulSet", "  replicas: 3", simulate.Population{}, 3},
		{"one on each node", "apps.kruise.io/v1beta1", "DaemonSet", "", simulate.Population{Pods: 7}, 7},
		{"a Deployment", "apps/v1", "Deployment", "  replicas: 4", simulate.Population{}, 4},
		{"a StatefulSet", "apps/v1", "StatefulSet", "  replicas: 2\n  serviceName: web", simulate.Population{}, 2},
		{"daemons", "apps/v1", "DaemonSet", "", simulate.Population{}, 5},
	} {
		s := populated(t, c.o, testWorkload(c.apiVersion, c.kind, c.more))
		if len(s.Pods) != c.pods || countReady(s) != c.pods || len(s.Revisions) != 1 {
			t.Errorf("%s: %d pods, %d ready, %d revisions", c.name, len(s.Pods), countReady(s), len(s.Revisions))
		}
		if s.Workload.UID != "" || s.Workload.Name != "web" {
			t.Errorf("%s: uid %q", c.name, s.Workload.UID)
		}
	}
}

func TestPopulate_KeepsOtherObjects(t *testing.T) {
	budget := `apiVersion: policy.kruise.io/v1alpha1
kind: PodUnavailableBudget
metadata: {name: b, namespace: shop}
spec: {selector: {matchLabels: {app: web}}, maxUnavailable: 1}`
	pdb := `apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: d, namespace: shop}
spec: {selector: {matchLabels: {app: web}}, minAvailable: 2}`
	s := populated(t, simulate.Population{}, testWorkload("apps.kruise.io/v1beta1", "CloneSet", "  replicas: 4"), budget, pdb, testWorkload("apps/v1", "StatefulSet", ""))
	if len(s.Budgets) != 1 || len(s.Budgets[0].Pods) != 4 || len(s.Disruptions) != 1 || len(s.Pods) != 4 {
		t.Errorf("%d budgets, %d disruption budgets, %d pods", len(s.Budgets), len(s.Disruptions), len(s.Pods))
	}
}

const mesh = `apiVersion: apps.kruise.io/v1beta1
kind: SidecarSet
metadata: {name: mesh}
spec:
  selector: {matchLabels: {meshed: "true"}, matchExpressions: [{key: tier, operator: In, values: [web, api]}, {key: team, operator: Exists}, {key: old, operator: DoesNotExist}]}
  namespaceSelector: {matchLabels: {env: prod}}
  containers: [{name: proxy, image: "mesh:1"}]`

// TestPopulate_MakesPodsForASidecarSet: a SidecarSet alone gets pods that it matches; with
// workloads beside it, theirs are taken.
func TestPopulate_MakesPodsForASidecarSet(t *testing.T) {
	has := func(p *cluster.Pod) bool {
		return strings.Contains(p.Annotations[kruise.SidecarSetHashAnnotation], "mesh")
	}
	s := populated(t, simulate.Population{Pods: 3}, mesh)
	if len(s.Pods) != 3 || !has(s.Pods[0]) {
		t.Errorf("%d pods: %+v", len(s.Pods), s.Pods)
	}
	clone := strings.ReplaceAll(testWorkload("apps.kruise.io/v1beta1", "CloneSet", "  replicas: 2"), "app: web", "meshed: 'true', tier: api, team: a")
	s = populated(t, simulate.Population{}, mesh, "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {env: prod}}", clone)
	if n := len(slices.DeleteFunc(slices.Clone(s.Pods), func(p *cluster.Pod) bool { return !has(p) })); n != 2 {
		t.Errorf("%d pods with the sidecar, want those of the CloneSet", n)
	}
}

func TestPopulate_ReportsErrors(t *testing.T) {
	for name, c := range map[string]struct{ doc, want string }{
		"no pods wanted": {testWorkload("apps.kruise.io/v1beta1", "CloneSet", "  replicas: 0"), "in.yaml:5: CloneSet shop/web: spec.replicas: a workload without pods has no rollout"},
		"too many":       {testWorkload("apps.kruise.io/v1beta1", "CloneSet", "  replicas: 2147483647"), "in.yaml:5: CloneSet shop/web: spec.replicas: 2147483647 pods are more than the 150000 that a model of a cluster holds"},
		"too many around": {
			mesh + "\n---\n" + strings.ReplaceAll(testWorkload("apps/v1", "Deployment", "  replicas: 150001"), "app: web", "meshed: 'true', tier: api, team: a"),
			"in.yaml:13: Deployment shop/web: spec.replicas: 150001 pods are",
		},
		"never ready":  {strings.Replace(testWorkload("apps/v1", "StatefulSet", "  replicas: 2"), "spec: {nodeSelector", "spec: {readinessGates: [{conditionType: InPlaceUpdateReady}], nodeSelector", 1), "in.yaml:8: StatefulSet shop/web: spec.template: pod web-0 would not become ready"},
		"not readable": {testWorkload("apps.kruise.io/v1beta1", "CloneSet", "  replicas: x"), "in.yaml:5: CloneSet shop/web: spec.replicas: "},
	} {
		list := parseObjects(t, c.doc)
		if _, err := Populate(list[0], list, simulate.Population{}); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

const observedState = `apiVersion: v1
kind: Pod
metadata:
  name: web-1
  namespace: shop
  uid: p1
  labels: {app: web, controller-revision-hash: web-7c9f}
  ownerReferences: [{apiVersion: apps.kruise.io/v1beta1, kind: CloneSet, name: web, uid: w1, controller: true}]
spec: {nodeName: n1, containers: [{name: main, image: "web:1"}]}
status: {phase: Running, conditions: [{type: Ready, status: "True", lastTransitionTime: "2026-01-01T00:00:00Z"}]}
---
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {zone: a}}
---
apiVersion: apps/v1
kind: ControllerRevision
metadata:
  name: web-7c9f
  namespace: shop
  ownerReferences: [{apiVersion: apps.kruise.io/v1beta1, kind: CloneSet, name: web, uid: w1, controller: true}]
revision: 1
data: {spec: {template: {$patch: replace, spec: {containers: [{name: main, image: "web:1"}]}}}}
---
apiVersion: apps/v1
kind: ControllerRevision
metadata: {name: mesh-1, namespace: kruise-system, labels: {kruise.io/sidecarset-name: mesh}}
revision: 2
data: {spec: {containers: []}}
---
apiVersion: apps/v1
kind: ControllerRevision
metadata: {name: nobodys, namespace: shop}
data: {}
---
apiVersion: v1
kind: Secret
metadata: {name: s, namespace: shop}
`

func TestReadObjects_MakesASnapshot(t *testing.T) {
	list := parseObjects(t, testWorkload("apps.kruise.io/v1beta1", "CloneSet", "  replicas: 1"), observedState)
	st, err := ReadObjects(list)
	if err != nil {
		t.Fatal(err)
	}
	web := cluster.Ref{Group: kruise.Group, Kind: "CloneSet", Namespace: "shop", Name: "web"}
	sidecars := cluster.Ref{Group: kruise.Group, Kind: "SidecarSet", Name: "mesh"}
	if len(st.Objects) != 1 || len(st.Pods) != 1 || len(st.Nodes) != 1 || len(st.Revisions[web]) != 1 || len(st.Revisions[sidecars]) != 1 || len(st.Revisions) != 2 {
		t.Errorf("state %+v", st)
	}
	s, err := Snapshot(st, web, cluster.DefaultGates(), time.Date(2026, 1, 1, 0, 1, 0, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Pods) != 1 || s.Pods[0].UID != "p1" || s.Workload.UID != "w1" || len(s.Revisions) != 1 || s.Nodes["n1"].Labels["zone"] != "a" || s.Gates != cluster.DefaultGates() {
		t.Errorf("snapshot %+v", s)
	}
	if _, err := Snapshot(st, cluster.Ref{Kind: "CloneSet", Name: "other"}, cluster.Gates{}, time.Time{}); err == nil {
		t.Error("a workload that is not there was found")
	}
}

func TestReadObjects_ReportsFaultsWithTheirPlace(t *testing.T) {
	for in, want := range map[string]string{
		"apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: 5}":                                                                     "in.yaml:4: Pod p: spec.containers: ",
		"apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nspec: 5":                                                                                 "in.yaml:4: Node n1: spec: ",
		"apiVersion: apps/v1\nkind: ControllerRevision\nmetadata: {name: r}\nrevision: x":                                                           "in.yaml:4: ControllerRevision r: revision: ",
		"apiVersion: apps/v1\nkind: ControllerRevision\nmetadata: {name: r, labels: {kruise.io/sidecarset-name: m}}\nrevision: 1\ndata: {other: 1}": "in.yaml:5: ControllerRevision r: data: revision r holds no spec",
	} {
		if _, err := ReadObjects(parseObjects(t, in)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestRecordedAt_IsAnHourAfterTheLatestPod(t *testing.T) {
	noon := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	created := &cluster.Pod{Created: noon.Add(2 * time.Minute)}
	ready := &cluster.Pod{Created: noon, Conditions: []cluster.Condition{{Since: noon.Add(time.Minute)}, {Since: noon.Add(5 * time.Minute)}}}
	for name, c := range map[string]struct {
		pods []*cluster.Pod
		want time.Time
	}{
		"no pods":   {nil, time.Time{}.Add(time.Hour)},
		"created":   {[]*cluster.Pod{created}, noon.Add(62 * time.Minute)},
		"condition": {[]*cluster.Pod{ready, created}, noon.Add(65 * time.Minute)},
	} {
		if got := simulate.RecordedAt(c.pods); !got.Equal(c.want) {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// FuzzRead: whatever files of a present state hold, it is a state or a fault.
func FuzzRead(f *testing.F) {
	texts := []string{
		testWorkload("apps.kruise.io/v1beta1", "CloneSet", "  replicas: 3"), testWorkload("apps/v1", "StatefulSet", "  replicas: 3\n  updateStrategy: {type: OnDelete}"),
		"apiVersion: v1\nkind: Pod\nmetadata: {name: a, creationTimestamp: x}\nstatus: {conditions: [{}], containerStatuses: [null]}\n",
		testWorkload("apps/v1", "Deployment", "  replicas: 3") + "---\napiVersion: apps/v1\nkind: ReplicaSet\nmetadata:\n  name: r\n  annotations: {kubectl-kruise.dev/strategy: '{\"replicas\": 3, \"updateStrategy\": {\"partition\": \"50%\"}}'}\nspec: {replicas: 1}\n---\napiVersion: apps/v1\nkind: ControllerRevision\nmetadata: {name: web-1, namespace: shop}\ndata: {spec: {template: {spec: {containers: [{name: main, image: x}]}}}}\nrevision: 1\n",
		"apiVersion: apps/v1\nkind: ControllerRevision\nmetadata: {name: a}\ndata: []\nrevision: -1\n",
		"apiVersion: v1\nkind: Node\nstatus: {allocatable: {cpu: 1e99}}\n---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nspec: {maxUnavailable: '%'}\n",
	}
	distort.Fuzz(f, texts, func(_ *testing.T, text string) {
		list, err := load.Parse("in.yaml", []byte(text))
		if err != nil {
			return
		}
		_, _ = ReadObjects(list)
	})
}
