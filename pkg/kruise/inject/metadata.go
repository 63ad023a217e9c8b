package inject

import (
	"fmt"
	"slices"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// patch is one entry of patchPodMetadata (semantics sidecarset 2.8).
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
	merged := map[string]string{}
	for _, set := range in.sets {
		for _, p := range set.patches {
			for _, key := range p.keys {
				if err := in.patch(set, p, key, merged); err != nil {
					return fmt.Errorf("SidecarSet %s: patchPodMetadata: annotation %s: %w", set.Set, key, err)
				}
			}
		}
	}
	in.settle(merged)
	return nil
}

// patch applies one key. merged keeps the first value of what an earlier
// injection has merged already.
func (in *injection) patch(set *Content, p patch, key string, merged map[string]string) error {
	text := p.values[key]
	present := tree.Has(in.annotations, key)
	current := tree.StrAt(in.annotations, key)
	switch p.policy {
	case string(kruise.SidecarSetRetainPatchPolicy):
		if !present {
			in.annotate(key, text)
		}
	case string(kruise.SidecarSetOverwritePatchPolicy):
		in.annotate(key, text)
	case string(kruise.SidecarSetMergePatchJSONPatchPolicy):
		if current == "" {
			in.annotate(key, text)
			return nil
		}
		if in.carried[set.Set] {
			if _, ok := merged[key]; !ok {
				merged[key] = current
			}
			if current == text {
				return nil
			}
		}
		out, err := jsonpatch.MergePatch([]byte(current), []byte(text))
		if err != nil {
			return err
		}
		in.annotate(key, string(out))
	}
	return nil
}

// settle keeps injection idempotent. The first merge into an empty key writes
// the patch as it stands, nulls and spaces included; merging again would only
// drop those, so the old text stays.
func (in *injection) settle(merged map[string]string) {
	for key, before := range merged {
		if sameJSON(before, tree.StrAt(in.annotations, key)) {
			in.annotate(key, before)
		}
	}
}

// annotate sets an annotation, leaving one that has the value untouched.
func (in *injection) annotate(key, value string) {
	if tree.Has(in.annotations, key) && tree.StrAt(in.annotations, key) == value {
		return
	}
	tree.Set(in.annotations, key, tree.String(value))
}
