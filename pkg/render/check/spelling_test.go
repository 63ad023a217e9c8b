package check

import (
	"reflect"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

func TestSpelling_Hints(t *testing.T) {
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
		{"above its place", kruise.AdvancedCronJob{}, "spec.broadcastJobTemplate", "it belongs to spec.template.broadcastJobTemplate"},
		{"below its place", kruise.BroadcastJob{}, "spec.template.spec.completionPolicy", "it belongs to spec.completionPolicy"},
		{"above a list", kruise.SidecarSet{}, "spec.podInjectPolicy", "it belongs to spec.containers[].podInjectPolicy or spec.initContainers[].podInjectPolicy"},
		{"above the only list", kruise.UnitedDeployment{}, "spec.topology.nodeSelectorTerm", "it belongs to spec.topology.subsets[].nodeSelectorTerm"},
		{"in another list", kruise.PodProbeMarker{}, "spec.markerPolicy", "it belongs to spec.probes[].markerPolicy"},
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

// TestRules_NameExistingFields: what a rule looks at exists in the type of its kind.
func TestRules_NameExistingFields(t *testing.T) {
	types := map[string]any{}
	for _, k := range kinds {
		types[k.kind] = k.object
	}
	for kind, list := range catalogue() {
		for _, r := range list {
			if (len(r.Fields) == 0) != (kind == anyKind) || kind != anyKind && types[kind] == nil {
				t.Errorf("%s of %s looks at %v", r.ID, kind, r.Fields)
			}
			if kind != anyKind && !strings.HasPrefix(r.ID, strings.ToLower(kind)+"/") {
				t.Errorf("%s: the ID begins with another kind than %s", r.ID, kind)
			}
			for _, f := range r.Fields {
				if !strings.HasPrefix(f, "metadata.") && !exists(reflect.TypeOf(types[kind]), f) {
					t.Errorf("%s: no field %s", r.ID, f)
				}
			}
		}
	}
}

// exists follows a path without indices.
func exists(t reflect.Type, path string) bool {
	for _, step := range tree.Steps(path) {
		for t = deref(t); t.Kind() == reflect.Slice || t.Kind() == reflect.Map; {
			t = deref(t.Elem())
		}
		if t = fields(t)[step]; t == nil {
			return false
		}
	}
	return true
}

func TestRule_IsTheMostSpecific(t *testing.T) {
	for path, want := range map[string]string{
		"spec.updateStrategy.rollingUpdate.partition":                                 "cloneset/partition-invalid",
		"spec.updateStrategy.rollingUpdate.priorityStrategy.weightPriority[0].weight": "cloneset/priority-invalid",
		"spec.selector":                    "cloneset/selector-invalid",
		"spec.selectors":                   invalidValue,
		"spec.template.spec.restartPolicy": "cloneset/in-place-impossible",
		"spec.lifecycle":                   invalidValue,
	} {
		if got := kinds["apps.kruise.io/CloneSet"].rule(path); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}
