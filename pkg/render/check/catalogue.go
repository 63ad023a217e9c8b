package check

import (
	"maps"
	"slices"
	"strings"
)

// Rule is one entry of the catalogue: something that Kruise refuses. Kruise accepts no
// object that breaks a rule, unless Accepted is set.
type Rule struct {
	// ID is stable: the kind in lower case or what several kinds share, a
	// slash, and what is wrong.
	ID string
	// Kind is "" for a rule of several kinds.
	Kind string
	// Doc is one sentence: what is refused.
	Doc string
	// Accepted is set if Kruise accepts the object, although it cannot be intended.
	Accepted bool
	// fields are the places in the kind's newest version whose faults are this
	// rule's, those below included.
	fields []string
}

// The rules of several kinds.
const (
	wrongType    = "object/wrong-type"
	unknownField = "object/unknown-field"
	missingField = "object/missing-field"
	invalidValue = "object/invalid"
	nameInvalid  = "object/name-invalid"
	foreignGroup = "object/wrong-group"
	metaInvalid  = "object/metadata-invalid"
	immutable    = "object/immutable-field"
	podInvalid   = "pod/template-invalid"
	protected    = "delete/protected"
	budgetSpent  = "delete/budget-spent"
)

var shared = []Rule{
	{ID: wrongType, Doc: "A value does not have the type that the schema requires, such as text for a number."},
	{ID: unknownField, Doc: "A field is not in the schema of the version that the object is written in."},
	{ID: missingField, Doc: "A field that the schema requires is missing."},
	{ID: invalidValue, Doc: "The schema or the webhook of the kind refuses the value."},
	{ID: foreignGroup, Doc: "The object is of one of Kruise's kinds, and its group is one of Kubernetes' own, which does not have the kind, or a misspelt one of Kruise's."},
	{ID: nameInvalid, Doc: "The name is missing, or is not allowed for the kind."},
	{ID: metaInvalid, Doc: "Labels or annotations are not valid in Kubernetes."},
	{ID: immutable, Doc: "An update changes an immutable field."},
	{ID: podInvalid, Doc: "Kubernetes' rules for pods, or Kruise's restrictions of them, refuse the pod template."},
	{ID: protected, Doc: "The label policy.kruise.io/delete-protection forbids the deletion."},
	{ID: budgetSpent, Doc: "A PodUnavailableBudget allows no further disruption."},
}

// kindRules is what is known of one kind.
type kindRules struct {
	// group and kind are those of the objects.
	group, kind string
	// object is an empty one of its type.
	object any
	// plainName is set if a name has at most 63 characters, all of them letters, digits or '-'.
	plainName bool
	// filled is set if a mutating webhook encodes the object again, which gives missing
	// required texts, numbers and structs an empty value.
	filled bool
	// open are prefixes of paths below which the schema takes any field.
	open []string
	// closed are prefixes below open ones where it does not.
	closed []string
	// rules are this kind's own, by what they look at.
	rules []Rule
	// misplaced, where there is one, hints at a field that is unknown because it
	// belongs elsewhere.
	misplaced func(version, path string) string
	check     func(*subject)
}

// kinds maps GROUP/KIND to what is known of it.
var kinds = map[string]*kindRules{}

// add registers a kind, once, while the package is initialised.
func add(k *kindRules) bool { //nolint:unparam // a result is what lets a package-level variable call it
	for i := range k.rules {
		k.rules[i].ID = strings.ToLower(k.kind) + "/" + k.rules[i].ID
		k.rules[i].Kind = k.kind
	}
	kinds[k.group+"/"+k.kind] = k
	return true
}

// rule returns the ID of the most specific rule for the field.
func (k *kindRules) rule(path string) string {
	best, id := 0, invalidValue
	plain := withoutIndices(path)
	for _, r := range k.rules {
		for _, f := range r.fields {
			if len(f) > best && under(plain, f) {
				best, id = len(f), r.ID
			}
		}
	}
	return id
}

// under reports whether the path is that of the field, or of something below it.
func under(path, field string) bool {
	rest, ok := strings.CutPrefix(path, field)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// withoutIndices returns the path without brackets and what is in them.
func withoutIndices(path string) string {
	var b strings.Builder
	depth := 0
	for _, r := range path {
		switch {
		case r == '[':
			depth++
		case r == ']':
			depth--
		case depth == 0:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Rules returns the whole catalogue, sorted by ID.
func Rules() []Rule {
	out := slices.Concat(shared, releaseRules)
	for _, k := range slices.Sorted(maps.Keys(kinds)) {
		out = append(out, kinds[k].rules...)
	}
	slices.SortFunc(out, func(a, b Rule) int { return strings.Compare(a.ID, b.ID) })
	return out
}
