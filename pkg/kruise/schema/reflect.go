package schema

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// reader makes schemas of Go types. Kubernetes' structs become definitions that
// are referred to; Kruise's are written out where they stand, so that each
// place can be described by itself.
type reader struct {
	definitions Definitions
}

var kruisePackage = reflect.TypeFor[kruise.CloneSet]().PkgPath()

// wellKnown are types that write themselves.
var wellKnown = map[reflect.Type]*Schema{
	reflect.TypeFor[intstr.IntOrString]():   {AnyOf: []*Schema{{Type: "integer"}, {Type: "string"}}},
	reflect.TypeFor[resource.Quantity]():    {AnyOf: []*Schema{{Type: "number"}, {Type: "string"}}},
	reflect.TypeFor[metav1.Time]():          {Type: "string", Format: "date-time"},
	reflect.TypeFor[metav1.MicroTime]():     {Type: "string", Format: "date-time"},
	reflect.TypeFor[metav1.Duration]():      {Type: "string"},
	reflect.TypeFor[metav1.FieldsV1]():      {Type: "object"},
	reflect.TypeFor[runtime.RawExtension](): {Type: "object"},
	reflect.TypeFor[json.RawMessage]():      {},
}

func (r *reader) of(t reflect.Type) *Schema {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if s, ok := wellKnown[t]; ok {
		c := *s
		return &c
	}
	switch t.Kind() {
	case reflect.Struct:
		return r.object(t)
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return &Schema{Type: "string", Format: "byte"}
		}
		return &Schema{Type: "array", Items: r.of(t.Elem())}
	case reflect.Map:
		return &Schema{Type: "object", AdditionalProperties: r.of(t.Elem())}
	case reflect.Bool:
		return &Schema{Type: "boolean"}
	case reflect.String:
		return &Schema{Type: "string", Enum: valuesOf(t)}
	case reflect.Int32, reflect.Int64:
		return &Schema{Type: "integer", Format: t.Kind().String()}
	case reflect.Float64:
		return &Schema{Type: "number"}
	}
	return &Schema{}
}

// object is the schema of a struct.
func (r *reader) object(t reflect.Type) *Schema {
	if t.PkgPath() == kruisePackage {
		s := &Schema{Type: "object", Properties: map[string]*Schema{}}
		r.fields(s, t)
		return s
	}
	name := nameOf(t)
	if _, ok := r.definitions[name]; !ok {
		s := &Schema{Type: "object", Properties: map[string]*Schema{}}
		r.definitions[name] = s // before its fields: some types hold themselves
		s.Description = describe(t)[""]
		r.fields(s, t)
	}
	return reference(name)
}

// nameOf is the name of a type of Kubernetes in its OpenAPI documents, such as
// io.k8s.api.core.v1.Pod.
func nameOf(t reflect.Type) string {
	host, path, _ := strings.Cut(t.PkgPath(), "/")
	parts := strings.Split(host, ".")
	slices.Reverse(parts)
	return strings.Join(parts, ".") + "." + strings.ReplaceAll(path, "/", ".") + "." + t.Name()
}

// fields adds the fields of a struct, those of inlined ones too.
func (r *reader) fields(s *Schema, t reflect.Type) {
	text := describe(t)
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		inlined := f.Type
		for inlined.Kind() == reflect.Pointer {
			inlined = inlined.Elem()
		}
		switch {
		case name == "-" || !f.IsExported():
			continue
		case name == "" && f.Anonymous:
			r.fields(s, inlined)
			continue
		}
		p := r.of(f.Type)
		if p.Ref == "" || text[name] == "" {
			p.Description = text[name]
		} else { // beside a reference a reader may look at nothing else
			p = &Schema{Ref: p.Ref, Description: text[name]}
		}
		p.PatchStrategy, p.PatchMergeKey = f.Tag.Get("patchStrategy"), f.Tag.Get("patchMergeKey")
		s.Properties[name] = p
		if !strings.Contains(options, "omit") && !optional[nameIn(t, name)] {
			s.Required = append(s.Required, name)
		}
	}
	slices.Sort(s.Required)
}

func nameIn(t reflect.Type, field string) string { return t.Name() + "." + field }

// optional are fields that are written although they are empty, and need not be
// given: Kruise's webhook fills them in.
var optional = map[string]bool{"ImagePullJobTemplate.completionPolicy": true}
