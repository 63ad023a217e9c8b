package kruise

import (
	"reflect"
	"slices"
	"strings"
)

// Registered is one kind of Kruise.
type Registered struct {
	Group, Kind string
	// ShortNames are what kubectl takes for the kind beside its names.
	ShortNames []string
	// Aliases are short names of this program, for a kind that has none.
	Aliases []string
	// Served are the versions with the releases that brought them, the oldest first;
	// there are one or two.
	Served []Served
	// Versions are the names of Served.
	Versions []string
	// ClusterScoped kinds live in no namespace.
	ClusterScoped bool
	// Type is that of the object in the newest version.
	Type reflect.Type
	// Expansion is how an object is rendered for clusters without Kruise.
	Expansion Expansion
	// ExpandsTo are the kinds of Kubernetes that the object becomes, in alphabetical order; none
	// if it is merged into existing objects.
	ExpandsTo []string
	// Renames is whether a field has another name or place in the older version. Without
	// conversion between the versions, it is lost; other kinds need none.
	Renames bool
}

// Served is one version of a kind.
type Served struct {
	// Version is v1alpha1 or v1beta1.
	Version string
	// Since is the minor release of Kruise that brought it, such as v1.5; v1.0 may
	// mean an earlier one. It is [Unreleased] where no release has it yet.
	Since string
}

// Unreleased is [Served.Since] of a version that only Kruise's main branch has.
const Unreleased = ""

// Expansion is how an object of Kruise is rendered for clusters without Kruise.
type Expansion int

const (
	// ExpansionNone keeps the object: only Kruise's own controllers write such.
	ExpansionNone Expansion = iota
	// ExpansionObjects writes native objects in its place.
	ExpansionObjects
	// ExpansionMerged writes its content into other objects of the input.
	ExpansionMerged
	// ExpansionSteps writes patches for a person to apply one after the other.
	ExpansionSteps
	// ExpansionDropped leaves the object out: nothing native does what it did.
	ExpansionDropped
)

// Newest is the version of the Go type.
func (r Registered) Newest() string { return r.Versions[len(r.Versions)-1] }

// Resource is the name in URLs: the plural in lower case.
func (r Registered) Resource() string { return ResourceOf(r.Kind) }

// ResourceOf is the name in URLs of a kind of Kruise, and of Kubernetes' workloads.
func ResourceOf(kind string) string { return strings.ToLower(kind) + "s" }

// Words are what is taken for the kind: its name, the plural, the short names and the
// aliases, in lower case.
func (r Registered) Words() []string {
	return slices.Concat([]string{strings.ToLower(r.Kind), r.Resource()}, r.ShortNames, r.Aliases)
}

// descriptor is one kind with what its versions spell differently.
type descriptor struct {
	Registered
	// fields are those that the older version spells differently.
	fields []field
}

// describe makes the descriptor of a kind whose objects have the type T.
func describe[T any](r Registered, fields ...field) *descriptor {
	r.Type = reflect.TypeFor[T]()
	for _, s := range r.Served {
		r.Versions = append(r.Versions, s.Version)
	}
	r.Renames = slices.ContainsFunc(fields, renames)
	return &descriptor{r, fields}
}

// renames reports whether both versions have a field, in different forms.
func renames(f field) bool {
	switch f.(type) {
	case added, refused:
		return false
	}
	return true
}

// kinds are the descriptors by GROUP/KIND.
var kinds = func() map[string]*descriptor {
	m := make(map[string]*descriptor, len(descriptors))
	for _, d := range descriptors {
		m[d.Group+"/"+d.Kind] = d
	}
	return m
}()

// Kinds returns all kinds of Kruise, in alphabetical order.
func Kinds() []Registered {
	out := make([]Registered, len(descriptors))
	for i, d := range descriptors {
		out[i] = d.Registered
	}
	return out
}

// Lookup returns a kind of Kruise.
func Lookup(group, kind string) (Registered, bool) {
	d := kinds[group+"/"+kind]
	if d == nil {
		return Registered{}, false
	}
	return d.Registered, true
}

// Serves reports whether a kind of Kruise exists in a version, such as v1beta1.
func Serves(group, kind, version string) bool {
	d := kinds[group+"/"+kind]
	return d != nil && slices.Contains(d.Versions, version)
}
