package render_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/golden"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render"
)

// united is a UnitedDeployment of two subsets of four pods; the partition of the
// first is given.
func united(image, partition string) string {
	return `apiVersion: apps.kruise.io/v1alpha1
kind: UnitedDeployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 8
  selector: {matchLabels: {app: web}}
  updateStrategy: {type: Manual, manualUpdate: {partitions: {a: ` + partition + `, b: 0}}}
  topology:
    subsets: [{name: a, replicas: 4}, {name: b}]
  template:
    cloneSetTemplate:
      metadata: {labels: {app: web}}
      spec:
        selector: {matchLabels: {app: web}}
        template:
          metadata: {labels: {app: web}}
          spec: {containers: [{name: app, image: "` + image + `"}]}
`
}

const scaler = `---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web, namespace: shop}
spec:
  scaleTargetRef: {apiVersion: apps.kruise.io/v1beta1, kind: CloneSet, name: web}
  maxReplicas: 10
---
apiVersion: policy.kruise.io/v1beta1
kind: PodUnavailableBudget
metadata: {name: web, namespace: shop}
spec:
  targetRef: {apiVersion: apps.kruise.io/v1beta1, kind: CloneSet, name: web}
  maxUnavailable: 1
---
apiVersion: apps.kruise.io/v1beta1
kind: SidecarSet
metadata: {name: log}
spec:
  selector: {matchLabels: {app: web}}
  containers: [{name: log, image: "log:2"}]
`

func clones(image, more string) string {
	return `apiVersion: apps.kruise.io/v1beta1
kind: CloneSet
metadata: {name: web, namespace: shop}
spec:
  replicas: 4
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: app, image: "` + image + `"}]}
` + more
}

// TestBase_PartitionKeepsAWorkloadOfItsOwn: with the state before, what a partition keeps is a workload of its own,
// also where a subset has the partition, and everybody else follows.
func TestBase_PartitionKeepsAWorkloadOfItsOwn(t *testing.T) {
	half := "  updateStrategy: {rollingUpdate: {partition: 50%}}\n"
	for name, c := range map[string]struct {
		base, input string
		want        []string
	}{
		"a subset": {
			united("web:1", "0"), united("web:2", "3"),
			[]string{"Deployment web-a-canary 1 web:2", "Deployment web-a 3 web:1", "Deployment web-b 4 web:2"},
		},
		"all follow": {
			clones("web:1", ""), clones("web:2", half+scaler),
			[]string{"Deployment web-canary 2 log:2 web:2", "Deployment web 2 log:2 web:1", "HorizontalPodAutoscaler Deployment/web", "PodDisruptionBudget app=web"},
		},
		"no base": {"", clones("web:2", half), []string{"Deployment web 4 web:2"}},
	} {
		opt := render.Options{}
		if c.base != "" {
			opt.Base = golden.Parse(t, c.base)
		}
		out, err := render.Render(t.Context(), golden.Parse(t, c.input), opt)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var got []string
		for _, r := range out.Resources {
			got = append(got, brief(r.Node()))
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
	}
}

// brief is what counts in an object, in one line.
func brief(n *tree.Node) string {
	out := []string{tree.StrAt(n, "kind")}
	switch out[0] {
	case "HorizontalPodAutoscaler":
		ref := tree.Get(n, "spec", "scaleTargetRef")
		return out[0] + " " + tree.StrAt(ref, "kind") + "/" + tree.StrAt(ref, "name")
	case "PodDisruptionBudget":
		return out[0] + " app=" + tree.StrAt(n, "spec", "selector", "matchLabels", "app")
	}
	out = append(out, tree.StrAt(n, "metadata", "name"), tree.StrAt(n, "spec", "replicas"))
	for _, c := range tree.Items(tree.Get(n, "spec", "template", "spec", "containers")) {
		out = append(out, tree.StrAt(c, "image"))
	}
	return strings.Join(out, " ")
}
