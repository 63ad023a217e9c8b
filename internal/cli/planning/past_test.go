package planning

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// TestPast_FindsWhatASearchFinds: the lookup by name answers as the search of all objects does, with
// its errors.
func TestPast_FindsWhatASearchFinds(t *testing.T) {
	stream, err := load.Parse("old.yaml", []byte(`
apiVersion: apps.kruise.io/v1alpha1
kind: CloneSet
metadata: {name: web, namespace: a}
---
apiVersion: apps.kruise.io/v1alpha1
kind: CloneSet
metadata: {name: web, namespace: b}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: a}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: conf, namespace: a}
`))
	if err != nil {
		t.Fatal(err)
	}
	p := newPast(stream, nil)
	for _, named := range []string{"", "cloneset/web", "deployment/web", "daemonset/web", "cloneset/api"} {
		var name *resourcearg.Name
		if named != "" {
			n, err := resourcearg.Parse(named)
			if err != nil {
				t.Fatal(named, err)
			}
			name = &n
		}
		for _, namespace := range []string{"", "a", "b", "c"} {
			want, wantErr := resourcearg.Pick(stream, name, namespace, "old.yaml")
			got, err := p.workload(name, namespace, "old.yaml")
			if got != want || (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() {
				t.Errorf("%q in %q: %v, %v; want %v, %v", named, namespace, id(got), err, id(want), wantErr)
			}
		}
	}
}

func id(r *resource.Resource) string {
	if r == nil {
		return "none"
	}
	return r.ID().String()
}

// TestPast_LoadsPodsOnceForManyWorkloads: each of several workloads has its share of one model of
// the files, and it is the same as when the workload is planned by itself.
func TestPast_LoadsPodsOnceForManyWorkloads(t *testing.T) {
	var old, pods strings.Builder
	for _, name := range []string{"web", "api", "job"} {
		old.WriteString("---\n" + strings.NewReplacer("name: web", "name: "+name, "app: web", "app: "+name, "replicas: 4", "replicas: 2").Replace(web))
		for _, pod := range []string{"x", "y"} {
			fmt.Fprintf(&pods, `---
apiVersion: v1
kind: Pod
metadata: {name: %[1]s-%[2]s, namespace: shop, creationTimestamp: "2026-03-01T00:00:00Z", labels: {app: %[1]s, controller-revision-hash: %[1]s-1}, ownerReferences: [{apiVersion: apps.kruise.io/v1beta1, kind: CloneSet, name: %[1]s, controller: true}]}
spec: {nodeName: n7, readinessGates: [{conditionType: InPlaceUpdateReady}], containers: [{name: main, image: "web:1"}, {name: side, image: "side:1"}]}
status: {phase: Running, containerStatuses: [{name: main, image: "web:1", imageID: a, ready: true, state: {running: {}}}, {name: side, image: "side:1", imageID: b, ready: true, state: {running: {}}}], conditions: [{type: InPlaceUpdateReady, status: "True"}, {type: Ready, status: "True", lastTransitionTime: "2026-03-01T00:01:00Z"}]}
`, name, pod)
		}
		fmt.Fprintf(&pods, "---\napiVersion: policy.kruise.io/v1alpha1\nkind: PodUnavailableBudget\nmetadata: {name: %[1]s, namespace: shop}\nspec: {selector: {matchLabels: {app: %[1]s}}, maxUnavailable: 1}\n", name)
	}
	past, with := file(t, old.String()), file(t, pods.String())
	next := file(t, strings.ReplaceAll(old.String(), "web:1", "web:2"))
	o, err := asked(t, "-f", next, "--against", past, "--with", with)
	if err != nil {
		t.Fatal(err)
	}
	each, err := o.Each(t.Context())
	if err != nil || len(each) != 3 {
		t.Fatal(len(each), err)
	}
	var loaded *fileCluster
	for _, one := range each {
		got, err := one.Make(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if loaded == nil {
			loaded = one.past.recording
		}
		if one.past.recording != loaded || loaded == nil {
			t.Errorf("%s: the files were loaded again", one.Name.Name)
		}
		want := made(t, "cloneset/"+one.Name.Name, "-f", next, "--against", past, "--with", with)
		if len(got.Snapshot.Pods) != 2 || len(got.Snapshot.Budgets) != 1 {
			t.Errorf("%s: %d pods, %d budgets", one.Name.Name, len(got.Snapshot.Pods), len(got.Snapshot.Budgets))
		}
		if diff := cmp.Diff(want.Plan, got.Plan); diff != "" {
			t.Errorf("%s: plan (-by itself +of many):\n%s", one.Name.Name, diff)
		}
		if diff := cmp.Diff(want.Predicted, got.Predicted); diff != "" {
			t.Errorf("%s: prediction (-by itself +of many):\n%s", one.Name.Name, diff)
		}
		if diff := cmp.Diff(want.Snapshot.Pods, got.Snapshot.Pods); diff != "" {
			t.Errorf("%s: pods (-by itself +of many):\n%s", one.Name.Name, diff)
		}
	}
}
