package kruise

import (
	"encoding/json"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	product "github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	productschema "github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/schema"
)

// derive makes the older version's schema from the newest one's: an object with
// one field set is sent through the conversion table, and where its value comes
// out, there the older version has the field.
func derive(k kind, newest *schema) (*schema, error) {
	out := shell(newest)
	registered := k.registered()
	always, err := productschema.Trace(registered, []string{"spec"}, map[string]any{})
	if err != nil {
		return nil, err
	}
	for _, v := range always {
		place(out, newest, v.Path, likeValue(v.Value))
	}
	leaves(newest, nil, func(path []string, leaf *schema) {
		for _, sample := range samples(leaf) {
			found, err := productschema.Trace(registered, path, sample)
			if err != nil {
				continue // the older version cannot express it
			}
			for _, v := range found {
				if !slices.ContainsFunc(always, v.SamePlace) {
					place(out, newest, v.Path, leaf)
				}
			}
		}
	})
	require(out, newest)
	for path, add := range olderOnly[k.name()] {
		steps := strings.Split(path, ".")
		place(out, newest, steps, &add)
	}
	if looser[k.name()] {
		for path := range exceptions[k.name()] {
			edit(out, strings.Split(path, "."), unlimited) // or the older version has no such field
		}
	}
	return out, nil
}

// registered is the product's word for the kind.
func (k kind) registered() product.Registered {
	all := product.Kinds()
	return all[slices.IndexFunc(all, func(r product.Registered) bool { return r.Kind == k.name() })]
}

// likeValue is the schema of a value that conversion itself puts in.
func likeValue(v any) *schema {
	if _, ok := v.(bool); ok {
		return &schema{Type: "boolean"}
	}
	return &schema{Type: "string"}
}

// olderOnly are fields that the older version has and conversion drops or folds
// into others, by kind.
var olderOnly = map[string]map[string]schema{
	"CloneSet": {
		"spec.updateStrategy.inPlaceUpdateStrategy.imagePreDownloadMinUpdatedReadyPods": {Type: "integer", Format: "int32"},
		"spec.updateStrategy.inPlaceUpdateStrategy.imagePreDownloadTimeoutSeconds":      {Type: "integer", Format: "int32"},
		"spec.updateStrategy.inPlaceUpdateStrategy.imagePreDownloadParallelism":         {XIntOrString: true},
	},
	"SidecarSet": {"spec.namespace": {Type: "string"}},
	"UnitedDeployment": {
		"status.subsetReplicas.{}":                 {Type: "integer", Format: "int32"},
		"status.updateStatus.currentPartitions.{}": {Type: "integer", Format: "int32"},
		"status.updateStatus.updatedRevision":      {Type: "string"},
	},
}

// leaves calls f with every schema that has no fields of its own.
func leaves(s *schema, path []string, f func(path []string, leaf *schema)) {
	below := children(s)
	if len(below) == 0 || s.XIntOrString {
		f(path, s)
		return
	}
	for _, c := range below {
		if len(path) == 0 && c.step != "spec" && c.step != "status" {
			continue
		}
		leaves(c.schema, append(slices.Clone(path), c.step), f)
	}
}

// samples are values that the schema allows. Both of a boolean, because one of
// them may be the older version's default and be left out.
func samples(s *schema) []any {
	switch {
	case s.XIntOrString || s.Type == "integer" || s.Type == "number":
		return []any{7}
	case s.Type == "boolean":
		return []any{true, false}
	case len(s.Enum) > 0:
		var first any
		_ = json.Unmarshal(s.Enum[0].Raw, &first) // which is how it was made
		return []any{first}
	case s.Type == "string":
		return []any{"x"}
	case s.Type == "array":
		return []any{[]any{productschema.Anything()}}
	}
	return []any{productschema.Anything()}
}

// place puts the leaf at the path in the older schema, with what stands above it
// copied from the newest where that has it.
func place(older, newest *schema, path []string, leaf *schema) {
	if len(path) == 0 {
		leaf.DeepCopyInto(older)
		return
	}
	var like *schema
	if newest != nil {
		like = step(newest, path[0])
	}
	next := step(older, path[0])
	if next == nil {
		next = shell(like)
	}
	place(next, like, path[1:], leaf)
	attach(older, path[0], next)
}

// step is the schema one step below, or nil.
func step(s *schema, name string) *schema {
	for _, c := range children(s) {
		if c.step == name {
			return c.schema
		}
	}
	return nil
}

// attach puts a schema one step below.
func attach(s *schema, name string, below *schema) {
	switch name {
	case "[]":
		s.Type = "array"
		s.Items = &apiextensionsv1.JSONSchemaPropsOrArray{Schema: below}
	case "{}":
		s.Type = "object"
		s.AdditionalProperties = &apiextensionsv1.JSONSchemaPropsOrBool{Allows: true, Schema: below}
	default:
		s.Type = "object"
		if s.Properties == nil {
			s.Properties = map[string]schema{}
		}
		s.Properties[name] = *below
	}
}

// shell is a schema without what is below it.
func shell(like *schema) *schema {
	if like == nil {
		return &schema{}
	}
	out := like.DeepCopy()
	out.Required, out.Items, out.AdditionalProperties = nil, nil, nil
	for name := range out.Properties {
		if name != "apiVersion" && name != "kind" && name != "metadata" {
			delete(out.Properties, name)
		}
	}
	return out
}

// require asks for the fields that the newest version asks for at the same place.
func require(older, newest *schema) {
	for _, name := range newest.Required {
		if _, ok := older.Properties[name]; ok {
			older.Required = append(older.Required, name)
		}
	}
	for _, c := range children(older) {
		if like := step(newest, c.step); like != nil {
			require(c.schema, like)
			c.put(c.schema)
		}
	}
}
