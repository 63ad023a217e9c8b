package check

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// conflicts finds sets that one pod may match together with this one and that
// want the same names. Sets of the input come into being in their order, so
// the later of two is at fault.
func (k *setCheck) conflicts() {
	for _, r := range k.rivals() {
		if k.pair(r) {
			continue
		}
		for _, c := range k.clashes(r.Node()) {
			k.fault(c.path, "rename it, or make the selectors of the two sets disjoint",
				"%s is also in SidecarSet %s, and a pod may match both", c.what, r.Name())
		}
	}
}

// pair reports whether one of the two is the other's canary.
func (k *setCheck) pair(r *resource.Resource) bool {
	return baseOf(k.hub) == r.Name() || baseOf(r.Node()) == k.r.Name()
}

// clash is a name that two sets want.
type clash struct{ path, what string }

func (k *setCheck) clashes(other *tree.Node) []clash {
	var out []clash
	for _, list := range containerLists {
		for _, n := range tree.Items(tree.Get(k.spec, list)) {
			name := tree.StrAt(n, "name")
			if same, _ := tree.Find(tree.Get(other, "spec", list), "name", name); same != nil && name != "" {
				out = append(out, clash{"spec." + list, "container " + name})
			}
		}
	}
	for _, v := range tree.Items(tree.Get(k.spec, "volumes")) {
		name := tree.StrAt(v, "name")
		if same, _ := tree.Find(tree.Get(other, "spec", "volumes"), "name", name); same != nil && name != "" && !sameVolume(v, same) {
			out = append(out, clash{"spec.volumes", "volume " + name + ", with different content,"})
		}
	}
	theirs := overwritten(other)
	for key, overwrite := range overwritten(k.hub) {
		if o, ok := theirs[key]; ok && (o || overwrite) {
			out = append(out, clash{"spec.patchPodMetadata", "annotation " + key})
		}
	}
	return out
}

// overwritten are the annotations that a set patches with another policy than
// Retain, and whether it is Overwrite.
func overwritten(set *tree.Node) map[string]bool {
	out := map[string]bool{}
	for _, entry := range tree.Items(tree.Get(set, "spec", "patchPodMetadata")) {
		policy := tree.StrAt(entry, "patchPolicy")
		if policy == "" || policy == "Retain" {
			continue
		}
		tree.Each(tree.Get(entry, "annotations"), func(key, _ *tree.Node) {
			out[key.Value] = policy == "Overwrite"
		})
	}
	return out
}
