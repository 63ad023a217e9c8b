package check

import (
	"reflect"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// TestRulesNameFields: what a rule looks at exists in the type of its kind.
func TestRulesNameFields(t *testing.T) {
	for _, k := range kinds {
		for _, r := range k.rules {
			if len(r.fields) == 0 {
				t.Errorf("%s looks at nothing", r.ID)
			}
			for _, f := range r.fields {
				if !strings.HasPrefix(f, "metadata.") && !exists(reflect.TypeOf(k.object), f) {
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

func TestRuleOfField(t *testing.T) {
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
