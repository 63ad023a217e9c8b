package references

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// FollowVersions has references name objects in the version in which they are written now:
// a HorizontalPodAutoscaler looks its target up in the version that it names, which the
// cluster has to serve. changed are the objects that were written in another version, and
// in are all; both are changed in place. A reference that names another version than the
// object had before, or none, stays. namespaceOf is the namespace in which an object's
// references are looked up.
func FollowVersions(changed map[*resource.Resource]string, in []*resource.Resource, namespaceOf func(*resource.Resource) string) {
	if len(changed) == 0 {
		return
	}
	before := map[resource.ID]*resource.Resource{}
	for r := range changed {
		id := r.ID()
		id.Namespace = namespaceOf(r)
		before[id] = r
	}
	for _, r := range in {
		for _, ref := range referrers[r.Group()+"/"+r.Kind()] {
			for _, at := range places(r.Node(), ref.path) {
				old := tree.StrAt(at.node, "apiVersion")
				target := before[resource.ID{
					Group: resource.GroupOf(old), Kind: tree.StrAt(at.node, "kind"), Namespace: namespaceOf(r), Name: tree.StrAt(at.node, "name"),
				}]
				if target == nil || old != changed[target] {
					continue
				}
				r.Edit()
				setText(at.node, "apiVersion", target.APIVersion())
			}
		}
	}
}
