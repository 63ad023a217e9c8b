// Package kustomize is what kustomize must know of Kruise's kinds to treat them
// as it treats Kubernetes' own: a schema, so that strategic merge patches merge
// lists by name and cluster-scoped objects get no namespace, and a configuration
// of its transformers, so that labels, images, replicas and names reach
// selectors, templates and references. It makes documents and touches no file.
package kustomize

import (
	_ "embed"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"

	"sigs.k8s.io/kustomize/kyaml/openapi"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/schema"
)

// schemaInUse guards kustomize's schema, which is global: a build with a schema
// of its own would leave it behind for the next (docs/facts/kustomize.md#in-process).
var schemaInUse sync.Mutex

// WithSchema calls f while kustomize knows its own schema and these additions,
// and no other build uses it.
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

// Additions returns Kruise's kinds as an OpenAPI document that adds to the schema
// that kustomize brings along. It must not be changed.
var Additions = sync.OnceValues(func() ([]byte, error) {
	own, err := definitions()
	if err != nil {
		return nil, err
	}
	return json.Marshal(document(own))
})

// Schema returns the OpenAPI document for the field openapi.path of a
// kustomization: what kustomize brings along and Kruise's kinds, since that field
// replaces the first (docs/facts/kustomize.md#merging-and-schema).
func Schema() ([]byte, error) {
	whole, err := builtIn()
	if err != nil {
		return nil, err
	}
	own, err := definitions()
	if err != nil {
		return nil, err
	}
	for name, d := range own {
		if whole[name] == nil {
			whole[name] = d
		}
	}
	return json.MarshalIndent(document(whole), "", " ")
}

func document(definitions map[string]any) map[string]any {
	return map[string]any{
		"swagger": "2.0", "info": map[string]any{"title": "Kubernetes and OpenKruise", "version": "v1"},
		"paths": paths(), "definitions": definitions,
	}
}

// definitions are those of Kruise's kinds, and of what they refer to. A container of a SidecarSet
// has the fields of a container: kustomize's definition of them has more than the Go types (ports
// are distinguished by protocol, too).
func definitions() (map[string]any, error) {
	kinds, shared, err := schema.OpenAPI()
	if err != nil {
		return nil, err
	}
	maps.Copy(kinds, shared)
	b, err := json.Marshal(kinds)
	if err != nil {
		return nil, err
	}
	out := map[string]any{}
	if err := json.Unmarshal(b, &out); err != nil {
		return nil, err
	}
	const container = "io.k8s.api.core.v1.Container"
	theirs, err := builtIn(container)
	if err != nil {
		return nil, err
	}
	for _, version := range []string{kruise.V1alpha1, kruise.V1beta1} {
		for _, list := range []string{"containers", "initContainers"} {
			mine, _ := at(out, "io.kruise.apps."+version+".SidecarSet", "properties", "spec", "properties", list, "items", "properties").(map[string]any)
			known, _ := at(theirs, container, "properties").(map[string]any)
			maps.Copy(mine, known)
		}
	}
	return out, nil
}

func at(v any, path ...string) any {
	for _, key := range path {
		m, _ := v.(map[string]any)
		v = m[key]
	}
	return v
}

// paths define which kinds live in a namespace: kustomize reads it there.
func paths() map[string]any {
	out := map[string]any{}
	for _, k := range kruise.Kinds() {
		for _, version := range k.Versions {
			path := "/apis/" + k.Group + "/" + version + "/"
			if !k.ClusterScoped {
				path += "namespaces/{namespace}/"
			}
			path += strings.ToLower(k.Kind) + "s/{name}"
			out[path] = map[string]any{"get": map[string]any{
				"responses":                       map[string]any{},
				"x-kubernetes-group-version-kind": map[string]any{"group": k.Group, "version": version, "kind": k.Kind},
			}}
		}
	}
	return out
}

// BuiltIn is the configuration of its transformers that kustomize brings along,
// without that of vars.
//
//go:embed fieldspecs.yaml
var BuiltIn []byte

var builtInConfiguration = sync.OnceValues(func() (c configuration, err error) {
	return c, yaml.Unmarshal(BuiltIn, &c)
})

// without removes what the other configuration has already. It must not occur twice: when
// kustomize merges the fields of layers, it takes a field of one kind and the same field of every
// group for equal, and keeps the first only, which would be that of Kruise's kind.
func (c *configuration) without(known configuration) {
	for _, l := range []struct{ ours, known *[]fieldSpec }{
		{&c.CommonLabels, &known.CommonLabels},
		{&c.TemplateLabels, &known.TemplateLabels},
		{&c.VolumeClaimTemplateLabels, &known.VolumeClaimTemplateLabels},
		{&c.CommonAnnotations, &known.CommonAnnotations},
		{&c.Images, &known.Images},
		{&c.Replicas, &known.Replicas},
	} {
		*l.ours = uncovered(*l.ours, *l.known)
	}
	for i, r := range c.NameReference {
		for _, k := range known.NameReference {
			if k.Kind == r.Kind && k.Group == r.Group && k.Version == "" {
				c.NameReference[i].FieldSpecs = uncovered(c.NameReference[i].FieldSpecs, k.FieldSpecs)
			}
		}
	}
}

func uncovered(ours, known []fieldSpec) []fieldSpec {
	return slices.DeleteFunc(ours, func(f fieldSpec) bool {
		return slices.ContainsFunc(known, func(k fieldSpec) bool { return k.covers(f) })
	})
}

// covers reports whether a field of some kinds is the other one for that kind, too.
func (f fieldSpec) covers(o fieldSpec) bool {
	return f.Path == o.Path && f.Version == "" && (f.Group == "" || f.Group == o.Group) && (f.Kind == "" || f.Kind == o.Kind)
}
