// Package kruise knows OpenKruise's API: one set of Go types (the newest
// version of each kind), reading and writing of the older version through a
// small table of moved, renamed and inverted fields, the defaults that Kruise's
// webhooks fill in, and the well-known names.
//
// It is a leaf: types are for deciding, trees (package tree) for editing, so
// what the types do not know survives. It knows no files, clocks or clusters.
package kruise

const (
	// Group is the API group of nearly all kinds.
	Group = "apps.kruise.io"
	// PolicyGroup is the API group of PodUnavailableBudget.
	PolicyGroup = "policy.kruise.io"

	// V1alpha1 is the older version that Kruise serves, and of a few kinds the
	// only one.
	V1alpha1 = "v1alpha1"
	// V1beta1 is the newest version of all other kinds.
	V1beta1 = "v1beta1"
)
