package render_test

import (
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/distort"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
)

// FuzzInventory: whatever --with brings, what is rendered from good objects upon it is
// rendered or refused.
func FuzzInventory(f *testing.F) {
	texts := []string{
		"apiVersion: kubectl-kruise.dev/v1alpha1\nkind: ClusterFacts\nmetadata: {name: c}\nspec: {kubernetesVersion: '1.37', apiVersions: [apps/v1]}\n",
		"apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Namespace, metadata: {name: a, labels: {a: b}}}\n- {apiVersion: v1, kind: Node, metadata: {name: n}, spec: {taints: [{key: a}]}}\n",
		"apiVersion: apps/v1\nkind: ControllerRevision\nmetadata: {name: s-1, namespace: kruise-system, labels: {kruise.io/sidecarset-name: s0}}\nrevision: 1\ndata: {spec: {containers: [{name: c0, image: y}]}}\n",
		"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web-s0, namespace: shop, labels: {apps.kruise.io/subset-name: s0}}\nspec: {replicas: 2147483647}\nstatus: {replicas: -1}\n",
		"apiVersion: v1\nkind: Secret\nmetadata: {name: c, namespace: n0}\n",
	}
	stream := copies + several(sidecars, 1) + several(workload, 1) + "---\n" + manySubsets + several("    - {name: s%d}\n", 2)
	distort.Fuzz(f, texts, func(t *testing.T, text string) {
		t.Helper()
		context, err := load.Parse("with.yaml", []byte(text))
		if err != nil {
			return
		}
		in, err := load.Parse("in.yaml", []byte(stream))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := render.ReadClusterFacts(context); err != nil {
			return
		}
		_, _ = render.Render(t.Context(), in, render.Options{Context: context, Explain: true})
	})
}
