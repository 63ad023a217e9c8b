package check

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// required reports the fields that the schema requires and the object lacks:
// those of the types that are written even when empty, which a test compares
// with the schemas. A place that has a fault already gets no second one.
func (s *subject) required() {
	hub := newest(s.r)
	if hub == nil {
		return // reported when it was decoded
	}
	g := gaps{kind: s.kind}
	g.walk(hub, reflect.TypeOf(s.kind.object), "")
	for _, path := range g.missing {
		if !s.faulty(path) {
			s.against(missingField, path, "", "required")
		}
	}
}

// faulty reports whether a fault was found at the field, above or below it.
func (s *subject) faulty(path string) bool {
	return slices.ContainsFunc(s.faults, func(f Fault) bool { return under(f.Field, path) || under(path, f.Field) })
}

// refused is [subject.faulty] for faults that have the object refused.
func (s *subject) refused(path string) bool {
	return slices.ContainsFunc(s.faults, func(f Fault) bool {
		return !f.Accepted && (under(f.Field, path) || under(path, f.Field))
	})
}

// gaps gathers the paths of what is missing.
type gaps struct {
	kind    *kindRules
	missing []string
}

func (g *gaps) walk(n *tree.Node, t reflect.Type, path string) {
	t = deref(t)
	switch {
	case slices.Contains(g.kind.open, indices(path)):
	case t.Kind() == reflect.Slice:
		for i, item := range tree.Items(n) {
			g.walk(item, t.Elem(), fmt.Sprintf("%s[%d]", path, i))
		}
	case t.Kind() == reflect.Map:
		tree.Each(n, func(key, value *tree.Node) { g.walk(value, t.Elem(), path+"["+key.Value+"]") })
	case t.Kind() == reflect.Struct && tree.IsMap(n):
		for f := range t.Fields() {
			g.field(n, f, path)
		}
	}
}

func (g *gaps) field(n *tree.Node, f reflect.StructField, path string) {
	name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
	at := strings.TrimPrefix(path+"."+name, ".")
	child := tree.Get(n, name)
	switch {
	case name == "" && f.Anonymous:
		g.walk(n, f.Type, path)
	case path == "" && name != "spec", name == "", name == "-":
	case !tree.IsNull(child):
		g.walk(child, f.Type, at)
	case !strings.Contains(options, "omit") && path != "" && g.wanted(f):
		g.missing = append(g.missing, at)
	}
}

// wanted reports whether the schema misses a field that is written even when
// empty.
func (g *gaps) wanted(f reflect.StructField) bool {
	switch f.Type.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return f.Name != "Service" // the schema gives gRPC's service a default
	default:
		return !g.kind.filled
	}
}
