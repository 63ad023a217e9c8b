package schema

import (
	"maps"
	"slices"
)

// Steps into what has no name.
const (
	element = "[]" // of a list
	value   = "{}" // of a mapping
)

// each calls f for every schema one step below, in a fixed order.
func (s *Schema) each(f func(step string, child *Schema)) {
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		f(name, s.Properties[name])
	}
	if s.Items != nil {
		f(element, s.Items)
	}
	if v := s.values(); v != nil {
		f(value, v)
	}
}

// below is the schema one step below, nil where there is none.
func (s *Schema) below(step string) *Schema {
	switch step {
	case element:
		return s.Items
	case value:
		return s.values()
	}
	return s.Properties[step]
}

// at is the schema that a path leads to, nil where there is none.
func (s *Schema) at(path []string) *Schema {
	for _, step := range path {
		if s == nil {
			return nil
		}
		s = s.below(step)
	}
	return s
}

// attach puts a schema one step below.
func (s *Schema) attach(step string, child *Schema) {
	switch step {
	case element:
		s.Type, s.Items = "array", child
	case value:
		s.Type, s.AdditionalProperties = "object", child
	default:
		s.Type = "object"
		if s.Properties == nil {
			s.Properties = map[string]*Schema{}
		}
		s.Properties[step] = child
	}
}

// alone is a copy of a schema without what is below it.
func (s *Schema) alone() *Schema {
	if s == nil {
		return &Schema{}
	}
	c := *s
	c.Required, c.Properties, c.Items, c.AdditionalProperties = nil, nil, nil, nil
	return &c
}

// leaves calls f with every schema that has nothing below it.
func (s *Schema) leaves(path []string, f func(path []string, leaf *Schema)) {
	end := true
	s.each(func(step string, child *Schema) {
		end = false
		child.leaves(append(slices.Clone(path), step), f)
	})
	if end {
		f(path, s)
	}
}
