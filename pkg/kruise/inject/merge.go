package inject

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// merge puts the built containers into the pod's own list: one of a name that
// is there replaces it at its place, the others go to the front or the back
// (docs/kruise/sidecarset.md#merging-containers).
func (in *injection) merge(own []*tree.Node, built []part) []*tree.Node {
	at := named(own)
	middle := slices.Clone(own)
	var front, back []*tree.Node
	for _, p := range built {
		i, taken := at[p.name]
		switch {
		case taken:
			middle[i] = p.node
			if !in.carried[p.set.Set] && !marked(own[i]) {
				in.replaced = append(in.replaced, p.name)
			}
		case p.front:
			front = append(front, p.node)
		default:
			back = append(back, p.node)
		}
	}
	return slices.Concat(front, middle, back)
}

func byName(a, b part) int { return strings.Compare(a.name, b.name) }

// unique refuses a pod in which a name appears twice across both lists when a
// sidecar has a part in it, as the API server does.
func (in *injection) unique(inits, containers []*tree.Node, built ...[]part) error {
	ours := map[string]*Content{}
	for _, list := range built {
		for _, p := range list {
			ours[p.name] = p.set
		}
	}
	count := make(map[string]int, len(inits)+len(containers))
	for _, list := range [][]*tree.Node{inits, containers} {
		for _, c := range list {
			name := tree.StrAt(c, "name")
			if count[name]++; count[name] > 1 && ours[name] != nil {
				return fmt.Errorf("the pod would have two containers named %q, one of them from SidecarSet %s", name, ours[name].Set)
			}
		}
	}
	return nil
}
