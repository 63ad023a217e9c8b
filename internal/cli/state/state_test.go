package state

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

func parsed(t *testing.T, docs ...string) []*resource.Resource {
	t.Helper()
	list, err := load.Parse("in.yaml", []byte(strings.Join(docs, "\n---\n")))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func workload(apiVersion, kind, more string) string {
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

func invented(t *testing.T, o Invention, docs ...string) plan.Snapshot {
	t.Helper()
	list := parsed(t, docs...)
	s, err := Invent(list[0], list, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func ready(s plan.Snapshot) int {
	n := 0
	for _, p := range s.Pods {
		if rules.Ready(p) && p.Node != "" {
			n++
		}
	}
	return n
}

// TestInvent: every kind comes up with its pods, on nodes that suit it, and
// without a uid that nobody gave it.
func TestInvent(t *testing.T) {
	for _, c := range []struct {
		name, apiVersion, kind, more string
		o                            Invention
		pods                         int
	}{
		{"as many as it wants", "apps.kruise.io/v1beta1", "CloneSet", "  replicas: 12", Invention{}, 12},
		{"one without a word", "apps.kruise.io/v1alpha1", "CloneSet", "", Invention{}, 1},
		{"as many as asked for", "apps.kruise.io/v1beta1", "CloneSet", "  replicas: 12", Invention{Pods: 3, Nodes: 2}, 3},
		{"in order", "apps.kruise.io/v1beta1", "StatefulSet", "  replicas: 3", Invention{}, 3},
		{"one on each node", "apps.kruise.io/v1beta1", "DaemonSet", "", Invention{Pods: 7}, 7},
		{"a Deployment", "apps/v1", "Deployment", "  replicas: 4", Invention{}, 4},
		{"a StatefulSet", "apps/v1", "StatefulSet", "  replicas: 2\n  serviceName: web", Invention{}, 2},
		{"daemons", "apps/v1", "DaemonSet", "", Invention{}, defaultPods},
	} {
		s := invented(t, c.o, workload(c.apiVersion, c.kind, c.more))
		if len(s.Pods) != c.pods || ready(s) != c.pods || len(s.Revisions) != 1 {
			t.Errorf("%s: %d pods, %d ready, %d revisions", c.name, len(s.Pods), ready(s), len(s.Revisions))
		}
		if s.Workload.UID != "" || s.Workload.Name != "web" {
			t.Errorf("%s: uid %q", c.name, s.Workload.UID)
		}
	}
}

func TestInventKeepsWhatIsAround(t *testing.T) {
	budget := `apiVersion: policy.kruise.io/v1alpha1
kind: PodUnavailableBudget
metadata: {name: b, namespace: shop}
spec: {selector: {matchLabels: {app: web}}, maxUnavailable: 1}`
	pdb := `apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: d, namespace: shop}
spec: {selector: {matchLabels: {app: web}}, minAvailable: 2}`
	s := invented(t, Invention{}, workload("apps.kruise.io/v1beta1", "CloneSet", "  replicas: 4"), budget, pdb, workload("apps/v1", "StatefulSet", ""))
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

// TestInventSidecars: a SidecarSet alone gets pods that it matches; with
// workloads beside it, theirs are taken.
func TestInventSidecars(t *testing.T) {
	has := func(p *cluster.Pod) bool {
		return strings.Contains(p.Annotations[kruise.SidecarSetHashAnnotation], "mesh")
	}
	s := invented(t, Invention{Pods: 3}, mesh)
	if len(s.Pods) != 3 || !has(s.Pods[0]) {
		t.Errorf("%d pods: %+v", len(s.Pods), s.Pods)
	}
	clone := strings.ReplaceAll(workload("apps.kruise.io/v1beta1", "CloneSet", "  replicas: 2"), "app: web", "meshed: 'true', tier: api, team: a")
	s = invented(t, Invention{}, mesh, "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {env: prod}}", clone)
	if n := len(slices.DeleteFunc(slices.Clone(s.Pods), func(p *cluster.Pod) bool { return !has(p) })); n != 2 {
		t.Errorf("%d pods with the sidecar, want those of the CloneSet", n)
	}
}

func TestInventFaults(t *testing.T) {
	for name, c := range map[string]struct{ doc, want string }{
		"no pods wanted": {workload("apps.kruise.io/v1beta1", "CloneSet", "  replicas: 0"), "in.yaml:5: CloneSet shop/web: spec.replicas: a workload without pods has no rollout"},
		"too many":       {workload("apps.kruise.io/v1beta1", "CloneSet", "  replicas: 2147483647"), "in.yaml:5: CloneSet shop/web: spec.replicas: 2147483647 pods are more than the 150000 that a model of a cluster holds"},
		"too many around": {
			mesh + "\n---\n" + strings.ReplaceAll(workload("apps/v1", "Deployment", "  replicas: 150001"), "app: web", "meshed: 'true', tier: api, team: a"),
			"in.yaml:13: Deployment shop/web: spec.replicas: 150001 pods are",
		},
		"never ready":  {strings.Replace(workload("apps/v1", "StatefulSet", "  replicas: 2"), "spec: {nodeSelector", "spec: {readinessGates: [{conditionType: InPlaceUpdateReady}], nodeSelector", 1), "in.yaml:8: StatefulSet shop/web: spec.template: pod web-0 would not become ready"},
		"not readable": {workload("apps.kruise.io/v1beta1", "CloneSet", "  replicas: x"), "in.yaml:5: CloneSet shop/web: spec.replicas: "},
	} {
		list := parsed(t, c.doc)
		if _, err := Invent(list[0], list, Invention{}); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

const observed = `apiVersion: v1
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

func TestReadAndSnapshot(t *testing.T) {
	list := parsed(t, workload("apps.kruise.io/v1beta1", "CloneSet", "  replicas: 1"), observed)
	st, err := Read(list)
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

func TestReadFaults(t *testing.T) {
	for in, want := range map[string]string{
		"apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: 5}":                                                                     "in.yaml:4: Pod p: spec.containers: ",
		"apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nspec: 5":                                                                                 "in.yaml:4: Node n1: spec: ",
		"apiVersion: apps/v1\nkind: ControllerRevision\nmetadata: {name: r}\nrevision: x":                                                           "in.yaml:4: ControllerRevision r: revision: ",
		"apiVersion: apps/v1\nkind: ControllerRevision\nmetadata: {name: r, labels: {kruise.io/sidecarset-name: m}}\nrevision: 1\ndata: {other: 1}": "in.yaml:5: ControllerRevision r: data: revision r holds no spec",
	} {
		if _, err := Read(parsed(t, in)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
