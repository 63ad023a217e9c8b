package schema

import (
	"maps"
	"slices"
)

// mark is a key that stands for the content of a mapping without known fields.
const mark = "content-of-any-kind"

// anyKey is the key of every map in a sample.
const anyKey = "any-key"

// samples are values that the schema allows. Both of a boolean, because one of
// them may be the older version's default and be left out.
func samples(s *Schema) []any {
	switch {
	case s.Ref != "" || s.Type == "object" || s.Type == "" && len(s.AnyOf) == 0:
		return []any{map[string]any{mark: true}}
	case len(s.Enum) > 0:
		return []any{s.Enum[0]}
	case s.Type == "string":
		return []any{"x"}
	case s.Type == "boolean":
		return []any{true, false}
	}
	return []any{7}
}

// wrap puts a value below a path.
func wrap(path []string, v any) map[string]any {
	for _, step := range slices.Backward(path) {
		switch step {
		case element:
			v = []any{v}
		case value:
			v = map[string]any{anyKey: v}
		default:
			v = map[string]any{step: v}
		}
	}
	out, _ := v.(map[string]any)
	return out
}

// within calls f with the path of every value. The key of a map is known by its
// name.
func within(v any, path []string, f func(path []string, v any)) {
	switch v := v.(type) {
	case nil:
	case map[string]any:
		if _, marked := v[mark]; marked {
			f(path, v)
			return
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			step := name
			if name == anyKey {
				step = value
			}
			within(v[name], append(slices.Clone(path), step), f)
		}
	case []any:
		for _, item := range v {
			within(item, append(slices.Clone(path), element), f)
		}
	default:
		f(path, v)
	}
}
