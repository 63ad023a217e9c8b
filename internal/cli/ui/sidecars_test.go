package ui

import (
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// TestSidecars_AreReadForTheNamespace: SidecarSets stand against the workloads of a namespace, also where they
// are no rows of its list.
func TestSidecars_AreReadForTheNamespace(t *testing.T) {
	a := shop(t)
	a.put(`
apiVersion: apps.kruise.io/v1beta1
kind: SidecarSet
metadata: {name: mesh, uid: mesh, generation: 1}
spec:
  selector: {matchLabels: {app: web}}
  containers: [{name: proxy, image: "proxy:1"}]
status: {observedGeneration: 1}
`)
	l := seeing(t, a, "shop", "")
	w := until(t, l, world.Want{Sidecars: true}, "a matrix", func(w *world.World) bool { return w.Loaded && w.Sidecars != nil && len(w.Sidecars.Sets) > 0 })
	if len(w.Workloads) != 2 {
		t.Errorf("%d rows", len(w.Workloads))
	}
	if s := w.Sidecars.Sets[0]; s.Name != "mesh" || len(s.Cells) != 1 || s.Cells[0].Workload != web || len(s.Cells[0].Held) != 1 || len(s.Cells[0].Held[0].Pods) != 2 {
		t.Errorf("%+v", s)
	}
}
