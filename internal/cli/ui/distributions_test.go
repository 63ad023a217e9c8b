package ui

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// distributed is one object of each kind that is distributed, around the CloneSet web.
var distributed = []string{
	`
apiVersion: apps.kruise.io/v1beta1
kind: WorkloadSpread
metadata: {name: zones, namespace: shop}
spec:
  targetRef: {apiVersion: apps.kruise.io/v1beta1, kind: CloneSet, name: web}
  subsets: [{name: a, maxReplicas: 1}, {name: b}]
`, `
apiVersion: apps.kruise.io/v1beta1
kind: WorkloadSpread
metadata: {name: nightly, namespace: shop}
spec:
  targetRef: {apiVersion: batch/v1, kind: Job, name: nightly}
  subsets: [{name: a}]
`, `
apiVersion: apps.kruise.io/v1beta1
kind: UnitedDeployment
metadata: {name: web, namespace: shop, uid: united}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template: {cloneSetTemplate: {metadata: {labels: {app: web}}, spec: {selector: {matchLabels: {app: web}}, template: {}}}}
  topology: {subsets: [{name: a}]}
`, `
apiVersion: apps.kruise.io/v1beta1
kind: ResourceDistribution
metadata: {name: login, generation: 1}
spec:
  resource: {apiVersion: v1, kind: Secret, metadata: {name: login}}
  targets: {allNamespaces: true}
status:
  observedGeneration: 1
  conditions: [{type: ConflictOccurred, status: "True", failedNamespaces: [other]}]
`, `
apiVersion: apps.kruise.io/v1beta1
kind: ImagePullJob
metadata: {name: warm, namespace: shop}
spec: {image: "web:3", completionPolicy: {type: Always}, selector: {names: [node-1]}}
status: {desired: 1}
`, `
apiVersion: apps.kruise.io/v1beta1
kind: NodeImage
metadata: {name: node-1}
spec: {images: {web: {tags: [{tag: "3", ownerReferences: [{namespace: shop, name: warm}]}]}}}
status: {desired: 1, succeeded: 0, failed: 0, pulling: 1, imageStatuses: {web: {tags: [{tag: "3", phase: Pulling, progress: 40}]}}}
`,
}

// lines are what fans out as text: what there is of what there should be, and why.
func lines(list *world.Distributions) []string {
	var out []string
	for _, f := range list.List {
		text := fmt.Sprintf("%s/%s %v %d of %d", f.Kind, f.Name, f.Health, f.Got, f.Wanted)
		for _, p := range f.Places {
			text += fmt.Sprintf("; %s %d of %d %s", p.Name, p.Got, p.Wanted, p.Why)
		}
		out = append(out, strings.TrimSpace(text+" "+strings.Join(f.Problems, "; ")))
	}
	return out
}

// TestDistributions_FollowChanges checks that they are watched only after a screen wants them.
func TestDistributions_FollowChanges(t *testing.T) {
	a := shop(t)
	for _, doc := range distributed {
		a.put(doc)
	}
	l := seeing(t, a, "shop", "")
	until(t, l, world.Want{}, "rows", func(w *world.World) bool { return w.Loaded })
	if asked := strings.Join(a.requests(), "\n"); strings.Contains(asked, "nodeimages") {
		t.Errorf("these were requested without need:\n%s", asked)
	}
	w := until(t, l, world.Want{Distributions: true}, "distributions", func(w *world.World) bool { return w.Distributions != nil })
	want := []string{
		"ResourceDistribution/login blocked 1 of 2; other 0 of 1 conflict: the object exists and is not managed by this ResourceDistribution; shop 1 of 1",
		"ImagePullJob/warm progressing 0 of 1; node-1 0 of 1 pulling, 40%",
		"UnitedDeployment/web degraded 2 of 2; a 0 of 2 its workload is not there yet; (none) 2 of 0 of a subset that is no longer there, or of something else that the selector matches",
		"WorkloadSpread/nightly healthy 0 of 0 its target is of a kind that is not looked at here: 'kubectl kruise why workloadspread/nightly' shows its subsets",
		"WorkloadSpread/zones degraded 2 of 2; a 0 of 1 1 pod fewer: they are in other subsets, and running pods are not moved" +
			"; b 0 of 1 1 pod fewer: they are in other subsets, and running pods are not moved" +
			"; (none) 2 of 0 created before the WorkloadSpread, or while no subset had room; their nodes fit none, or they wait for one",
	}
	if diff := cmp.Diff(want, lines(w.Distributions)); diff != "" {
		t.Errorf("distributions (-want +got):\n%s", diff)
	}
	a.put(strings.Replace(distributed[5], "phase: Pulling, progress: 40", "phase: Succeeded, progress: 100", 1))
	until(t, l, world.Want{Distributions: true}, "the pull to be done", func(w *world.World) bool {
		return slices.ContainsFunc(lines(w.Distributions), func(s string) bool { return strings.HasPrefix(s, "ImagePullJob/warm healthy 1 of 1") })
	})
}

// TestDistributions_OfReadableKinds: a selector leaves out what spreads other workloads.
func TestDistributions_OfReadableKinds(t *testing.T) {
	a := shop(t)
	for _, doc := range distributed[:3] {
		a.put(doc)
	}
	l := seeing(t, a, "shop", "team=shop")
	w := until(t, l, world.Want{Distributions: true}, "distributions", func(w *world.World) bool { return w.Distributions != nil })
	if got := lines(w.Distributions); len(got) != 1 || !strings.HasPrefix(got[0], "WorkloadSpread/zones") {
		t.Errorf("%q", got)
	}
}
