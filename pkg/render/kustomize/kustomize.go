// Package kustomize is what kustomize must know of Kruise's kinds to treat them
// as it treats Kubernetes' own: a schema, so that strategic merge patches merge
// lists by name and cluster-scoped objects get no namespace, and a configuration
// of its transformers, so that labels, images, replicas and names reach
// selectors, templates and references. It makes documents and touches no file.
package kustomize

import (
	"encoding/json"
	"slices"
	"sync"

	"sigs.k8s.io/kustomize/kyaml/openapi"
)

// schemaInUse guards kustomize's schema, which is global: a build with a schema
// of its own would leave it behind for the next (docs/facts/kustomize.md#in-process).
var schemaInUse sync.Mutex

// WithSchema calls f while kustomize knows its own schema and these additions,
// and nobody else uses it.
func WithSchema(additions []byte, f func() error) error {
	schemaInUse.Lock()
	defer schemaInUse.Unlock()
	openapi.ResetOpenAPI()
	defer openapi.ResetOpenAPI()
	if additions != nil {
		if err := openapi.AddSchema(additions); err != nil {
			return err
		}
	}
	return f()
}

// builtIn returns the definitions that kustomize brings along as JSON values,
// without descriptions; with names, only those.
func builtIn(names ...string) (out map[string]any, err error) {
	err = WithSchema(nil, func() error {
		definitions := map[string]any{}
		for name, d := range openapi.Schema().Definitions {
			if len(names) == 0 || slices.Contains(names, name) {
				definitions[name] = d
			}
		}
		b, err := json.Marshal(definitions)
		if err != nil {
			return err
		}
		return json.Unmarshal(b, &out)
	})
	undescribed(out)
	return out, err
}

// undescribed takes the descriptions away, which no merge reads. A property of
// that name is a mapping.
func undescribed(v any) {
	switch v := v.(type) {
	case map[string]any:
		if _, text := v["description"].(string); text {
			delete(v, "description")
		}
		for _, child := range v {
			undescribed(child)
		}
	case []any:
		for _, child := range v {
			undescribed(child)
		}
	}
}
