package set

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Member is an object that carries a set's label.
type Member struct {
	Kind      schema.GroupKind
	Namespace string
	Name      string
	UID       string
	// Leaving is whether it is being deleted already.
	Leaving bool
}

// Left returns the members that are none any more: those whose uid is not kept.
// What is on its way out counts as gone. They are in the order to delete them:
// the kinds in the reverse of their order to be applied, then by name.
func Left(found []Member, kept map[string]bool, rank func(kind string) int) []Member {
	var out []Member
	seen := map[string]bool{}
	for _, m := range found {
		if !kept[m.UID] && !seen[m.UID] && !m.Leaving {
			seen[m.UID] = true
			out = append(out, m)
		}
	}
	slices.SortFunc(out, func(a, b Member) int {
		return cmp.Or(
			cmp.Compare(rank(b.Kind.Kind), rank(a.Kind.Kind)), cmp.Compare(a.Kind.String(), b.Kind.String()),
			cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name),
		)
	})
	return out
}
