package load

import (
	"fmt"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// duplicates finds objects that the input holds twice. Objects that the API
// server names (generateName) are never the same.
func duplicates(all []*resource.Resource, namespace string) []error {
	var errs []error
	first := make(map[resource.ID]*resource.Resource, len(all))
	for _, r := range all {
		id := r.ID()
		if id.Name == "" {
			continue
		}
		if id.Namespace == "" {
			id.Namespace = namespace
		}
		f := first[id]
		if f == nil {
			first[id] = r
			continue
		}
		errs = append(errs, &resource.Error{
			File: r.Origin.File, Line: r.Origin.Line, Object: r.ID(),
			Err:  fmt.Errorf("%w, first at %s", resource.ErrDuplicate, f.Origin),
			Hint: "remove one of the two, or give it another name",
		})
	}
	return errs
}
