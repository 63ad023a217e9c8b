package redact

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// flagName matches a flag whose value may be the next argument.
var flagName = regexp.MustCompile(`^--?[\w.-]+$`)

// Value returns a value of an object without what is likely to be secret: path leads
// to it in decoded JSON, and begins with "metadata" for a label or annotation. Values
// of a Secret look like any others: a caller that has some masks them all.
func Value(path []string, v any, object map[string]any) any {
	last := path[len(path)-1]
	if (path[0] == "metadata" || dataField(path[0])) && Name(last) {
		return hide(v)
	}
	switch parent := tree.Lookup(object, path[:len(path)-1]).(type) {
	case map[string]any:
		if secretValue(parent, last) {
			return hide(v)
		}
	case []any:
		if i, err := strconv.Atoi(last); err == nil && flagValue(parent, i) {
			return hide(v)
		}
	}
	return maskedInside(v)
}

// maskedInside does the same for everything below a value.
func maskedInside(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, item := range v {
			if secretValue(v, key) {
				out[key] = hide(item)
				continue
			}
			out[key] = maskedInside(item)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			if flagValue(v, i) {
				out[i] = hide(item)
				continue
			}
			out[i] = maskedInside(item)
		}
		return out
	case string:
		return Inside(v)
	}
	return v
}

// SecretFlag reports whether a text is a flag whose value, likely to be secret, is the
// next argument.
func SecretFlag(text string) bool { return flagName.MatchString(text) && Name(text) }

// secretValue reports whether key is the value of an env variable with such a
// name.
func secretValue(m map[string]any, key string) bool {
	name, _ := m["name"].(string)
	return key == "value" && Name(name)
}

// flagValue reports whether item i of a command line belongs to the flag before
// it.
func flagValue(list []any, i int) bool {
	if i == 0 || i > len(list) {
		return false
	}
	before, _ := list[i-1].(string)
	return SecretFlag(before)
}

func hide(v any) any {
	if v == nil {
		return nil
	}
	return Masked
}

// Object returns an object, or a pod template, without what is likely to be secret
// in it: all values of a Secret, also of one inside a list or a ResourceDistribution,
// and of anything else what [Value] masks.
func Object(object map[string]any) map[string]any {
	out := make(map[string]any, len(object))
	for key, v := range maskedParts(object).(map[string]any) {
		out[key] = Value([]string{key}, v, object)
	}
	return out
}

// maskedParts hides what is known by the object that it is in.
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
		switch {
		case object["kind"] == "Secret" && dataField(key):
			out[key] = hiddenValues(v)
		case object["kind"] == "ConfigMap" && key == "data":
			if values, ok := v.(map[string]any); ok {
				out[key] = maskedNames(values)
			}
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
		if Name(name) || name == corev1.LastAppliedConfigAnnotation {
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

// Patch returns the body of a request without what is likely to be secret in it: an object, a
// merge patch, or the operations of a JSON patch. A patch and an item of a server's list have no
// kind, and an operation does not name the variable of its value: what may be secret there is
// hidden, except for values of variables and arguments for which open returns that they are not
// secret. open may be nil.
func Patch(body any, open func(value any) bool) any {
	switch body := body.(type) {
	case map[string]any:
		if kind, _ := body["kind"].(string); kind == "" || strings.HasSuffix(kind, "List") {
			body = withoutData(body).(map[string]any)
		}
		return Object(body)
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
		out["value"] = maskedAt(tree.PointerSteps(pointer), v, open)
	}
	return out
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
	return tree.Lookup(Object(nested.(map[string]any)), path)
}

// nameless reports whether a path leads to a value whose name is elsewhere: that
// of a variable, or a word of a command line.
func nameless(path []string) bool {
	n := len(path)
	if n < 2 {
		return false
	}
	return n > 2 && path[n-3] == "env" && path[n-1] == "value" || path[n-2] == "args" || path[n-2] == "command"
}
