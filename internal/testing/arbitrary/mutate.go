package arbitrary

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

// mutator changes one object at random, guided by the schema of its kind.
type mutator struct {
	*rand.Rand
	// document is the JSON schema.
	document map[string]any
}

// spot is a value in an object, with what may be there.
type spot struct {
	path string
	// holder is the mapping or list that has the value under key or index.
	holder any
	key    string
	index  int
	schema map[string]any
}

func (s spot) value() any {
	if list, ok := s.holder.([]any); ok {
		return list[s.index]
	}
	return s.holder.(map[string]any)[s.key]
}

func (s spot) set(v any) {
	if list, ok := s.holder.([]any); ok {
		list[s.index] = v
		return
	}
	s.holder.(map[string]any)[s.key] = v
}

// below are the values of an object whose paths begin so.
func (m *mutator) below(object map[string]any, path string) []spot {
	return slices.DeleteFunc(m.spots("", object, m.document), func(s spot) bool { return !strings.HasPrefix(s.path, path) })
}

// mutate makes one change to a value whose path begins so, and says what it was; "" when
// none was possible.
func (m *mutator) mutate(object map[string]any, below string) string {
	spots := slices.DeleteFunc(m.below(object, below), func(s spot) bool {
		return s.path == "apiVersion" || s.path == "kind" || s.path == "metadata"
	})
	if len(spots) == 0 {
		return ""
	}
	changes := []func([]spot) string{m.wrongType, m.bound, m.addition, m.addition, m.choice, m.duplicate, m.removal, m.unknown, m.reference}
	for range 8 { // some changes find nothing to do
		if said := changes[m.IntN(len(changes))](spots); said != "" {
			return said
		}
	}
	return ""
}

// spots returns all values below v.
func (m *mutator) spots(at string, v any, schema map[string]any) []spot {
	schema = m.resolved(schema)
	var out []spot
	switch v := v.(type) {
	case map[string]any:
		properties, _ := schema["properties"].(map[string]any)
		others, _ := schema["additionalProperties"].(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(v)) {
			below, ok := properties[key].(map[string]any)
			if !ok {
				below = others
			}
			path := strings.TrimPrefix(at+"."+key, ".")
			out = append(out, spot{path: path, holder: v, key: key, schema: m.resolved(below)})
			out = append(out, m.spots(path, v[key], below)...)
		}
	case []any:
		items, _ := schema["items"].(map[string]any)
		for i := range v {
			path := fmt.Sprintf("%s[%d]", at, i)
			out = append(out, spot{path: path, holder: v, index: i, schema: m.resolved(items)})
			out = append(out, m.spots(path, v[i], items)...)
		}
	}
	return out
}

// resolved follows references, and takes the first of several choices.
func (m *mutator) resolved(schema map[string]any) map[string]any {
	for range 8 {
		name, ok := schema["$ref"].(string)
		if !ok {
			several, _ := schema["anyOf"].([]any)
			if len(several) == 0 {
				break
			}
			schema, _ = several[0].(map[string]any)
			continue
		}
		definitions, _ := m.document["definitions"].(map[string]any)
		schema, _ = definitions[strings.TrimPrefix(name, "#/definitions/")].(map[string]any)
	}
	return schema
}

func (m *mutator) one(spots []spot, when func(spot) bool) (spot, bool) {
	var fit []spot
	for _, s := range spots {
		if when(s) {
			fit = append(fit, s)
		}
	}
	if len(fit) == 0 {
		return spot{}, false
	}
	return fit[m.IntN(len(fit))], true
}

func (m *mutator) pick(values ...any) any { return values[m.IntN(len(values))] }

func (m *mutator) put(s spot, v any) string {
	s.set(v)
	return fmt.Sprintf("%s: %s", s.path, text(v))
}

// wrongType puts a value of another type somewhere.
func (m *mutator) wrongType(spots []spot) string {
	s := spots[m.IntN(len(spots))]
	return m.put(s, m.pick(nil, true, "text", "", 7.0, 1.5, []any{}, []any{"a"}, []any{nil}, map[string]any{}, map[string]any{"a": "b"}))
}

// bound puts a number at or beyond a bound.
func (m *mutator) bound(spots []spot) string {
	s, ok := m.one(spots, func(s spot) bool {
		switch v := s.value().(type) {
		case float64:
			return true
		case string:
			return strings.HasSuffix(v, "%") || strings.HasSuffix(s.path, "cpu") || strings.HasSuffix(s.path, "memory")
		}
		return false
	})
	if !ok {
		return ""
	}
	return m.put(s, m.pick(-1.0, 0.0, 1.0, 2.0, 65536.0, 2147483647.0, 2147483648.0, 1e19, "0%", "50%", "100%", "101%", "-5%", "3", "1.5", "x%", "100m", "-1"))
}

// addition sets a field that the kind has and the object lacks: many exclude others, or
// need them.
func (m *mutator) addition(spots []spot) string {
	s, ok := m.one(spots, func(s spot) bool {
		v, isMap := s.value().(map[string]any)
		properties, _ := s.schema["properties"].(map[string]any)
		return isMap && len(properties) > len(v) && !strings.HasPrefix(s.path, "status")
	})
	if !ok {
		return ""
	}
	v, properties := s.value().(map[string]any), s.schema["properties"].(map[string]any)
	missing := slices.DeleteFunc(slices.Sorted(maps.Keys(properties)), func(key string) bool { _, is := v[key]; return is })
	key := missing[m.IntN(len(missing))]
	below, _ := properties[key].(map[string]any)
	v[key] = m.sample(key, below, 0)
	return fmt.Sprintf("%s.%s: %s", s.path, key, text(v[key]))
}

// choice puts a value into a field that has a fixed set of them, or one of none.
func (m *mutator) choice(spots []spot) string {
	s, ok := m.one(spots, func(s spot) bool {
		return s.schema["enum"] != nil || strings.HasSuffix(s.path, "olicy") || strings.HasSuffix(s.path, "ype")
	})
	if !ok {
		return ""
	}
	if values, _ := s.schema["enum"].([]any); len(values) > 0 && m.IntN(2) == 0 {
		return m.put(s, m.pick(values...))
	}
	return m.put(s, m.pick("Sometimes", "", "always", "Always", "Never"))
}

// duplicate repeats an item of a list.
func (m *mutator) duplicate(spots []spot) string {
	s, ok := m.one(spots, func(s spot) bool { v, is := s.value().([]any); return is && len(v) > 0 })
	if !ok {
		return ""
	}
	v := s.value().([]any)
	again := copied(map[string]any{"": v[m.IntN(len(v))]})[""]
	s.set(append(slices.Clip(v), again))
	return s.path + ": an item twice"
}

// removal takes a field or an item away.
func (m *mutator) removal(spots []spot) string {
	s, ok := m.one(spots, func(s spot) bool { _, is := s.holder.(map[string]any); return is })
	if !ok {
		return ""
	}
	delete(s.holder.(map[string]any), s.key)
	return s.path + ": removed"
}

// unknown adds a field that is none, or misspells one.
func (m *mutator) unknown(spots []spot) string {
	s, ok := m.one(spots, func(s spot) bool { _, is := s.value().(map[string]any); return is })
	if !ok {
		return ""
	}
	v := s.value().(map[string]any)
	if keys := slices.Sorted(maps.Keys(v)); len(keys) > 0 && m.IntN(2) == 0 {
		key := keys[m.IntN(len(keys))]
		v[key+"s"] = v[key]
		delete(v, key)
		return s.path + "." + key + ": misspelt"
	}
	v["foo"] = "bar"
	return s.path + ".foo: bar"
}

// reference changes a name, a label or an image, so that it is malformed or leads to
// nothing.
func (m *mutator) reference(spots []spot) string {
	s, ok := m.one(spots, func(s spot) bool { _, is := s.value().(string); return is })
	if !ok {
		return ""
	}
	return m.put(s, m.pick("", "other", "Bad_Name", "a.b", "-", "a b", "x/y", "app:2", "a/b/c", " app:1", "1A", "A=B",
		strings.Repeat("x", 64), strings.Repeat("x", 254), "0 0 * * *", "TZ=UTC * * * * *", "main", "web", "$(POD)", "\u202eevil", "a\nb"))
}
