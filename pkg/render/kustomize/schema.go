package kustomize

import (
	"encoding/json"
	"maps"
	"strings"
	"sync"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/schema"
)

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

// definitions are those of Kruise's kinds, and of what they refer to. A
// container of a SidecarSet has the fields of a container: what kustomize knows
// of them says more than Go types do (ports are told apart by protocol, too).
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

// paths say which kinds live in a namespace: kustomize reads it there.
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
