package check

import (
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

func TestSpelling(t *testing.T) {
	tests := []struct {
		name string
		obj  any
		path string
		want string
	}{
		{"letter left out", kruise.SidecarSet{}, "spec.updateStrategy.partiton", "did you mean partition?"},
		{"case", kruise.CloneSet{}, "spec.minreadyseconds", "did you mean minReadySeconds?"},
		{"through a pointer", kruise.CloneSet{}, "spec.updateStrategy.rollingUpdate.maxSurg", "did you mean maxSurge?"},
		{"in a list", kruise.UnitedDeployment{}, "spec.topology.subsets[1].replica", "did you mean replicas?"},
		{"inlined fields, far", kruise.SidecarSet{}, "spec.containers[0].injectPolicies", "check the spelling"},
		{"a word of it", kruise.WorkloadSpread{}, "spec.targetReference", "did you mean targetRef?"},
		{"the other word of it", kruise.WorkloadSpread{}, "spec.strategy", "did you mean scheduleStrategy?"},
		{"a word of two", kruise.SidecarSet{}, "spec.strategy", "check the spelling"},
		{"above its place", kruise.AdvancedCronJob{}, "spec.broadcastJobTemplate", "its place is spec.template.broadcastJobTemplate"},
		{"below its place", kruise.BroadcastJob{}, "spec.template.spec.completionPolicy", "its place is spec.completionPolicy"},
		{"above a list", kruise.SidecarSet{}, "spec.podInjectPolicy", "its place is spec.containers[].podInjectPolicy or spec.initContainers[].podInjectPolicy"},
		{"above the only list", kruise.UnitedDeployment{}, "spec.topology.nodeSelectorTerm", "its place is spec.topology.subsets[].nodeSelectorTerm"},
		{"in another list", kruise.PodProbeMarker{}, "spec.markerPolicy", "its place is spec.probes[].markerPolicy"},
		{"in many lists of a pod", kruise.CloneSet{}, "spec.image", "check the spelling"},
		{"inlined fields, near", kruise.SidecarSet{}, "spec.containers[0].podInjectPolic", "did you mean podInjectPolicy?"},
		{"nothing near", kruise.SidecarSet{}, "spec.colour", "check the spelling"},
		{"of the newest version", kruise.StatefulSet{}, "spec.reserveOrdinals", "only v1beta1 has it: change apiVersion"},
		{"no such place", kruise.SidecarSet{}, "spec.colour.red", "check the spelling"},
		{"an empty key", kruise.CloneSet{}, "", "check the spelling"},
		{"below a scalar", kruise.CloneSet{}, "spec.replicas.a", "check the spelling"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			if got := spelling(tc.obj, tc.path); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}
