package world

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// TestPodNames_AreUniqueAcrossNamespaces: a pod is found by its name, and distinguished from one of the same name in
// another namespace where that may be.
func TestPodNames_AreUniqueAcrossNamespaces(t *testing.T) {
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

// TestMembers_DistinguishStates: each state of a pod is distinguished.
func TestMembers_DistinguishStates(t *testing.T) {
	ready := []cluster.Condition{{Type: "Ready", Status: corev1.ConditionTrue}}
	for want, p := range map[PodState]*cluster.Pod{
		Ready:               {UID: "new", Conditions: ready},
		Starting:            {UID: "new"},
		Failing:             {UID: "new", Containers: []cluster.Container{{Waiting: "CrashLoopBackOff"}}},
		OutdatedFailing:     {Containers: []cluster.Container{{Waiting: "ErrImagePull"}}},
		OutdatedReady:       {Conditions: ready},
		OutdatedUnavailable: {},
		Terminating:         {Deleting: true, Conditions: ready},
	} {
		d := &Detail{Updated: map[string]bool{"new": true}}
		d.Snapshot.Pods = []*cluster.Pod{p}
		if got := d.Members()[0]; got.State != want || got.Updated != (p.UID == "new") {
			t.Errorf("%+v: %v, want %v", p, got, want)
		}
	}
}
