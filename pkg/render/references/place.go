package references

import (
	"strconv"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// place is a mapping inside an object, with the dotted path to it.
type place struct {
	node *tree.Node
	path string
}

// places returns every mapping that path leads to.
func places(root *tree.Node, path []string) []place {
	at := []place{{node: tree.Root(root)}}
	for _, step := range path {
		key, list := strings.CutSuffix(step, "[]")
		var next []place
		for _, p := range at {
			child := place{node: tree.Get(p.node, key), path: strings.TrimPrefix(p.path+"."+key, ".")}
			if !list {
				next = append(next, child)
				continue
			}
			for i, item := range tree.Items(child.node) {
				next = append(next, place{node: item, path: child.path + "[" + strconv.Itoa(i) + "]"})
			}
		}
		at = next
	}
	found := at[:0]
	for _, p := range at {
		if tree.IsMap(p.node) {
			found = append(found, p)
		}
	}
	return found
}
