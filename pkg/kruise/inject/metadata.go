package inject

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// patch is one entry of patchPodMetadata (docs/kruise/sidecarset.md#pod-metadata).
type patch struct {
	policy string
	// keys are sorted; values hold the text for each.
	keys   []string
	values map[string]string
}

func compilePatches(n *tree.Node) []patch {
	var out []patch
	for _, entry := range tree.Items(n) {
		p := patch{policy: tree.StrAt(entry, "patchPolicy"), values: tree.Strings(tree.Get(entry, "annotations"))}
		if p.policy == "" {
			p.policy = string(kruise.SidecarSetRetainPatchPolicy)
		}
		for key := range p.values {
			p.keys = append(p.keys, key)
		}
		slices.Sort(p.keys)
		out = append(out, p)
	}
	return out
}

// patchMetadata applies the entries of all sets, in order.
func (in *injection) patchMetadata() error {
	before := tree.Shallow(in.annotations)
	for _, set := range in.sets {
		for _, p := range set.patches {
			for _, key := range p.keys {
				if err := in.patch(set, p, key); err != nil {
					return fmt.Errorf("SidecarSet %s: patchPodMetadata: annotation %s: %w", set.Set, key, err)
				}
			}
		}
	}
	// Keep injection idempotent. The first merge into an empty key writes the patch as it is, nulls and spaces included.
	// When the sets come again, merging would only drop those, so the text of before stays.
	for _, set := range in.sets {
		for _, p := range set.patches {
			if p.policy != string(kruise.SidecarSetMergePatchJSONPatchPolicy) || !in.carried[set.Set] {
				continue
			}
			for _, key := range p.keys {
				if old := tree.StrAt(before, key); sameJSON(old, tree.StrAt(in.annotations, key)) {
					in.annotate(key, old)
				}
			}
		}
	}
	return nil
}

// patch applies one key.
func (in *injection) patch(set *Content, p patch, key string) error {
	text := p.values[key]
	switch kruise.SidecarSetPatchPolicyType(p.policy) {
	case kruise.SidecarSetRetainPatchPolicy:
		if !tree.Has(in.annotations, key) {
			in.annotate(key, text)
		}
	case kruise.SidecarSetOverwritePatchPolicy:
		in.annotate(key, text)
	case kruise.SidecarSetMergePatchJSONPatchPolicy:
		current := tree.StrAt(in.annotations, key)
		if current == "" {
			in.annotate(key, text)
			return nil
		}
		out, err := jsonpatch.MergePatch([]byte(current), []byte(text))
		switch {
		case err == nil:
			in.annotate(key, string(out))
		case in.carried[set.Set] && current == text:
			// An earlier injection has written the text, whatever it is.
		default:
			return err
		}
		return nil
	}
	return nil
}

// annotate sets an annotation, leaving one that has the value untouched.
func (in *injection) annotate(key, value string) {
	if tree.Has(in.annotations, key) && tree.StrAt(in.annotations, key) == value {
		return
	}
	tree.Set(in.annotations, key, tree.String(value))
}

// PatchMetadata returns a pod's annotations as patchPodMetadata leaves them when
// the set's containers in the pod are upgraded (docs/kruise/sidecarset.md#the-patch-of-one-pod).
func (c *Content) PatchMetadata(annotations map[string]string) (map[string]string, error) {
	n := tree.Map()
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		tree.Set(n, key, tree.String(annotations[key]))
	}
	in := &injection{sets: []*Content{c}, annotations: n, carried: map[string]bool{c.Set: true}}
	if err := in.patchMetadata(); err != nil {
		return nil, err
	}
	return tree.Strings(in.annotations), nil
}

// sameJSON reports whether two texts mean the same when members that are null
// do not count. Text that is not JSON equals nothing.
func sameJSON(a, b string) bool {
	x, okA := parseJSON(a)
	y, okB := parseJSON(b)
	return okA && okB && reflect.DeepEqual(withoutNulls(x), withoutNulls(y))
}

func parseJSON(s string) (v any, ok bool) {
	d := json.NewDecoder(strings.NewReader(s))
	d.UseNumber()
	return v, d.Decode(&v) == nil
}

func withoutNulls(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, member := range v {
			if member == nil {
				delete(v, key)
				continue
			}
			v[key] = withoutNulls(member)
		}
	case []any:
		for i := range v {
			v[i] = withoutNulls(v[i])
		}
	}
	return v
}
