package references

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// index finds expanded objects by the names that references may use.
type index map[resource.ID]resource.ID

// goneObjects indexes everything that some stage expanded. While kustomize
// runs, references still hold the original names: present names win, earlier
// ones fill what is left.
func goneObjects(c *stage.Context) index {
	ids := c.Lineage.IDs()
	x := make(index, len(ids))
	for _, id := range ids {
		x.add(c, id, id)
	}
	for _, id := range ids {
		r := c.Facts.Find(id)
		if r == nil {
			continue
		}
		for _, was := range stage.FormerIDs(c.Facts, r) {
			x.add(c, was, id)
		}
	}
	return x
}

func (x index) add(c *stage.Context, as, id resource.ID) {
	if as.Namespace == "" {
		as.Namespace = c.Facts.Namespace()
	}
	if _, taken := x[as]; !taken {
		x[as] = id
	}
}

// find returns the expanded object that the mapping at names. Versions do not
// count. A reference without apiVersion can only mean the kind alone.
func (x index) find(at *tree.Node, ref reference, namespace string) (resource.ID, bool) {
	version, kind := tree.StrAt(at, "apiVersion"), tree.StrAt(at, "kind")
	if kind == "" {
		kind = ref.defaultKind
	}
	want := resource.ID{Group: resource.GroupOf(version), Kind: kind, Namespace: namespace, Name: tree.StrAt(at, "name")}
	if want.Name == "" {
		return resource.ID{}, false
	}
	if version == "" {
		want.Group = ref.defaultGroup
	}
	id, ok := x[want]
	return id, ok
}
