// Package schema describes Kruise's kinds as JSON schemas, made from their Go
// types by reflection: for editors and validators, and, with merge keys, for
// strategic merge patches. The older version of a kind is made by sending
// samples through the conversion table, so that the table stays the one place
// that knows it. It is a leaf: data out, no files.
package schema

import (
	"maps"
	"slices"
)

// Schema is a JSON schema, as far as it is needed here: what JSON Schema and
// Kubernetes' OpenAPI documents have in common.
type Schema struct {
	Ref         string             `json:"$ref,omitempty"`
	Description string             `json:"description,omitempty"`
	Type        string             `json:"type,omitempty"`
	Format      string             `json:"format,omitempty"`
	Enum        []string           `json:"enum,omitempty"`
	AnyOf       []*Schema          `json:"anyOf,omitempty"`
	Required    []string           `json:"required,omitempty"`
	Properties  map[string]*Schema `json:"properties,omitempty"`
	Items       *Schema            `json:"items,omitempty"`
	// AdditionalProperties is a *Schema, false, or nil.
	AdditionalProperties any `json:"additionalProperties,omitempty"`

	GroupVersionKind []GroupVersionKind `json:"x-kubernetes-group-version-kind,omitempty"`
	PatchStrategy    string             `json:"x-kubernetes-patch-strategy,omitempty"`
	PatchMergeKey    string             `json:"x-kubernetes-patch-merge-key,omitempty"`
}

// GroupVersionKind names a kind in one version.
type GroupVersionKind struct {
	Group   string `json:"group"`
	Version string `json:"version"`
	Kind    string `json:"kind"`
}

// Definitions are schemas by name.
type Definitions map[string]*Schema

// prefix begins a reference to a definition.
const prefix = "#/definitions/"

// values is the schema of a mapping's values, nil if it is not a mapping.
func (s *Schema) values() *Schema {
	v, _ := s.AdditionalProperties.(*Schema)
	return v
}

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
