package commands

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// exists holds for whatever is there.
func exists(*unstructured.Unstructured) bool { return true }

const spreadOfWeb = `
apiVersion: apps.kruise.io/v1beta1
kind: WorkloadSpread
metadata: {name: places}
spec:
  targetRef: {apiVersion: apps.kruise.io/v1beta1, kind: CloneSet, name: web}
  subsets: [{name: a, maxReplicas: 1}, {name: b}]
`

func TestSpread_ShowsSubsets(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.Apply(t, b.namespace, cloneSet("web", "")+spreadOfWeb)
	b.await(t, kruiseV1, "CloneSet", "web", ready)
	for _, args := range [][]string{{"ws/places"}, {"workloadspread", "places"}, {"clone/web"}} {
		a := b.call(t, append([]string{"spread"}, args...)...).
			ends(t, 0, "workloadspread/places of cloneset/web in namespace "+b.namespace+": 3 replicas, Fixed")
		if rows := strings.Join(strings.Fields(a.out), " "); !strings.Contains(rows, "SUBSET LIMIT WISH PODS READY WHY a 1 1 ") || !strings.Contains(rows, " b - 2 ") {
			t.Errorf("%q:\n%s", args, a.out)
		}
	}
	b.call(t, "spread", "clone/web", "--pods").ends(t, 0, "POD ", "web-")
	b.call(t, "spread", "clone/web", "-o", "json").ends(t, 0, `"replicas": 3`)
	b.terminal(t, "", "spread", "clone/web").ends(t, 0, "SUBSET")
	b.call(t, "get", "workloadspreads").ends(t, 0, "AGE   SUBSETS\n", "/1,b:")
}

const united = `
apiVersion: apps.kruise.io/v1beta1
kind: UnitedDeployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    cloneSetTemplate:
      metadata: {labels: {app: web}}
      spec:
        selector: {matchLabels: {app: web}}
        template:
          metadata: {labels: {app: web}}
          spec: {containers: [{name: main, image: "registry.example.com/web:1"}]}
  topology: {subsets: [{name: a, replicas: 1}, {name: b}]}
`

func TestSpread_OfAUnitedDeployment(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.Apply(t, b.namespace, united)
	b.await(t, kruiseV1, "UnitedDeployment", "web", func(u *unstructured.Unstructured) bool { return at(u, "status.readyReplicas") == "3" })
	a := b.call(t, "spread", "ud/web").ends(t, 0, "uniteddeployment/web in namespace "+b.namespace+": 3 replicas, Fixed")
	if rows := strings.Join(strings.Fields(a.out), " "); !strings.HasSuffix(rows, "WHY a 1 1 1 1 b - 2 2 2") {
		t.Errorf("%s", a.out)
	}
	b.call(t, "get", "ud", "web").ends(t, 0, "AGE   SUBSETS\n", " a:1/1,b:2\n")
}

func TestSpread_RefusesWhatItCannotShow(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.Apply(t, b.namespace, cloneSet("web", "")+strings.Replace(spreadOfWeb, "name: web}", "name: gone}", 1))
	b.call(t, "spread").ends(t, 2, "expected one object")
	b.call(t, "spread", "clone/web").ends(t, 1, "no WorkloadSpread in namespace "+b.namespace+" has cloneset/web for its target")
	b.call(t, "spread", "ws/places").ends(t, 1, "cannot read the target cloneset/gone")
	b.call(t, "spread", "ws/none").ends(t, 1, `"none" not found`)
	b.call(t, "spread", "ws/places", "-o", "xml").ends(t, 2, `--output: unknown value "xml"`)
}
