package check

import (
	"bytes"
	_ "embed"
	"reflect"
	"slices"
	"strings"
	"sync"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// Rule is one entry of the catalogue: something that Kruise refuses. Kruise accepts no
// object that breaks a rule, unless Accepted is set.
type Rule struct {
	// ID is stable: the kind in lower case or what several kinds share, a
	// slash, and what is wrong.
	ID string `yaml:"id"`
	// Kind is "" for a rule of several kinds.
	Kind string `yaml:"-"`
	// Doc is one sentence: what is refused.
	Doc string `yaml:"doc"`
	// Accepted is set if Kruise accepts the object, although it cannot be intended.
	Accepted bool `yaml:"accepted"`
}

// entry is a rule and the places in the kind's newest version whose faults are this
// rule's, those below included.
type entry struct {
	Rule   `yaml:",inline"`
	Fields []string `yaml:"fields"`
}

//go:embed rules.yaml
var rulesFile []byte

// anyKind has the rules of several kinds.
const anyKind = "*"

// catalogue has the rules by kind.
var catalogue = sync.OnceValue(func() map[string][]entry {
	var out map[string][]entry
	dec := yaml.NewDecoder(bytes.NewReader(rulesFile))
	dec.KnownFields(true)
	if err := dec.Decode(&out); err != nil {
		panic("check: rules.yaml: " + err.Error()) // it is embedded: a test would show it
	}
	for kind, list := range out {
		for i := range list {
			list[i].Kind = strings.TrimPrefix(kind, anyKind)
		}
	}
	return out
})

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
	// misplaced, where there is one, hints at a field that is unknown because it
	// belongs elsewhere.
	misplaced func(version, path string) string
	check     func(*subject)
}

// kinds maps GROUP/KIND to what is known of it.
var kinds = map[string]*kindRules{}

// add registers a kind, once, while the package is initialised.
func add(k *kindRules) bool { //nolint:unparam // a result is what lets a package-level variable call it
	kinds[k.group+"/"+k.kind] = k
	return true
}

// NewObject returns an empty object of one of Kruise's kinds, nil for any other kind.
func NewObject(group, kind string) any {
	k := kinds[group+"/"+kind]
	if k == nil {
		return nil
	}
	return reflect.New(reflect.TypeOf(k.object)).Interface()
}

// rule returns the ID of the most specific rule for the field.
func (k *kindRules) rule(path string) string {
	best, id := 0, invalidValue
	plain := withoutIndices(path)
	for _, r := range catalogue()[k.kind] {
		for _, f := range r.Fields {
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
	var out []Rule
	for _, list := range catalogue() {
		for _, r := range list {
			out = append(out, r.Rule)
		}
	}
	slices.SortFunc(out, func(a, b Rule) int { return strings.Compare(a.ID, b.ID) })
	return out
}
