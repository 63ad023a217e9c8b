package rules

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// change is one place where two templates differ. A nil side means that there
// is nothing.
type change struct {
	path     []string
	old, new any
}

// differences lists the places where two decoded JSON values differ, deepest
// first come last: maps by key in order, lists by position. A null is the same
// as nothing.
func differences(path []string, old, updated any) []change {
	if o, ok := old.(map[string]any); ok {
		if u, ok := updated.(map[string]any); ok {
			return mapDifferences(path, o, u)
		}
	}
	if o, ok := old.([]any); ok {
		if u, ok := updated.([]any); ok {
			return listDifferences(path, o, u)
		}
	}
	if same(old, updated) {
		return nil
	}
	return []change{{slices.Clone(path), old, updated}}
}

func mapDifferences(path []string, old, updated map[string]any) []change {
	keys := make(map[string]any, max(len(old), len(updated)))
	maps.Copy(keys, old)
	maps.Copy(keys, updated)
	var out []change
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		out = append(out, differences(append(path, key), old[key], updated[key])...)
	}
	return out
}

func listDifferences(path []string, old, updated []any) []change {
	var out []change
	for i := range max(len(old), len(updated)) {
		var o, u any
		if i < len(old) {
			o = old[i]
		}
		if i < len(updated) {
			u = updated[i]
		}
		out = append(out, differences(append(path, strconv.Itoa(i)), o, u)...)
	}
	return out
}

// same compares leaves; numbers by value, however they were decoded.
func same(a, b any) bool {
	if x, ok := asFloat(a); ok {
		y, ok := asFloat(b)
		return ok && x == y
	}
	switch a.(type) {
	case map[string]any, []any:
		return false
	}
	switch b.(type) {
	case map[string]any, []any:
		return false
	}
	return a == b
}

func asFloat(v any) (float64, bool) {
	switch n := v.(type) {
	case int:
		return float64(n), true
	case int32:
		return float64(n), true
	case int64:
		return float64(n), true
	case uint64:
		return float64(n), true
	case float64:
		return n, true
	}
	return 0, false
}

var plainKey = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)

// PathText writes a path as users know it: spec.containers[0].image,
// metadata.annotations["a.b/c"].
func PathText(path []string) string {
	var out strings.Builder
	for _, step := range path {
		switch _, err := strconv.Atoi(step); {
		case err == nil:
			fmt.Fprintf(&out, "[%s]", step)
		case !plainKey.MatchString(step):
			fmt.Fprintf(&out, "[%q]", step)
		case out.Len() > 0:
			out.WriteString("." + step)
		default:
			out.WriteString(step)
		}
	}
	return out.String()
}
