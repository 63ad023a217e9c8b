package set

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// Overlay is about what becomes of an object that is there when another is applied
// over it, without asking the server: maps are merged, lists whose items have names
// item by item, and nothing is removed.
func Overlay(live, object *unstructured.Unstructured) *unstructured.Unstructured {
	out := runtime.DeepCopyJSON(live.Object)
	overlay(out, runtime.DeepCopyJSON(object.Object))
	return &unstructured.Unstructured{Object: out}
}

func overlay(into, from map[string]any) {
	for key, v := range from {
		into[key] = over(into[key], v)
	}
}

func over(old, now any) any {
	switch now := now.(type) {
	case map[string]any:
		if o, ok := old.(map[string]any); ok {
			overlay(o, now)
			return o
		}
	case []any:
		if o, ok := old.([]any); ok {
			return overlayList(o, now)
		}
	}
	return now
}

// overlayList keeps the items of the new list, each over the old one of its name.
func overlayList(old, now []any) []any {
	named := map[string]any{}
	for _, item := range old {
		if name := nameOf(item); name != "" {
			named[name] = item
		}
	}
	out := make([]any, len(now))
	for i, item := range now {
		out[i] = over(named[nameOf(item)], item)
	}
	return out
}

func nameOf(item any) string {
	m, _ := item.(map[string]any)
	name, _ := m["name"].(string)
	return name
}
