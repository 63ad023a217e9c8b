package plan

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/redact"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// PatchField is one field that a patch writes or, where Op is test, requires: down to values
// that are neither a mapping nor a list with something in it.
type PatchField struct {
	// Op is add, replace, remove or test, as in a JSON patch (docs/rollout-plan.md).
	Op string
	// Path is from the top of the object: spec.template.spec.containers[0].image.
	Path string
	// Was is what the patch requires the field to be before, nil where it requires nothing;
	// Value is what it becomes. What is likely to be secret in both is [redact.Masked].
	Was, Value any
}

// PatchFields are the fields of one of the plan's patches, in its order. It is nil for a patch
// of a type that plans do not have.
func (p *Plan) PatchFields(patch Patch) []PatchField {
	patch.Body = p.Masked(patch)
	writes, err := fieldWrites(&patch)
	if err != nil {
		return nil
	}
	var list []PatchField
	for _, w := range writes {
		for _, f := range leafFields(nil, w.op, w.path, w.value) {
			last := len(list) - 1
			if last >= 0 && list[last].Op == "test" && list[last].Path == f.Path {
				f.Was = list[last].Value
				list = list[:last]
			}
			list = append(list, f)
		}
	}
	return list
}

// leafFields are the fields below a value.
func leafFields(to []PatchField, op string, path []string, value any) []PatchField {
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			to = leafFields(to, op, append(slices.Clone(path), key), v[key])
		}
		if len(v) > 0 {
			return to
		}
	case []any:
		for i, item := range v {
			to = leafFields(to, op, append(slices.Clone(path), strconv.Itoa(i)), item)
		}
		if len(v) > 0 {
			return to
		}
	}
	return append(to, PatchField{Op: op, Path: rules.PathText(path), Value: value})
}

// Masked is the body of one of the plan's patches without secrets: what is
// likely to be secret in it is [redact.Masked]. The patch itself is sent as it is.
func (p *Plan) Masked(patch Patch) any {
	return redact.Patch(patch.Body, func(value any) bool {
		// What a difference of the templates shows is not secret here either.
		for _, f := range p.Change.Fields {
			if reflect.DeepEqual(f.New, value) || reflect.DeepEqual(f.Old, value) {
				return true
			}
		}
		return false
	})
}

// fieldWrite is one field that a patch sets or removes.
type fieldWrite struct {
	// op is add, replace, remove or test.
	op string
	// path is from the top of the object.
	path []string
	// value is nil where the field is removed.
	value any
}

// fieldWrites takes a patch apart. Only merge patches and JSON patches are taken, whose
// effect does not depend on a schema.
func fieldWrites(p *Patch) ([]fieldWrite, error) {
	switch p.Type {
	case PatchMerge, "":
		body, ok := p.Body.(map[string]any)
		if !ok || len(body) == 0 {
			return nil, &tree.Error{Msg: "a merge patch is a mapping with the fields to change"}
		}
		return mergeWrites(nil, nil, body), nil
	case PatchJSON:
		return jsonWrites(p.Body)
	}
	return nil, &tree.Error{Msg: fmt.Sprintf("a patch of type %s is not taken in a plan", p.Type), Hint: "write a merge patch or a JSON patch"}
}

func mergeWrites(to []fieldWrite, path []string, body map[string]any) []fieldWrite {
	for _, key := range slices.Sorted(maps.Keys(body)) {
		below := append(slices.Clone(path), key)
		switch v := body[key].(type) {
		case map[string]any:
			if len(v) > 0 {
				to = mergeWrites(to, below, v)
				continue
			}
			to = append(to, fieldWrite{"add", below, v})
		case nil:
			to = append(to, fieldWrite{"remove", below, nil})
		default:
			to = append(to, fieldWrite{"add", below, v})
		}
	}
	return to
}

func jsonWrites(body any) ([]fieldWrite, error) {
	ops, ok := body.([]any)
	if !ok {
		return nil, &tree.Error{Msg: "a JSON patch is a list of operations"}
	}
	var out []fieldWrite
	for _, item := range ops {
		op, _ := item.(map[string]any)
		name, _ := op["op"].(string)
		pointer, _ := op["path"].(string)
		_, valued := op["value"]
		switch {
		case !slices.Contains([]string{"add", "replace", "remove", "test"}, name):
			return nil, &tree.Error{Msg: fmt.Sprintf("operation %q is not taken in a plan", name), Hint: "use add, replace, remove or test"}
		case valued == (name == "remove"):
			return nil, &tree.Error{Msg: fmt.Sprintf("operation %s of %s has a value where none is due, or none where one is", name, pointer)}
		}
		path := strings.Split(pointer, "/")
		if path[0] != "" || len(path) < 3 || path[1] != "spec" {
			return nil, &tree.Error{Msg: fmt.Sprintf("operation %s of %q is outside of the spec", name, pointer), Hint: "a plan changes fields of the spec"}
		}
		for i, key := range path {
			path[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(key)
		}
		out = append(out, fieldWrite{name, path[1:], op["value"]})
	}
	return out, nil
}
