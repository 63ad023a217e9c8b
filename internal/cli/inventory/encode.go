package inventory

import (
	"encoding/json"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/emit"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// header says to whoever finds the file what it is. It has no date: the same
// cluster gives the same bytes.
const header = "# Facts of a cluster, for kubectl kruise render --with. Written by kubectl kruise\n# inventory; generate it again instead of editing it.\n"

// encode returns the List.
func encode(facts []*resource.Resource, format string) ([]byte, error) {
	items := make([]*tree.Node, len(facts))
	for i, r := range facts {
		items[i] = identityFirst(r.Node())
	}
	list := tree.Map("apiVersion", "v1", "kind", "List", "items", tree.Seq(items...))
	if format == "json" {
		text, err := json.MarshalIndent(tree.Value(list), "", "  ")
		return append(text, '\n'), err
	}
	text, err := emit.Tree(list)
	return append([]byte(header), text...), err
}

// identityFirst puts a fact's keys in the order that people expect.
func identityFirst(n *tree.Node) *tree.Node {
	out := tree.Map()
	for _, key := range []string{"apiVersion", "kind", "metadata"} {
		if v := tree.Get(n, key); v != nil {
			tree.Set(out, key, v)
		}
	}
	tree.Each(n, func(key, value *tree.Node) {
		if tree.Get(out, key.Value) == nil {
			tree.Set(out, key.Value, value)
		}
	})
	return out
}
