package schema

import (
	"maps"
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

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
