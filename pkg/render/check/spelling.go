package check

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// spelling is the hint for an unknown field: the field of obj, a typed object,
// that stands at the same place and is spelt nearly so, or the place of the only
// field with this very name, or the places of two that differ by their list.
func spelling(obj any, path string) string {
	steps := tree.Steps(path)
	if len(steps) == 0 { // a key that is empty
		return "check the spelling"
	}
	t, last := reflect.TypeOf(obj), steps[len(steps)-1]
	for _, step := range steps[:len(steps)-1] {
		if t = child(t, step); t == nil {
			return "check the spelling"
		}
	}
	siblings := fields(deref(t))
	best, akin := tree.Nearest(last, maps.Keys(siblings)), tree.Akin(last, maps.Keys(siblings))
	switch places := elsewhere(reflect.TypeOf(obj), last); {
	case best == last: // our types are those of the newest version
		return "only " + kruise.V1beta1 + " has it: change apiVersion"
	case best != "":
		return "did you mean " + best + "?"
	case len(places) == 1 || len(places) == 2 && strings.HasSuffix(parent(places[0]), "[]") && strings.HasSuffix(parent(places[1]), "[]"):
		return "its place is " + strings.Join(places, " or ")
	case akin != "":
		return "did you mean " + akin + "?"
	}
	return "check the spelling"
}

// parent is the path without its last field.
func parent(path string) string { return path[:max(0, strings.LastIndexByte(path, '.'))] }

// elsewhere returns the places of the fields with this name nearest to the top of
// the spec, sorted; [] is any item of a list.
func elsewhere(obj reflect.Type, name string) []string {
	at := map[string]reflect.Type{"spec": child(obj, "spec")}
	for range 4 {
		var found []string
		next := map[string]reflect.Type{}
		for place, t := range at {
			t, place = item(t, place)
			for field, below := range fields(t) {
				if next[place+"."+field] = below; field == name {
					found = append(found, place+"."+field)
				}
			}
		}
		if len(found) > 0 {
			slices.Sort(found)
			return found
		}
		at = next
	}
	return nil
}

// item is what a list at this place holds, or t itself.
func item(t reflect.Type, place string) (reflect.Type, string) {
	if t = deref(t); t != nil && t.Kind() == reflect.Slice {
		return deref(t.Elem()), place + "[]"
	}
	return t, place
}

func deref(t reflect.Type) reflect.Type {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// child returns the type of what step leads to, nil when t has no such thing.
func child(t reflect.Type, step string) reflect.Type {
	t = deref(t)
	switch t.Kind() {
	case reflect.Slice, reflect.Map:
		return t.Elem()
	case reflect.Struct:
		return fields(t)[step]
	default:
		return nil
	}
}

// fields returns the types of a struct's fields by their names in JSON.
func fields(t reflect.Type) map[string]reflect.Type {
	out := map[string]reflect.Type{}
	if t == nil || t.Kind() != reflect.Struct {
		return out
	}
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "" && (f.Anonymous || strings.Contains(options, "inline")):
			maps.Copy(out, fields(deref(f.Type)))
		case name != "" && name != "-":
			out[name] = f.Type
		}
	}
	return out
}
