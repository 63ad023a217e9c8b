package check

import (
	"maps"
	"reflect"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// spelling is the hint for an unknown field: the field of obj, a typed object,
// that stands at the same place and is spelt nearly so.
func spelling(obj any, path string) string {
	steps := tree.Steps(path)
	if len(steps) == 0 { // a key that is empty
		return "check the spelling"
	}
	t := reflect.TypeOf(obj)
	for _, step := range steps[:len(steps)-1] {
		if t = child(t, step); t == nil {
			return "check the spelling"
		}
	}
	best, least := "", 3
	for name := range fields(deref(t)) {
		if d := distance(strings.ToLower(name), strings.ToLower(steps[len(steps)-1])); d < least || d == least && name < best {
			best, least = name, d
		}
	}
	switch best {
	case "":
		return "check the spelling"
	case steps[len(steps)-1]: // our types are those of the newest version
		return "only " + kruise.V1beta1 + " has it: change apiVersion"
	}
	return "did you mean " + best + "?"
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
	if t.Kind() != reflect.Struct {
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

// distance is the number of letters to add, drop or change that leads from a
// to b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := before
			if a[i] != b[j] {
				cost = 1 + min(before, row[j], row[j+1])
			}
			before, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
