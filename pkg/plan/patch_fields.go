package plan

import (
	"maps"
	"slices"
	"strconv"

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
	// Value is what it becomes. What is likely to be secret in both is [mask.Masked].
	Was, Value any
}

// PatchFields are the fields of one of the plan's patches, in its order. It is nil for a patch
// of a type that plans do not have.
func (p *Plan) PatchFields(patch Patch) []PatchField {
	patch.Body = p.Shown(patch)
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
