package check

import (
	"maps"
	"reflect"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// spelling is the hint for an unknown field: the field of obj, a typed object,
// that stands at the same place and is spelt nearly so, or the place of the only
// field with this very name.
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
	case len(places) == 1:
		return "its place is " + places[0]
	case akin != "":
		return "did you mean " + akin + "?"
	}
	return "check the spelling"
}

// elsewhere returns the places of the fields with this name nearest to the top of
// the spec.
func elsewhere(obj reflect.Type, name string) []string {
	at := map[string]reflect.Type{"spec": child(obj, "spec")}
	for range 4 {
		var found []string
		next := map[string]reflect.Type{}
		for place, t := range at {
			for field, below := range fields(deref(t)) {
				if next[place+"."+field] = below; field == name {
					found = append(found, place+"."+field)
				}
			}
		}
		if len(found) > 0 {
			return found
		}
		at = next
	}
	return nil
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
