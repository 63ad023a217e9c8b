package edit

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// operation is one of a JSON patch.
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// difference is a JSON patch of the fields that differ, each after a test that it is
// as it was read. Others may write the rest of the object at the same time: its status
// changes all the time while pods come and go.
func (v *Verb) difference(before, after *unstructured.Unstructured) []operation {
	old, updated := before.DeepCopy(), after.DeepCopy()
	old.SetResourceVersion("")
	updated.SetResourceVersion("")
	ops := []operation{{"test", "/metadata/uid", string(before.GetUID())}}
	if v.Pinned {
		ops = append(ops, operation{"add", "/metadata/resourceVersion", after.GetResourceVersion()})
	}
	return append(ops, fields("", old.Object, updated.Object)...)
}

// fields are the operations for two states of a map. A list is changed as a whole.
func fields(at string, old, updated map[string]any) []operation {
	keys := maps.Clone(old)
	maps.Copy(keys, updated)
	var out []operation
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		path := at + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
		a, b := old[key], updated[key]
		below, isMap := a.(map[string]any)
		within, wasMap := b.(map[string]any)
		switch {
		case reflect.DeepEqual(a, b):
		case isMap && wasMap:
			out = append(out, fields(path, below, within)...)
		case b == nil:
			out = append(out, operation{"test", path, a}, operation{Op: "remove", Path: path})
		default:
			// A test for null holds where the field is missing.
			out = append(out, operation{"test", path, a}, operation{"add", path, b})
		}
	}
	return out
}
