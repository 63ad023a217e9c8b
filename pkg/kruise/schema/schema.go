// Package schema describes Kruise's kinds as JSON schemas, made from their Go
// types by reflection: for editors and validators, and, with merge keys, for
// strategic merge patches. The older version of a kind is made by sending
// samples through the conversion table, so that the table stays the one place
// that knows it. It is a leaf: data out, no files.
package schema

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

func reference(name string) *Schema { return &Schema{Ref: prefix + name} }

// values is the schema of a mapping's values, nil where it is none.
func (s *Schema) values() *Schema {
	v, _ := s.AdditionalProperties.(*Schema)
	return v
}
