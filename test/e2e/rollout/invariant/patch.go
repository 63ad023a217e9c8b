package invariant

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// Patch is a patch without its preconditions and the mark of its plan, in one form.
func Patch(body any) string {
	v := decoded(body)
	switch v := v.(type) {
	case map[string]any:
		if meta, ok := v["metadata"].(map[string]any); ok {
			delete(meta, "uid")
			if list, ok := meta["annotations"].(map[string]any); ok && len(list) == 1 && list[plan.BegunAnnotation] != nil {
				delete(meta, "annotations")
			}
			if len(meta) == 0 {
				delete(v, "metadata")
			}
		}
	case []any:
		text, _ := json.Marshal(slices.DeleteFunc(v, func(op any) bool {
			path := Text(op, "path")
			return Text(op, "op") == "test" && path == "/metadata/uid" || strings.HasPrefix(path, "/metadata/annotations")
		}))
		return string(text)
	}
	text, _ := json.Marshal(v)
	return string(text)
}
