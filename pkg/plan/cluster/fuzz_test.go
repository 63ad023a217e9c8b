package cluster

import (
	"fmt"
	"testing"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// FuzzReadWorkload: whatever an object of a kind that can be rolled out holds, it is
// read or refused.
func FuzzReadWorkload(f *testing.F) {
	for _, kind := range []string{"apps/v1\nkind: Deployment", "apps.kruise.io/v1beta1\nkind: CloneSet", "apps.kruise.io/v1alpha1\nkind: UnitedDeployment", "apps.kruise.io/v1beta1\nkind: StatefulSet", "apps.kruise.io/v1alpha1\nkind: DaemonSet", "apps.kruise.io/v1alpha1\nkind: SidecarSet", "apps/v1\nkind: ReplicaSet"} {
		f.Add(fmt.Sprintf("apiVersion: %s\nmetadata: {name: web, generation: 9223372036854775807}\nspec:\n  replicas: 2147483647\n  selector: {matchLabels: {app: web}}\n  updateStrategy: {rollingUpdate: {partition: 50%%}}\n  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: a, image: x}]}}\nstatus: {observedGeneration: -1, replicas: 3}\n", kind))
	}
	f.Add("apiVersion: apps/v1\nkind: Deployment\nspec: null\n")
	f.Fuzz(func(t *testing.T, text string) {
		var doc tree.Node
		if yaml.Unmarshal([]byte(text), &doc) != nil {
			return
		}
		if _, err := tree.Expand(&doc, 0, tree.Limits{Nodes: 10_000, Depth: 50}); err != nil || !tree.IsMap(tree.Root(&doc)) {
			return
		}
		w, err := ReadWorkload(tree.Root(&doc))
		if (w == nil) == (err == nil) {
			t.Errorf("%v, %v", w, err)
		}
	})
}
