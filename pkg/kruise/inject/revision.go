package inject

import (
	"fmt"
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// Revision is a stored revision of a SidecarSet.
type Revision struct {
	// Set is the SidecarSet's name, CustomVersion its custom version then.
	Name, Set, CustomVersion string
	// Number grows with every revision.
	Number int64

	spec *tree.Node
}

// ReadRevision reads a ControllerRevision; nil when it is not one of a
// SidecarSet.
func ReadRevision(n *tree.Node) *Revision {
	set := tree.StrAt(n, "metadata", "labels", kruise.SidecarSetNameLabel)
	spec := tree.Get(n, "data", "spec")
	if set == "" || spec == nil {
		return nil
	}
	number, _ := tree.Int(tree.Get(n, "revision"))
	return &Revision{
		Name: tree.StrAt(n, "metadata", "name"), Set: set, Number: number, spec: spec,
		CustomVersion: tree.StrAt(n, "metadata", "labels", kruise.SidecarSetCustomVersionLabel),
	}
}

// findRevision prefers the name; a custom version means the newest revision
// that carries it.
func findRevision(list []*Revision, set, name, version string) *Revision {
	var found *Revision
	for _, r := range list {
		switch {
		case name != "":
			if r.Name == name {
				return r
			}
		case r.Set == set && r.CustomVersion == version && (found == nil || r.Number > found.Number):
			found = r
		}
	}
	return found
}

func noRevision(set, name, version string) error {
	if name != "" {
		return fmt.Errorf("the revision %s of SidecarSet %s is not known", name, set)
	}
	return fmt.Errorf("no revision of SidecarSet %s with customVersion %s is known", set, version)
}

// HasRevision reports whether the revision that injectionStrategy.revision of
// set names is in list; name wins over version.
func HasRevision(list []*Revision, set, name, version string) bool {
	return findRevision(list, set, name, version) != nil
}

// HasRevisions reports whether list holds any revision of set.
func HasRevisions(list []*Revision, set string) bool {
	return slices.ContainsFunc(list, func(r *Revision) bool { return r.Set == set })
}
