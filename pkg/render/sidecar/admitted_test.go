package sidecar_test

import (
	"slices"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// TestRun_PolicyInjectedSetsCountOnly: sets that policies inject go into no template, but count where other
// sets look at them: a canary keeps its base out, and resourcesPolicy leaves out a
// container that the policy will replace.
func TestRun_PolicyInjectedSetsCountOnly(t *testing.T) {
	admitted := objects(t, `
apiVersion: apps.kruise.io/v1beta1
kind: SidecarSet
metadata: {name: canary, annotations: {apps.kruise.io/sidecarset-canary: "true", apps.kruise.io/sidecarset-base: base}}
spec: {selector: {matchLabels: {app: web}}, containers: [{name: canary, image: i}]}
---
apiVersion: apps.kruise.io/v1beta1
kind: SidecarSet
metadata: {name: replacing}
spec: {selector: {matchLabels: {app: web}}, containers: [{name: replaced, image: i}]}
`)
	w := run(t, `
apiVersion: apps.kruise.io/v1beta1
kind: SidecarSet
metadata: {name: base}
spec: {selector: {matchLabels: {app: web}}, containers: [{name: base, image: i}]}
---
apiVersion: apps.kruise.io/v1beta1
kind: SidecarSet
metadata: {name: sized}
spec:
  selector: {matchLabels: {app: web}}
  containers:
  - {name: sized, image: i, resourcesPolicy: {targetContainersMode: sum, resourcesExpr: {limits: {cpu: cpu}}}}
---
apiVersion: v1
kind: Pod
metadata: {name: p, labels: {app: web}}
spec:
  containers:
  - {name: app, image: i, resources: {limits: {cpu: 1}}}
  - {name: replaced, image: i, resources: {limits: {cpu: 2}}}
`, "", func(c *stage.Context) {
		c.Admitted = map[string]*resource.Resource{"canary": admitted[0], "replacing": admitted[1]}
	})
	if w.err != nil {
		t.Fatal(w.err)
	}
	pod := w.out[len(w.out)-1]
	if got := containers(pod, ""); !slices.Equal(got, []string{"sized", "app", "replaced"}) {
		t.Errorf("containers %v", got)
	}
	sized := tree.Items(tree.Get(pod.Node(), "spec", "containers"))[0]
	if got := tree.StrAt(sized, "resources", "limits", "cpu"); got != "1" {
		t.Errorf("sized to %q", got)
	}
	reasons := map[string]string{}
	for _, e := range w.Explain.List() {
		reasons[e.SidecarSet] = e.Reason
	}
	if got := reasons["replacing"]; got != "left to its policy: selector app=web matches, in every namespace" {
		t.Errorf("explained: %q", got)
	}
}
