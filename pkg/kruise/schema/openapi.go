package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// OpenAPI returns what a reader of Kubernetes' OpenAPI documents needs to know of
// Kruise's kinds, in both versions: a definition for each, with merge keys and
// without descriptions and status, which are not patched in files. shared are the
// types of Kubernetes that they refer to, under the names of Kubernetes' own
// documents.
func OpenAPI() (kinds, shared Definitions, err error) {
	m, err := all()
	if err != nil {
		return nil, nil, err
	}
	kinds, shared = Definitions{}, Definitions{}
	for _, k := range kruise.Kinds() {
		for _, version := range k.Versions {
			s := m.kinds[[2]string{k.Group + "/" + version, k.Kind}].bare()
			delete(s.Properties, "status")
			s.GroupVersionKind = []GroupVersionKind{{k.Group, version, k.Kind}}
			kinds[definitionOf(k, version)] = s
			for name, d := range m.shared.reachable(s) {
				shared[name] = d.bare()
			}
		}
	}
	return kinds, shared, nil
}

// definitionOf is the name of a kind's definition, such as
// io.kruise.apps.v1beta1.CloneSet.
func definitionOf(k kruise.Registered, version string) string {
	short, _, _ := strings.Cut(k.Group, ".")
	return "io.kruise." + short + "." + version + "." + k.Kind
}

// bare is a copy without descriptions, limits and what is required.
func (s *Schema) bare() *Schema {
	c := *s
	c.Description, c.Enum, c.Required = "", nil, nil
	if s.Properties != nil {
		c.Properties = make(map[string]*Schema, len(s.Properties))
		for name, p := range s.Properties {
			c.Properties[name] = p.bare()
		}
	}
	if s.Items != nil {
		c.Items = s.Items.bare()
	}
	if v := s.values(); v != nil {
		c.AdditionalProperties = v.bare()
	}
	return &c
}

// Document is the OpenAPI document (version 3) of one kind in one version, with descriptions: what
// an API server that has the kind says of it.
func Document(k kruise.Registered, version string) ([]byte, error) {
	m, err := all()
	if err != nil {
		return nil, err
	}
	s := m.kinds[[2]string{k.Group + "/" + version, k.Kind}]
	if s == nil {
		return nil, fmt.Errorf("%s has no version %s", k.Kind, version)
	}
	schemas := Definitions{}
	maps.Copy(schemas, m.shared.reachable(s))
	own := *s
	own.GroupVersionKind = []GroupVersionKind{{k.Group, version, k.Kind}}
	schemas[definitionOf(k, version)] = &own
	doc, err := json.Marshal(map[string]any{
		"openapi": "3.0.0",
		"paths": map[string]any{"/apis/" + k.Group + "/" + version + "/" + k.Resource(): map[string]any{
			"get": map[string]any{"x-kubernetes-group-version-kind": own.GroupVersionKind[0]},
		}},
		"components": map[string]any{"schemas": schemas},
	})
	return bytes.ReplaceAll(doc, []byte(`"`+prefix), []byte(`"#/components/schemas/`)), err
}
