package render_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// several repeats a line with %d in it.
func several(line string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, line, i)
	}
	return b.String()
}

const pods = `selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: app, image: "web:1"}]}}`

const (
	manySubsets = "apiVersion: apps.kruise.io/v1alpha1\nkind: UnitedDeployment\nmetadata: {name: web, namespace: shop}\nspec:\n  replicas: 2147483647\n  selector: {matchLabels: {app: web}}\n" +
		"  template: {deploymentTemplate: {metadata: {labels: {app: web}}, spec: {" + pods + "}}}\n  topology:\n    subsets:\n"
	workload  = "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web%d, namespace: shop}\nspec: {" + pods + "}\n"
	spread    = "apiVersion: apps.kruise.io/v1alpha1\nkind: WorkloadSpread\nmetadata: {name: web, namespace: shop}\nspec:\n  targetRef: {apiVersion: apps/v1, kind: Deployment, name: web0}\n  subsets:\n"
	sidecars  = "---\napiVersion: apps.kruise.io/v1alpha1\nkind: SidecarSet\nmetadata: {name: s%[1]d}\nspec: {selector: {matchLabels: {app: web}}, containers: [{name: c%[1]d, image: x}]}\n"
	fleet     = "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: n%d}\n"
	machine   = "---\napiVersion: v1\nkind: Node\nmetadata: {name: n%d}\n"
	broadcast = "apiVersion: apps.kruise.io/v1alpha1\nkind: BroadcastJob\nmetadata: {name: b, namespace: shop}\nspec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: b}]}}}\n"
	pull      = "apiVersion: apps.kruise.io/v1alpha1\nkind: ImagePullJob\nmetadata: {name: b, namespace: shop}\nspec: {image: \"x:1\", completionPolicy: {type: Always}}\n"
	copies    = "apiVersion: apps.kruise.io/v1alpha1\nkind: ResourceDistribution\nmetadata: {name: all}\nspec: {targets: {allNamespaces: true}, resource: {apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {a: b}}}\n"
)

// What a few lines can be made into is bounded, and each bound can be moved.
func TestLimits_BoundGrowth(t *testing.T) {
	for name, c := range map[string]struct {
		text   string
		limits stage.Limits
		want   string
	}{
		"subsets":                    {manySubsets + several("    - {name: s%d}\n", 4), stage.Limits{Subsets: 3}, "4 subsets are more than the 3 that are rendered"},
		"spread subsets":             {spread + several("  - {name: s%d, maxReplicas: 1}\n", 4) + several(workload, 1), stage.Limits{Subsets: 3}, "4 subsets are more than the 3 that are rendered"},
		"objects":                    {manySubsets + several("    - {name: s%d}\n", 4), stage.Limits{Objects: 3}, "this would become more than 3 objects"},
		"copies":                     {copies + several(fleet, 4), stage.Limits{Copies: 3}, "all copies together are 4 with 0 MiB, more than 3 copies or 256 MiB"},
		"output nodes of subsets":    {manySubsets + several("    - {name: s%d}\n", 4), stage.Limits{OutputNodes: 100}, "4 subsets with 32 values and keys each are more than the 100 values and keys that the output may hold"},
		"output bytes of subsets":    {manySubsets + several("    - {name: s%d}\n", 4), stage.Limits{OutputBytes: 800}, "that the output may hold"},
		"output nodes of a spread":   {spread + several("  - {name: s%d, maxReplicas: 1}\n", 4) + several(workload, 1), stage.Limits{OutputNodes: 100}, "workloads like Deployment shop/web0"},
		"output nodes of sidecars":   {several(sidecars, 1) + several(workload, 9), stage.Limits{OutputNodes: 50}, "SidecarSet s0: spec: 9 pod templates"},
		"output nodes of many sets":  {several(sidecars, 9) + several(workload, 9), stage.Limits{OutputNodes: 400}, "would hold more than 400 values and keys"},
		"output nodes of copies":     {copies + several(fleet, 4), stage.Limits{OutputNodes: 30}, "all copies together are 4 with"},
		"output nodes of broadcasts": {broadcast + several(machine, 4), stage.Limits{OutputNodes: 50}, "4 nodes with a Job with"},
		"output nodes of pulls":      {pull + several(machine, 4), stage.Limits{OutputNodes: 50}, "4 Jobs, one for each image and node, with"},
		"containers":                 {several(sidecars, 3) + several(workload, 2), stage.Limits{Containers: 5}, "SidecarSets would put more than 5 containers into all pod templates together"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := rendered(t, c.text, c.limits); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
			limits := c.limits
			for _, l := range []*int{&limits.Subsets, &limits.Objects, &limits.Copies, &limits.Containers} {
				if *l > 0 {
					*l += 10
				}
			}
			limits.OutputNodes, limits.OutputBytes = limits.OutputNodes*100, limits.OutputBytes*100
			if _, err := rendered(t, c.text, limits); err != nil {
				t.Errorf("with room: %v", err)
			}
		})
	}
}

func rendered(t *testing.T, text string, limits stage.Limits) (*render.Result, error) {
	t.Helper()
	in, err := load.Parse("in.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return render.Render(t.Context(), in, render.Options{Limits: limits})
}

// The number of replicas of a UnitedDeployment costs nothing.
func TestLimits_ReplicasCostNothing(t *testing.T) {
	res, err := rendered(t, manySubsets+several("    - {name: s%d}\n", 3), stage.Limits{})
	if err != nil || len(res.Resources) != 3 {
		t.Errorf("%v, %v", res, err)
	}
}
