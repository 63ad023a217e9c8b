package kruise

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-tools/pkg/crd"
	"sigs.k8s.io/controller-tools/pkg/loader"
	"sigs.k8s.io/controller-tools/pkg/markers"
)

type schema = apiextensionsv1.JSONSchemaProps

// productPackage is where the Go types are.
const productPackage = "github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"

// open are Kubernetes' types that Kruise's definitions leave to Kruise's webhooks.
var open = map[string][]string{
	"k8s.io/api/core/v1":                   {"PodTemplateSpec", "PersistentVolumeClaim", "Container", "EphemeralContainer", "Volume"},
	"k8s.io/api/apps/v1":                   {"DeploymentSpec", "StatefulSetSpec"},
	"k8s.io/api/batch/v1":                  {"JobTemplateSpec"},
	"k8s.io/apimachinery/pkg/runtime":      {"RawExtension"},
	"k8s.io/apimachinery/pkg/apis/meta/v1": nil,
}

// Definitions generates all definitions with controller-gen's library, once for
// the program.
var Definitions = sync.OnceValues(func() ([]*apiextensionsv1.CustomResourceDefinition, error) {
	roots, err := loader.LoadRoots(productPackage)
	if err != nil {
		return nil, err
	}
	parser, err := newParser()
	if err != nil {
		return nil, err
	}
	var out []*apiextensionsv1.CustomResourceDefinition
	for _, k := range kinds {
		newest, err := k.schema(parser, roots[0])
		if err != nil {
			return nil, err
		}
		schemas := map[string]*schema{k.newest(): newest}
		if len(k.versions) > 1 {
			if schemas[k.versions[0]], err = derive(k, newest); err != nil {
				return nil, fmt.Errorf("%s: %w", k.name(), err)
			}
		}
		out = append(out, k.definition(schemas))
	}
	return out, nil
})

// newParser knows Kubernetes' types; those named in open accept everything.
func newParser() (*crd.Parser, error) {
	registry, generator := &markers.Registry{}, crd.Generator{}
	if err := generator.RegisterMarkers(registry); err != nil {
		return nil, err
	}
	parser := &crd.Parser{
		Collector: &markers.Collector{Registry: registry},
		Checker:   &loader.TypeChecker{NodeFilters: []loader.NodeFilter{generator.CheckFilter()}},
	}
	crd.AddKnownTypes(parser)
	for path, names := range open {
		before := parser.PackageOverrides[path]
		parser.PackageOverrides[path] = func(p *crd.Parser, pkg *loader.Package) {
			if before != nil {
				before(p, pkg)
			}
			for _, name := range names {
				p.Schemata[crd.TypeIdent{Package: pkg, Name: name}] = *anything()
			}
			if before == nil {
				p.AddPackage(pkg)
			}
		}
	}
	return parser, nil
}

func anything() *schema { return &schema{Type: "object", XPreserveUnknownFields: new(true)} }

// schema is the newest version's, from the Go type.
func (k kind) schema(parser *crd.Parser, pkg *loader.Package) (*schema, error) {
	id := crd.TypeIdent{Package: pkg, Name: k.name()}
	parser.NeedFlattenedSchemaFor(id)
	flat, ok := parser.FlattenedSchemata[id]
	if !ok {
		return nil, fmt.Errorf("no schema for %s: %w", k.name(), errors.Join(asErrors(pkg.Errors)...))
	}
	s := flat.DeepCopy()
	plain(s)
	s.Required = nil
	relax(s, "status")
	for path, change := range exceptions[k.name()] {
		if !edit(s, strings.Split(path, "."), change) {
			return nil, fmt.Errorf("%s has no field %s", k.name(), path)
		}
	}
	return s, nil
}

// plain takes away the descriptions, which only cost space here.
func plain(s *schema) {
	s.Description = ""
	for _, child := range children(s) {
		plain(child.schema)
		child.put(child.schema)
	}
}

// relax takes away what the field and all below it require: a status is written
// bit by bit.
func relax(s *schema, field string) {
	if p, ok := s.Properties[field]; ok {
		optional(&p)
		s.Properties[field] = p
	}
}

func optional(s *schema) {
	s.Required = nil
	for _, child := range children(s) {
		optional(child.schema)
		child.put(child.schema)
	}
}

// child is one schema below another. Properties are values in a map, so that a
// changed one has to be put back.
type child struct {
	step   string
	schema *schema
	put    func(*schema)
}

// children lists the schemas below s with the steps that lead to them: a field's
// name, "[]" into a list, "{}" into a map.
func children(s *schema) []child {
	var out []child
	for name, p := range s.Properties {
		out = append(out, child{name, &p, func(p *schema) { s.Properties[name] = *p }})
	}
	slices.SortFunc(out, func(a, b child) int { return strings.Compare(a.step, b.step) })
	if s.Items != nil && s.Items.Schema != nil {
		out = append(out, child{"[]", s.Items.Schema, func(p *schema) { s.Items.Schema = p }})
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		out = append(out, child{"{}", s.AdditionalProperties.Schema, func(p *schema) { s.AdditionalProperties.Schema = p }})
	}
	return out
}

func asErrors[E error](list []E) []error {
	out := make([]error, len(list))
	for i := range list {
		out[i] = list[i]
	}
	return out
}
