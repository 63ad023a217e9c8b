package get

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// retitled is what the server sent, with our columns where it is a table of whole
// objects; anything else is returned as it is.
func retitled(obj runtime.Object, columns []column, now time.Time) runtime.Object {
	if e, ok := obj.(*metav1.WatchEvent); ok {
		out := e.DeepCopy()
		out.Object.Object = retitled(e.Object.Object, columns, now)
		return out
	}
	u, ok := obj.(*unstructured.Unstructured)
	if !ok || u.GetKind() != "Table" {
		return obj
	}
	rows, _ := u.Object["rows"].([]any)
	out := make([]any, 0, len(rows))
	for _, r := range rows {
		row, _ := r.(map[string]any)
		object, _ := row["object"].(map[string]any)
		if field(object, "spec") == nil && field(object, "status") == nil && len(object) <= metadataOnly {
			return obj // the server sent no whole objects
		}
		out = append(out, map[string]any{"cells": cells(object, columns, now), "object": object})
	}
	table := map[string]any{"apiVersion": u.GetAPIVersion(), "kind": "Table", "columnDefinitions": definitions(columns), "rows": out}
	if meta, ok := u.Object["metadata"]; ok {
		table["metadata"] = meta
	}
	return &unstructured.Unstructured{Object: table}
}

// metadataOnly is how many fields a PartialObjectMetadata has.
const metadataOnly = 3

func cells(object map[string]any, columns []column, now time.Time) []any {
	out := []any{field(object, "metadata.name")}
	for _, c := range columns {
		out = append(out, c.show(object, now))
	}
	return out
}

func definitions(columns []column) []any {
	definition := func(name, format string, priority int64) any {
		return map[string]any{"name": name, "type": "string", "format": format, "description": "", "priority": priority}
	}
	out := []any{definition("NAME", "name", 0)}
	for _, c := range columns {
		priority := int64(0)
		if c.wide {
			priority = 1
		}
		out = append(out, definition(c.title, "", priority))
	}
	return out
}
