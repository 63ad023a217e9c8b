package rules

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
)

// MaskObject returns an object, or a pod template, without what is likely to be secret
// in it: all values of a Secret, also of one inside a list or a ResourceDistribution,
// and of anything else what [Mask] hides.
func MaskObject(object map[string]any) map[string]any {
	out := make(map[string]any, len(object))
	for key, v := range maskedParts(object).(map[string]any) {
		out[key] = Mask([]string{key}, v, object)
	}
	return out
}

// maskedParts hides what is known by the object that it stands in.
func maskedParts(v any) any {
	switch v := v.(type) {
	case map[string]any:
		return maskedPart(v)
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = maskedParts(item)
		}
		return out
	}
	return v
}

func maskedPart(object map[string]any) map[string]any {
	out := make(map[string]any, len(object))
	for key, v := range object {
		out[key] = maskedParts(v)
		if key == "metadata" {
			out[key] = maskedMetadata(out[key])
		}
		if object["kind"] == "Secret" && (key == "data" || key == "stringData") {
			out[key] = hiddenValues(v)
		}
	}
	return out
}

func maskedMetadata(v any) any {
	meta, ok := v.(map[string]any)
	if !ok {
		return v
	}
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
		if SecretName(name) || name == corev1.LastAppliedConfigAnnotation {
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
