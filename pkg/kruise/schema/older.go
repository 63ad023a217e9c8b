package schema

import (
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// derived makes the older version's schema: an object with one field set is sent
// through the conversion table, and where its value comes out, there the older
// version has the field.
func derived(k kruise.Registered, newest *Schema) (*Schema, error) {
	out := newest.alone()
	out.Properties = map[string]*Schema{}
	for _, name := range []string{"apiVersion", "kind", "metadata"} {
		out.Properties[name] = newest.Properties[name]
	}
	always, err := Trace(k, []string{"spec"}, map[string]any{})
	if err != nil {
		return nil, err
	}
	for _, v := range always {
		out.place(newest, v.Path, likeValue(v.Value))
	}
	for _, top := range []string{"spec", "status"} {
		newest.Properties[top].leaves([]string{top}, func(path []string, leaf *Schema) {
			for _, sample := range samples(leaf) {
				found, err := Trace(k, path, sample)
				if err != nil {
					continue // the older version cannot express it
				}
				for _, v := range found {
					if !slices.ContainsFunc(always, v.SamePlace) {
						out.place(newest, v.Path, leaf)
					}
				}
			}
		})
	}
	for path, s := range olderOnly[k.Kind] {
		out.place(nil, strings.Split(string(path), "."), s)
	}
	requireLike(out, newest)
	return out, nil
}

// likeValue is the schema of a value that conversion itself puts in.
func likeValue(v any) *Schema {
	if _, ok := v.(bool); ok {
		return &Schema{Type: "boolean"}
	}
	return &Schema{Type: "string"}
}

// place puts the leaf at a path of the older schema, with what is above it
// as the newest has it.
func (s *Schema) place(newest *Schema, path []string, leaf *Schema) {
	var like *Schema
	if newest != nil {
		like = newest.below(path[0])
	}
	if len(path) == 1 {
		s.attach(path[0], leaf)
		return
	}
	next := s.below(path[0])
	if next == nil {
		next = like.alone()
		s.attach(path[0], next)
	}
	next.place(like, path[1:], leaf)
}

// requireLike asks for the fields that the newest version asks for at the same
// place.
func requireLike(older, newest *Schema) {
	if newest == nil || older == newest {
		return
	}
	older.Required = nil
	for _, name := range newest.Required {
		if older.Properties[name] != nil {
			older.Required = append(older.Required, name)
		}
	}
	older.each(func(step string, child *Schema) {
		if like := newest.below(step); like != child {
			requireLike(child, like)
		}
	})
}

// dotted is a path of the older version.
type dotted string

// olderOnly are fields that the older version has and conversion folds into
// others (docs/kruise/workloads.md#cloneset-in-two-versions,
// docs/kruise/sidecarset.md#v1alpha1-and-v1beta1, docs/kruise/distribution.md#in-two-versions).
var olderOnly = map[string]map[dotted]*Schema{
	kruise.KindCloneSet: {
		"spec.updateStrategy.inPlaceUpdateStrategy.imagePreDownloadMinUpdatedReadyPods": {Type: "integer", Format: "int32"},
		"spec.updateStrategy.inPlaceUpdateStrategy.imagePreDownloadTimeoutSeconds":      {Type: "integer", Format: "int32"},
		"spec.updateStrategy.inPlaceUpdateStrategy.imagePreDownloadParallelism":         {AnyOf: []*Schema{{Type: "integer"}, {Type: "string"}}},
	},
	kruise.KindDaemonSet: {
		"spec.updateStrategy.rollingUpdate.rollingUpdateType": {Type: "string", Enum: []string{"Standard", "InPlaceIfPossible", "Surging"}},
	},
	kruise.KindSidecarSet: {"spec.namespace": {Type: "string", Description: "Namespace limits the pods to those of one namespace."}},
	kruise.KindUnitedDeployment: {
		"status.subsetReplicas.{}":                 {Type: "integer", Format: "int32"},
		"status.updateStatus.currentPartitions.{}": {Type: "integer", Format: "int32"},
		"status.updateStatus.updatedRevision":      {Type: "string"},
	},
}

// mark is a key that represents the content of a mapping without known fields.
const mark = "content-of-any-kind"

// anyKey is the key of every map on a path.
const anyKey = "any-key"

// Anything is a value that represents a mapping without known fields.
func Anything() any { return map[string]any{mark: true} }

// Found is a value somewhere in an object. In its path, [] steps into a list and
// {} into a mapping whose keys are the user's.
type Found struct {
	Path  []string
	Value any
}

// SamePlace reports whether both have the same path.
func (f Found) SamePlace(o Found) bool { return slices.Equal(f.Path, o.Path) }

// Trace sends an object in which only the value at a path is set through the
// conversion table, and returns all that the older version of the kind has then
// in spec and status. A value that it cannot express is an error.
func Trace(k kruise.Registered, path []string, v any) ([]Found, error) {
	object := wrap(path, v)
	object["apiVersion"], object["kind"] = k.Group+"/"+k.Newest(), k.Kind
	n, _, err := kruise.FromHub(tree.FromValue(object), k.Versions[0])
	if err != nil {
		return nil, err
	}
	var out []Found
	for _, top := range []string{"spec", "status"} {
		within(tree.Value(tree.Get(n, top)), []string{top}, func(path []string, v any) { out = append(out, Found{path, v}) })
	}
	return out, nil
}

// wrap puts a value below a path.
func wrap(path []string, v any) map[string]any {
	for _, step := range slices.Backward(path) {
		switch step {
		case element:
			v = []any{v}
		case value:
			v = map[string]any{anyKey: v}
		default:
			v = map[string]any{step: v}
		}
	}
	out, _ := v.(map[string]any)
	return out
}

// within calls f with the path of every value. The key of a map is known by its
// name.
func within(v any, path []string, f func(path []string, v any)) {
	switch v := v.(type) {
	case nil:
	case map[string]any:
		if _, marked := v[mark]; marked {
			f(path, v)
			return
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			step := name
			if name == anyKey {
				step = value
			}
			within(v[name], append(slices.Clone(path), step), f)
		}
	case []any:
		for _, item := range v {
			within(item, append(slices.Clone(path), element), f)
		}
	default:
		f(path, v)
	}
}

// samples are values that the schema allows. Both of a boolean, because one of
// them may be the older version's default and be left out.
func samples(s *Schema) []any {
	switch {
	case s.Ref != "" || s.Type == "object" || s.Type == "" && len(s.AnyOf) == 0:
		return []any{Anything()}
	case len(s.Enum) > 0:
		return []any{s.Enum[0]}
	case s.Type == "string":
		return []any{"x"}
	case s.Type == "boolean":
		return []any{true, false}
	}
	return []any{7}
}
