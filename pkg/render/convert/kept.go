package convert

import (
	"maps"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/util/json"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// kept is what an object was before, as far as the present kind cannot say it:
// the value of the annotation [kruise.ConvertedFromAnnotation].
type kept struct {
	APIVersion string  `json:"apiVersion"`
	Kind       string  `json:"kind"`
	Fields     []field `json:"fields,omitempty"`
}

// field is one place at which converting back alone would not give what was
// there. A value that is not there is nil.
type field struct {
	// Path are keys; a step into a list is the name of an element.
	Path []string `json:"path"`
	// Had is what was there.
	Had any `json:"had,omitempty"`
	// Text is what was there as it was written, where that says more.
	Text string `json:"text,omitempty"`
	// Made is what converting back made of it at that time. Where it makes
	// something else by now, it was changed meanwhile, and the change counts.
	Made any `json:"made,omitempty"`
}

// keptIn reads the annotation of an object; text that is none is nothing.
func keptIn(n *tree.Node) (k kept, ok bool) {
	text := tree.StrAt(n, "metadata", "annotations", kruise.ConvertedFromAnnotation)
	if text == "" || json.Unmarshal([]byte(text), &k) != nil {
		return kept{}, false
	}
	return k, true
}

// differences lists, in the order of their paths, where had differs from made.
func differences(made, had any, path []string) []field {
	if reflect.DeepEqual(made, had) {
		return nil
	}
	if a, b, ok := mapped(made, had); ok {
		return inMaps(a, b, path)
	}
	if a, b, ok := named(made, had); ok {
		return inMaps(a, b, path)
	}
	return []field{{Path: slices.Clone(path), Had: had, Made: made}}
}

// mapped returns two values as mappings where they are some; nothing is one
// without keys. One that was written without keys must come back as such.
func mapped(a, b any) (map[string]any, map[string]any, bool) {
	x, okA := a.(map[string]any)
	y, okB := b.(map[string]any)
	ok := (okA && len(x) > 0 || a == nil) && (okB && len(y) > 0 || b == nil)
	return x, y, ok
}

func inMaps(made, had map[string]any, path []string) (out []field) {
	keys := map[string]any{}
	maps.Copy(keys, made)
	maps.Copy(keys, had)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		out = append(out, differences(made[key], had[key], append(slices.Clip(path), key))...)
	}
	return out
}

// named returns two lists as mappings by the names of their elements, where they
// have the same names in the same order.
func named(a, b any) (map[string]any, map[string]any, bool) {
	listA, okA := a.([]any)
	listB, okB := b.([]any)
	if !okA || !okB || len(listA) != len(listB) || len(listA) == 0 {
		return nil, nil, false
	}
	byA, byB := map[string]any{}, map[string]any{}
	for i := range listA {
		x, y := nameOf(listA[i]), nameOf(listB[i])
		if x == "" || x != y || byA[x] != nil {
			return nil, nil, false
		}
		byA[x], byB[x] = listA[i], listB[i]
	}
	return byA, byB, true
}

func nameOf(v any) string {
	m, _ := v.(map[string]any)
	name, _ := m["name"].(string)
	return name
}

// restored returns n with the field as it was, unless it was changed since.
// Every level on the way is a copy.
func restored(n *tree.Node, f field, path []string) *tree.Node {
	if len(path) == 0 {
		if !reflect.DeepEqual(tree.Value(n), f.Made) {
			return n
		}
		if f.Had == nil {
			return nil
		}
		return f.had()
	}
	if tree.IsSeq(n) {
		item, i := tree.Find(n, "name", path[0])
		if item == nil {
			return n
		}
		n = tree.Shallow(n)
		n.Content[i] = restored(item, f, path[1:])
		return n
	}
	if n == nil {
		n = tree.Map()
	} else if !tree.IsMap(n) {
		return n
	}
	return restoredKey(n, f, path)
}

func restoredKey(n *tree.Node, f field, path []string) *tree.Node {
	before := tree.Get(n, path[0])
	after := restored(before, f, path[1:])
	if after == before {
		return n
	}
	n = tree.Shallow(n)
	if after != nil {
		tree.Set(n, path[0], after)
		f.comment(n, path)
		return n
	}
	tree.Delete(n, path[0])
	if len(n.Content) == 0 {
		return nil
	}
	return n
}
