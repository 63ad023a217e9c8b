package world

import (
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// TestPodNames: a pod is found by its name, and told from one of the same name in
// another namespace where that may be.
func TestPodNames(t *testing.T) {
	web := cluster.Ref{Kind: "CloneSet", Namespace: "shop", Name: "web"}
	mesh := cluster.Ref{Kind: "SidecarSet", Name: "mesh"}
	pods := []*cluster.Pod{{Namespace: "shop", Name: "web-1"}, {Namespace: "pay", Name: "web-1"}}
	for want, c := range map[string]struct {
		workload cluster.Ref
		pod      *cluster.Pod
	}{
		"web-1": {web, pods[0]}, "shop/web-1": {mesh, pods[0]}, "pay/web-1": {mesh, pods[1]},
	} {
		d := Detail{Ref: c.workload}
		d.Snapshot.Pods = pods
		name := PodName(c.workload, c.pod)
		ref := cluster.Ref{Kind: "Pod", Namespace: c.pod.Namespace, Name: "web-1"}
		if name != want || d.Pod(name) != c.pod || PodRef(c.workload, name) != ref {
			t.Errorf("%s: %s, %v, %v", want, name, d.Pod(name), PodRef(c.workload, name))
		}
		if d.Pod("none") != nil {
			t.Error("a pod that is not there is found")
		}
	}
}
