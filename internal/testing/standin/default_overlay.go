package standin

import "reflect"

// overlay brings the difference between two forms of a value, before and after,
// into a third that may hold more than they do, and says whether there was any.
func overlay(object, before, after any) (any, bool) {
	if reflect.DeepEqual(before, after) {
		return object, false
	}
	switch after := after.(type) {
	case map[string]any:
		return overlayMap(object, before, after), true
	case []any:
		have, ok := object.([]any)
		if was, same := before.([]any); ok && same && len(have) == len(after) && len(was) == len(after) {
			out := make([]any, len(have))
			for i := range have {
				out[i], _ = overlay(have[i], was[i], after[i])
			}
			return out, true
		}
	}
	return after, true
}

func overlayMap(object, before any, after map[string]any) map[string]any {
	have, _ := object.(map[string]any)
	was, _ := before.(map[string]any)
	out := make(map[string]any, len(have))
	for key, v := range have {
		if _, kept := after[key]; !kept && was[key] != nil {
			continue
		}
		out[key] = v
	}
	for key, v := range after {
		if changed, ok := overlay(have[key], was[key], v); ok {
			out[key] = changed
		}
	}
	return out
}
