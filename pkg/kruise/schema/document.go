package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// dialect is the draft of JSON Schema that editors understand best.
const dialect = "http://json-schema.org/draft-07/schema#"

// Options choose what a JSON schema says.
type Options struct {
	// Open accepts fields that the schema does not know; otherwise they are
	// faults, as they are for an API server asked to be strict.
	Open bool
	// Kruise is the release whose fields there are; the zero value means those of
	// Kruise's main branch.
	Kruise kruise.Release
}

// JSON returns the JSON schema (draft 7) of one kind in one version, complete in
// itself, with two spaces to a level. Like an API server, it takes null for
// anything that may be left out.
func JSON(apiVersion, kind string, opt Options) ([]byte, error) {
	m, err := all()
	if err != nil {
		return nil, err
	}
	s := m.kinds[[2]string{apiVersion, kind}]
	if s == nil {
		return nil, fmt.Errorf("%s has no kind %s", apiVersion, kind)
	}
	root := *s
	root.Properties = maps.Clone(s.Properties)
	root.Properties["apiVersion"] = &Schema{Type: "string", Enum: []string{apiVersion}}
	root.Properties["kind"] = &Schema{Type: "string", Enum: []string{kind}}
	doc, err := plain(&root)
	if err != nil {
		return nil, err
	}
	definitions := map[string]any{}
	for name, d := range m.shared.reachable(s) {
		if definitions[name], err = plain(d); err != nil {
			return nil, err
		}
	}
	out, _ := doc.(map[string]any)
	if err := m.asOf(out, apiVersion, kind, opt.Kruise); err != nil {
		return nil, err
	}
	loosen(doc, opt)
	for _, d := range definitions {
		loosen(d, opt)
	}
	out["$schema"], out["title"], out["definitions"] = dialect, kind, definitions
	return json.MarshalIndent(out, "", "  ")
}

// plain is a schema as JSON-like values.
func plain(s *Schema) (any, error) {
	b, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	var v any
	return v, json.Unmarshal(b, &v)
}

// reachable are the definitions that a schema refers to, directly or not.
func (d Definitions) reachable(from *Schema) Definitions {
	out := Definitions{}
	var visit func(*Schema)
	visit = func(s *Schema) {
		if name, ok := strings.CutPrefix(s.Ref, prefix); ok && out[name] == nil && d[name] != nil {
			out[name] = d[name]
			visit(d[name])
		}
		s.each(func(_ string, child *Schema) { visit(child) })
	}
	visit(from)
	return out
}

// loosen makes a schema take null where a field may be left out, and, unless it
// is open, refuse fields that it does not know. What only Kubernetes reads goes.
func loosen(v any, opt Options) {
	s, ok := v.(map[string]any)
	if !ok {
		return
	}
	for key := range s {
		if strings.HasPrefix(key, "x-kubernetes-") {
			delete(s, key)
		}
	}
	properties, _ := s["properties"].(map[string]any)
	if properties != nil && !opt.Open {
		s["additionalProperties"] = false
	}
	required, _ := s["required"].([]any)
	for name, p := range properties {
		loosen(p, opt)
		if !slices.Contains(required, any(name)) {
			nullable(p)
		}
	}
	loosen(s["items"], opt)
	if m, ok := s["additionalProperties"].(map[string]any); ok {
		loosen(m, opt)
		nullable(m)
	}
}

// nullable makes a schema take null as well.
func nullable(v any) {
	s, _ := v.(map[string]any)
	null := map[string]any{"type": "null"}
	switch {
	case s["$ref"] != nil:
		s["anyOf"] = []any{map[string]any{"$ref": s["$ref"]}, null}
		delete(s, "$ref")
	case s["anyOf"] != nil:
		list, _ := s["anyOf"].([]any)
		s["anyOf"] = append(list, null)
	case s["type"] != nil:
		s["type"] = []any{s["type"], "null"}
		if list, ok := s["enum"].([]any); ok {
			s["enum"] = append(list, nil)
		}
	}
}
