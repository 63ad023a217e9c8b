package references

import (
	"maps"
	"slices"
	"strings"
)

// Place is a field in which objects of one kind name objects of others.
type Place struct {
	// Group and Kind are of the object that holds the field.
	Group, Kind string
	// Path leads to the mapping with apiVersion, kind and name; steps into lists
	// are not marked.
	Path []string
	ref  reference
}

// Accepts reports whether the field may name an object of this kind.
func (p Place) Accepts(kind string) bool { return p.ref.accepts(kind) }

// Places are all fields that this package knows, in a fixed order.
func Places() []Place {
	var out []Place
	for _, key := range slices.Sorted(maps.Keys(referrers)) {
		group, kind, _ := strings.Cut(key, "/")
		for _, ref := range referrers[key] {
			path := slices.Clone(ref.path)
			for i := range path {
				path[i] = strings.TrimSuffix(path[i], "[]")
			}
			out = append(out, Place{group, kind, path, ref})
		}
	}
	return out
}
