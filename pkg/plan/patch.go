package plan

import (
	"bytes"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// The types of patches, as kubectl patch names them.
const (
	PatchMerge     = "merge"
	PatchJSON      = "json"
	PatchStrategic = "strategic"
)

// specBody nests a value into a merge patch: spec, then a path.
func specBody(v any, path ...string) map[string]any {
	for _, key := range slices.Backward(path) {
		v = map[string]any{key: v}
	}
	return map[string]any{"spec": v}
}

// deepFields are those of a spec that a JSON patch changes where they differ;
// others are replaced as a whole. A field that only has a default may be missing
// in the stored object, but whatever is set as a whole needs no neighbours.
var deepFields = []string{"template", "containers", "initContainers"}

// specPatch returns the operations that make one spec of another. Removed keys
// are removed, which a merge patch would need a null for, and lists of one length
// are changed item by item, so that a reviewer sees what changes. Values that are
// certain to be stored as they are known here are tested first.
func specPatch(old, updated map[string]any) []any {
	var ops []any
	for _, field := range changedKeys(old, updated) {
		path := "/spec/" + escaped(field)
		switch {
		case updated[field] == nil:
			ops = append(ops, operation("remove", path))
		case old[field] != nil && slices.Contains(deepFields, field):
			ops = deepPatch(ops, path, old[field], updated[field])
		default:
			ops = append(removals(ops, path, old[field], updated[field]), setOperation("add", path, updated[field]))
		}
	}
	return ops
}

// undefaulted are fields of an update strategy that no webhook fills in: one that is read
// is stored.
var undefaulted = []string{"selector", "priorityStrategy", "scatterStrategy"}

// removals removes what a field that is replaced as a whole no longer has. Without them the
// patch would seem to be in force beforehand, since more than was written may be there.
func removals(ops []any, path string, old, updated any) []any {
	before, isMap := old.(map[string]any)
	after, both := updated.(map[string]any)
	if !isMap || !both {
		return ops
	}
	for _, key := range changedKeys(before, after) {
		below := path + "/" + escaped(key)
		if after[key] == nil && (slices.Contains(undefaulted, key) || key == "paused" && before[key] == true) {
			ops = append(ops, operation("remove", below))
			continue
		}
		ops = removals(ops, below, before[key], after[key])
	}
	return ops
}

// changedKeys are the keys in which two maps differ, sorted. A null is nothing.
func changedKeys(old, updated map[string]any) []string {
	all := maps.Clone(old)
	if all == nil {
		all = map[string]any{}
	}
	maps.Copy(all, updated)
	return slices.DeleteFunc(slices.Sorted(maps.Keys(all)), func(key string) bool { return equalJSON(old[key], updated[key]) })
}

// deepPatch goes down as far as both sides have the same shape.
func deepPatch(ops []any, path string, old, updated any) []any {
	if equalJSON(old, updated) {
		return ops
	}
	switch o := old.(type) {
	case map[string]any:
		if u, ok := updated.(map[string]any); ok {
			return mapPatch(ops, path, o, u)
		}
	case []any:
		if u, ok := updated.([]any); ok && len(u) == len(o) {
			for i := range o {
				ops = deepPatch(ops, fmt.Sprintf("%s/%d", path, i), o[i], u[i])
			}
			return ops
		}
	}
	return replacing(ops, path, old, updated)
}

func mapPatch(ops []any, path string, old, updated map[string]any) []any {
	for _, key := range changedKeys(old, updated) {
		below := path + "/" + escaped(key)
		switch {
		case updated[key] == nil:
			ops = append(ops, operation("remove", below))
		case old[key] == nil:
			ops = append(ops, setOperation("add", below, updated[key]))
		default:
			ops = deepPatch(ops, below, old[key], updated[key])
		}
	}
	return ops
}

// replacing sets what has a value: add does so in a map whether the key is there
// or has a default only, and an item of a list is there.
func replacing(ops []any, path string, old, updated any) []any {
	if alwaysStored(path) {
		ops = append(ops, setOperation("test", path, old))
	}
	if isIndex(path) {
		return append(ops, setOperation("replace", path, updated))
	}
	return append(ops, setOperation("add", path, updated))
}

// alwaysStored reports whether the value at a path is never one that only readers fill
// in: images are always written out.
func alwaysStored(path string) bool { return strings.HasSuffix(path, "/image") }

func isIndex(path string) bool {
	last := path[strings.LastIndexByte(path, '/')+1:]
	return last != "" && strings.Trim(last, "0123456789") == ""
}

func operation(op, path string) any { return map[string]any{"op": op, "path": path} }

func setOperation(op, path string, v any) any {
	return map[string]any{"op": op, "path": path, "value": v}
}

// escaped writes a key for a JSON pointer.
func escaped(key string) string {
	if !strings.ContainsAny(key, "~/") {
		return key
	}
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
}

// equalJSON compares decoded JSON of one decoder, as reflect.DeepEqual does, without looking
// up types.
func equalJSON(a, b any) bool {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || len(x) != len(y) || (x == nil) != (y == nil) {
			return false
		}
		for key, v := range x {
			if w, ok := y[key]; !ok || !equalJSON(v, w) {
				return false
			}
		}
		return true
	case []any:
		y, ok := b.([]any)
		return ok && (x == nil) == (y == nil) && slices.EqualFunc(x, y, equalJSON)
	case nil, string, bool, int64, float64:
		return a == b
	}
	return reflect.DeepEqual(a, b)
}

// inForce reports whether an object has what a patch of the plan writes: sending it
// would change nothing.
func inForce(p *Patch, w *cluster.Workload) bool {
	spec, err := specOf(w, versionOf(w))
	if err != nil {
		return false
	}
	doc := map[string]any{"spec": spec}
	switch body := p.Body.(type) {
	case map[string]any:
		return mergeInForce(doc, body)
	case []any:
		for _, op := range body {
			if m, ok := op.(map[string]any); !ok || !operationInForce(doc, m) {
				return false
			}
		}
		return true
	}
	return false
}

// mergeInForce reports whether a merge patch would change nothing. What is false may be
// left out.
func mergeInForce(doc, patch any) bool {
	p, ok := patch.(map[string]any)
	if !ok {
		return patch == nil && doc == nil || patch == false && doc == nil || equivalentJSON(doc, patch)
	}
	d, ok := doc.(map[string]any)
	if !ok && doc != nil {
		return false
	}
	for key, v := range p {
		if !mergeInForce(d[key], v) {
			return false
		}
	}
	return true
}

// operationInForce reports whether one operation of a JSON patch has been carried out.
func operationInForce(doc any, op map[string]any) bool {
	path, _ := op["path"].(string)
	have := valueAtPointer(doc, path)
	switch op["op"] {
	case "test":
		return true
	case "remove":
		return have == nil
	}
	return containsWritten(have, op["value"])
}

// containsWritten reports whether doc has what was written there. The API server may have
// added defaults since: a native StatefulSet that was given a partition comes back with
// maxUnavailable, too.
func containsWritten(doc, v any) bool {
	switch v := v.(type) {
	case map[string]any:
		d, ok := doc.(map[string]any)
		for key, below := range v {
			ok = ok && containsWritten(d[key], below)
		}
		return ok
	case []any:
		d, ok := doc.([]any)
		ok = ok && len(d) == len(v)
		for i := range v {
			ok = ok && containsWritten(d[i], v[i])
		}
		return ok
	}
	return equivalentJSON(doc, v)
}

// valueAtPointer follows a JSON pointer; nil where there is nothing.
func valueAtPointer(v any, pointer string) any {
	return tree.Lookup(v, tree.PointerSteps(pointer))
}

// equivalentJSON compares decoded JSON however it was decoded. Nulls do not count.
func equivalentJSON(a, b any) bool { return bytes.Equal(canonical(nil, a), canonical(nil, b)) }
