package conformance

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"
)

// field follows keys; nil when one is missing.
func field(v any, path ...string) any {
	for _, k := range path {
		m, _ := v.(map[string]any)
		v = m[k]
	}
	return v
}

func text(v any, path ...string) string {
	s, _ := field(v, path...).(string)
	return s
}

func texts(v any) []string {
	var out []string
	list, _ := v.([]any)
	for _, item := range list {
		if s, ok := item.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

func kindOf(o map[string]any) string { return text(o, "kind") }

func nameOf(o map[string]any) string { return text(o, "metadata", "name") }

func namespaceOf(o map[string]any) string { return text(o, "metadata", "namespace") }

func mapping(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

// copied is a deep copy.
func copied(o map[string]any) map[string]any { return mapping(copiedValue(o)) }

func copiedValue(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = copiedValue(e)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = copiedValue(e)
		}
		return out
	}
	return v
}

// quantities writes the amounts below v as the API server does.
func quantities(v any) {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			switch k {
			case "limits", "requests":
				canonical(mapping(e))
				continue
			case "sizeLimit", "divisor":
				v[k] = quantity(e)
				continue
			}
			quantities(e)
		}
	case []any:
		for _, e := range v {
			quantities(e)
		}
	}
}

func canonical(amounts map[string]any) {
	for k, v := range amounts {
		amounts[k] = quantity(v)
	}
}

// quantity is v as the API server writes it; v itself when it is none.
func quantity(v any) any {
	if q, err := resource.ParseQuantity(fmt.Sprint(v)); err == nil {
		return q.String()
	}
	return v
}

// varies reports whether a key came out differently when it was recorded again.
func varies(want map[string]any, what string) bool {
	return want["stable"] == false && slices.Contains(texts(want["varies"]), what)
}
