package rules

import (
	"maps"
	"slices"
	"strings"
)

// MaskPatch returns the body of a request without what is likely to be secret in it:
// an object, a merge patch, or the operations of a JSON patch. Neither a patch nor an
// item of a server's list says what it is of, and an operation not which variable its
// value belongs to: what may be secret there is hidden, but for values of variables
// and arguments that open reports to be no secret. open may be nil.
func MaskPatch(body any, open func(value any) bool) any {
	switch body := body.(type) {
	case map[string]any:
		if kind, _ := body["kind"].(string); kind == "" || strings.HasSuffix(kind, "List") {
			body = withoutData(body).(map[string]any)
		}
		return MaskObject(body)
	case []any:
		out := make([]any, len(body))
		for i, item := range body {
			out[i] = maskedOperation(item, open)
		}
		return out
	}
	return body
}

// withoutData hides what would be values if this were a patch of a Secret, or of what
// holds one.
func withoutData(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, item := range v {
			if out[key] = withoutData(item); dataField(key) {
				out[key] = hiddenValues(item)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = withoutData(item)
		}
		return out
	}
	return v
}

func dataField(key string) bool { return key == "data" || key == "stringData" }

func maskedOperation(item any, open func(any) bool) any {
	op, ok := item.(map[string]any)
	pointer, pointed := op["path"].(string)
	if !ok || !pointed {
		return maskedInside(maskedParts(item))
	}
	out := maps.Clone(op)
	if v, ok := op["value"]; ok {
		out["value"] = maskedAt(steps(pointer), v, open)
	}
	return out
}

// steps are the keys of a JSON pointer.
func steps(pointer string) []string {
	path := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	for i, step := range path {
		path[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
	}
	return path
}

// maskedAt masks a value as a part of the object that its path leads into.
func maskedAt(path []string, v any, open func(any) bool) any {
	if slices.ContainsFunc(path, dataField) {
		return hiddenValues(v)
	}
	if nameless(path) && (open == nil || !open(v)) {
		return hide(v)
	}
	nested := withoutData(v)
	for _, step := range slices.Backward(path) {
		nested = map[string]any{step: nested}
	}
	return Lookup(MaskObject(nested.(map[string]any)), path)
}

// nameless reports whether a path leads to a value whose name stands elsewhere: that
// of a variable, or a word of a command line.
func nameless(path []string) bool {
	n := len(path)
	if n < 2 {
		return false
	}
	return n > 2 && path[n-3] == "env" && path[n-1] == "value" || path[n-2] == "args" || path[n-2] == "command"
}
