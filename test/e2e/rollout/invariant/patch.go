package invariant

import (
	"encoding/json"
	"slices"
)

// Patch is a patch without its preconditions, in one form.
func Patch(body any) string {
	v := decoded(body)
	switch v := v.(type) {
	case map[string]any:
		if meta, ok := v["metadata"].(map[string]any); ok {
			delete(meta, "uid")
			if len(meta) == 0 {
				delete(v, "metadata")
			}
		}
	case []any:
		text, _ := json.Marshal(slices.DeleteFunc(v, func(op any) bool {
			return Text(op, "op") == "test" && Text(op, "path") == "/metadata/uid"
		}))
		return string(text)
	}
	text, _ := json.Marshal(v)
	return string(text)
}
