package tree

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Difference is one place where two decoded JSON values differ. A nil side means
// that there is nothing.
type Difference struct {
	Path     []string
	Old, New any
}

// Differences lists the places where two decoded JSON values differ: maps by key
// in order, lists by position. A null is the same as nothing, and numbers are
// compared by value, however they were decoded.
//
// It serves what reports each field. Three others compare decoded values by rules of
// their own: [Sync] pairs items of lists by name and keeps comments, a comparison of
// rendered objects also pairs quantities and items that moved, and a patch of a plan
// must stop where a field or list can only be replaced as a whole.
func Differences(path []string, old, updated any) []Difference {
	if o, ok := old.(map[string]any); ok {
		if u, ok := updated.(map[string]any); ok {
			keys := make(map[string]any, max(len(o), len(u)))
			maps.Copy(keys, o)
			maps.Copy(keys, u)
			var out []Difference
			for _, key := range slices.Sorted(maps.Keys(keys)) {
				out = append(out, Differences(append(path, key), o[key], u[key])...)
			}
			return out
		}
	}
	if o, ok := old.([]any); ok {
		if u, ok := updated.([]any); ok {
			return listDifferences(path, o, u)
		}
	}
	if sameLeaf(old, updated) {
		return nil
	}
	return []Difference{{slices.Clone(path), old, updated}}
}

func listDifferences(path []string, old, updated []any) []Difference {
	var out []Difference
	for i := range max(len(old), len(updated)) {
		var o, u any
		if i < len(old) {
			o = old[i]
		}
		if i < len(updated) {
			u = updated[i]
		}
		out = append(out, Differences(append(path, strconv.Itoa(i)), o, u)...)
	}
	return out
}

// Same reports whether [Differences] finds none, without listing them.
func Same(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		if b, ok := b.(map[string]any); ok {
			for key, v := range a {
				if !Same(v, b[key]) {
					return false
				}
			}
			for key, v := range b {
				if _, both := a[key]; !both && !Same(nil, v) {
					return false
				}
			}
			return true
		}
	case []any:
		if b, ok := b.([]any); ok {
			return sameLists(a, b)
		}
	}
	return sameLeaf(a, b)
}

func sameLists(a, b []any) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	for i, v := range b {
		var other any
		if i < len(a) {
			other = a[i]
		}
		if !Same(other, v) {
			return false
		}
	}
	return true
}

// sameLeaf compares leaves; numbers by value, however they were decoded.
func sameLeaf(a, b any) bool {
	if x, ok := number(a); ok {
		y, ok := number(b)
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

func number(v any) (float64, bool) {
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

// Lookup walks down decoded JSON; nil where the path ends early.
func Lookup(v any, path []string) any {
	for _, step := range path {
		switch in := v.(type) {
		case map[string]any:
			v = in[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(in) {
				return nil
			}
			v = in[i]
		default:
			return nil
		}
	}
	return v
}

// PointerSteps are the keys of a JSON pointer.
func PointerSteps(pointer string) []string {
	path := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	for i, step := range path {
		path[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
	}
	return path
}
