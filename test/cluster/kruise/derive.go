package kruise

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	product "github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// mark is a key that stands for the content of a mapping without known fields.
const mark = "content-of-any-kind"

// anyKey is the key of every map in a sample.
const anyKey = "any-key"

// derive makes the older version's schema from the newest one's: an object with
// one field set is sent through the conversion table, and where its value comes
// out, there the older version has the field.
func derive(k kind, newest *schema) (*schema, error) {
	out := shell(newest)
	always, err := k.older(map[string]any{"spec": map[string]any{}})
	if err != nil {
		return nil, err
	}
	for _, v := range always {
		place(out, newest, v.path, likeValue(v.value))
	}
	leaves(newest, nil, func(path []string, leaf *schema) {
		for _, sample := range samples(leaf) {
			found, err := k.older(wrap(path, sample))
			if err != nil {
				continue // the older version cannot express it
			}
			for _, v := range found {
				if !v.in(always) {
					place(out, newest, v.path, leaf)
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

// older converts an object to the older version and lists what is in it.
func (k kind) older(object map[string]any) ([]valueAt, error) {
	object["apiVersion"], object["kind"] = k.group+"/"+k.newest(), k.name()
	converted, _, err := product.FromHub(tree.FromValue(object), k.versions[0])
	if err != nil {
		return nil, err
	}
	fields, _ := tree.Value(converted).(map[string]any)
	var out []valueAt
	for _, top := range []string{"spec", "status"} {
		values(fields[top], []string{top}, func(path []string, v any) { out = append(out, valueAt{path, v}) })
	}
	return out, nil
}

// valueAt is a value somewhere in an object.
type valueAt struct {
	path  []string
	value any
}

func (v valueAt) in(list []valueAt) bool {
	return slices.ContainsFunc(list, func(o valueAt) bool { return slices.Equal(o.path, v.path) })
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
		return []any{[]any{map[string]any{mark: true}}}
	}
	return []any{map[string]any{mark: true}}
}

// wrap puts the value below the path.
func wrap(path []string, value any) map[string]any {
	for _, step := range slices.Backward(path) {
		switch step {
		case "[]":
			value = []any{value}
		case "{}":
			value = map[string]any{anyKey: value}
		default:
			value = map[string]any{step: value}
		}
	}
	out, _ := value.(map[string]any)
	return out
}

// values calls f with the path of every value. The key of a map is known by
// its name.
func values(v any, path []string, f func(path []string, v any)) {
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
				step = "{}"
			}
			values(v[name], append(slices.Clone(path), step), f)
		}
	case []any:
		for _, element := range v {
			if m, ok := element.(map[string]any); ok && m[mark] != nil {
				f(path, v)
				return
			}
			values(element, append(slices.Clone(path), "[]"), f)
		}
	default:
		f(path, v)
	}
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
