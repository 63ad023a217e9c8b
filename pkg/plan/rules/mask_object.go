package rules

import "maps"

// lastApplied is the annotation in which kubectl keeps a whole manifest.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// MaskObject returns an object, or a pod template, without what is likely to be secret
// in it: all values of a Secret, and of anything else what [Mask] hides. A list is
// masked item by item.
func MaskObject(object map[string]any) map[string]any {
	out := make(map[string]any, len(object))
	for key, v := range object {
		out[key] = Mask([]string{key}, v, object)
	}
	if meta, ok := out["metadata"].(map[string]any); ok {
		out["metadata"] = maskedMetadata(meta)
	}
	if spec, ok := out["spec"].(map[string]any); ok {
		out["spec"] = withMaskedTemplate(spec)
	}
	if items, ok := object["items"].([]any); ok {
		out["items"] = maskedItems(items)
	}
	if object["kind"] == "Secret" {
		for _, key := range []string{"data", "stringData"} {
			out[key] = hiddenValues(out[key])
		}
		maps.DeleteFunc(out, func(_ string, v any) bool { return v == nil })
	}
	return out
}

func maskedItems(items []any) []any {
	out := make([]any, len(items))
	for i, item := range items {
		out[i] = item
		if object, ok := item.(map[string]any); ok {
			out[i] = MaskObject(object)
		}
	}
	return out
}

// withMaskedTemplate masks the labels and annotations of a pod template too.
func withMaskedTemplate(spec map[string]any) map[string]any {
	template, ok := spec["template"].(map[string]any)
	if !ok {
		return spec
	}
	out := maps.Clone(spec)
	out["template"] = MaskObject(template)
	return out
}

func maskedMetadata(meta map[string]any) map[string]any {
	out := maps.Clone(meta)
	for _, key := range []string{"labels", "annotations"} {
		if values, ok := meta[key].(map[string]any); ok {
			out[key] = maskedNames(values)
		}
	}
	return out
}

func maskedNames(values map[string]any) map[string]any {
	out := maps.Clone(values)
	for name, v := range values {
		if SecretName(name) || name == lastApplied {
			out[name] = hide(v)
		}
	}
	return out
}

func hiddenValues(v any) any {
	values, ok := v.(map[string]any)
	if !ok {
		return hide(v)
	}
	out := make(map[string]any, len(values))
	for key, v := range values {
		out[key] = hide(v)
	}
	return out
}
