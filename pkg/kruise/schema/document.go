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

// Options choose the content of a JSON schema.
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

// asOf makes the schema of a kind, as JSON-like values, that of a release: without the
// fields that it lacks, with those that went, and with the types that it had.
func (m made) asOf(doc map[string]any, apiVersion, kind string, release kruise.Release) error {
	group, version, _ := strings.Cut(apiVersion, "/")
	if _, ours := kruise.Lookup(group, kind); !ours || release.IsZero() {
		return nil
	}
	if err := m.olderTemplate(doc, version, kind, release); err != nil {
		return err
	}
	for _, h := range kruise.FieldHistories() {
		if h.Kind != kind || h.Version != version || h.Value != "" {
			continue
		}
		change(doc, h, release)
	}
	return nil
}

// olderTemplate gives a cloneSetTemplate the form of CloneSet v1alpha1, where the release
// reads that.
func (m made) olderTemplate(doc map[string]any, version, kind string, release kruise.Release) error {
	if kind != kruise.KindUnitedDeployment || version != kruise.V1alpha1 || release == kruise.Next {
		return nil
	}
	clone := m.kinds[[2]string{kruise.Group + "/" + kruise.V1alpha1, kruise.KindCloneSet}]
	spec, err := plain(clone.Properties["spec"])
	if err != nil {
		return err
	}
	whole := map[string]any{"properties": map[string]any{"spec": spec}}
	if err := m.asOf(whole, kruise.Group+"/"+kruise.V1alpha1, kruise.KindCloneSet, release); err != nil {
		return err
	}
	if template := at(doc, []string{"spec", "template", "cloneSetTemplate"}); template != nil {
		properties, _ := template["properties"].(map[string]any)
		properties["spec"] = spec
	}
	return nil
}

// change applies one row of the table to the schema.
func change(doc map[string]any, h kruise.FieldHistory, release kruise.Release) {
	steps := strings.Split(h.Path, ".")
	parent := at(doc, steps[:len(steps)-1])
	if parent == nil {
		return // it lies in a type of Kubernetes'
	}
	properties, _ := parent["properties"].(map[string]any)
	name := strings.TrimRight(steps[len(steps)-1], "[]{}")
	switch {
	case !h.Has(release):
		delete(properties, name)
		if required, ok := parent["required"].([]any); ok {
			parent["required"] = slices.DeleteFunc(slices.Clone(required), func(v any) bool { return v == name })
		}
	case h.Has(release) && !h.Has(kruise.Next) && properties[name] == nil && properties != nil && strings.HasSuffix(name, "Seconds"):
		properties[name] = map[string]any{"type": "integer", "format": "int32"}
	case wasInteger(h, release):
		if s := at(doc, steps); s != nil {
			clear(s)
			s["type"] = "integer"
		}
	}
}

// wasInteger reports that the release takes a whole number where later ones take text, too.
func wasInteger(h kruise.FieldHistory, release kruise.Release) bool {
	since, what, _ := strings.Cut(h.Changes, ": ")
	first, err := kruise.ParseRelease(since)
	return err == nil && what == "type integer→-" && release.Before(first)
}

// at is the schema that a path with [] and {} leads to; nil where there is none.
func at(s map[string]any, steps []string) map[string]any {
	for _, step := range steps {
		name := strings.TrimRight(step, "[]{}")
		properties, _ := s["properties"].(map[string]any)
		s, _ = properties[name].(map[string]any)
		for brackets := step[len(name):]; brackets != "" && s != nil; brackets = brackets[2:] {
			key := map[string]string{"[]": "items", "{}": "additionalProperties"}[brackets[:2]]
			s, _ = s[key].(map[string]any)
		}
		if s == nil {
			return nil
		}
	}
	return s
}
