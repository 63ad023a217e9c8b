package finding

import (
	"bytes"
	"cmp"
	"embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// Rule is one entry of the catalogue: what becomes of a field.
type Rule struct {
	// ID is stable across releases: kind in lower case, a slash, a short name.
	ID string `yaml:"id"`
	// Kind is the Kruise kind, or "*" for all.
	Kind string `yaml:"-"`
	// Fields are the dotted paths that the rule answers for, in the newest API
	// version; a path answers for everything below it. List elements are "[]".
	Fields []string `yaml:"fields"`
	// When names the case in which the rule applies, where several rules answer
	// for a field ("" = always): the form of the output, the driver.
	When string `yaml:"when"`
	// Severity of the findings that the rule makes.
	Severity Severity `yaml:"severity"`
	// Becomes is what the field becomes, or how the output differs.
	Becomes string `yaml:"becomes"`
	// Action is what the user can do; it may be empty for Exact.
	Action string `yaml:"action"`
}

// anyKind is the file with the rules of no single kind.
const anyKind = "any"

// files are the catalogue: a file has the rules of one kind, and the name with which their IDs
// begin; shared.yaml has those of several kinds.
//
//go:embed rules/*.yaml shared.yaml
var files embed.FS

// file is one of them.
type file struct {
	// Kind is that of the entries without kinds of their own.
	Kind  string  `yaml:"kind"`
	Rules []entry `yaml:"rules"`
}

// entry is a rule, or one of several kinds: the kind stands before its ID then.
type entry struct {
	Rule  `yaml:",inline"`
	Kinds []string `yaml:"kinds"`
}

func (e entry) rules(kind string) (out []Rule) {
	r := e.Rule
	r.Kind = kind
	if len(e.Kinds) == 0 {
		return []Rule{r}
	}
	for _, kind := range e.Kinds {
		r.ID, r.Kind = strings.ToLower(kind)+"/"+e.ID, kind
		out = append(out, r)
	}
	return out
}

// parse reads the text of a file.
func parse(text []byte) (map[string]Rule, error) {
	var f file
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	if err := dec.Decode(&f); err != nil {
		return nil, err
	}
	out := make(map[string]Rule, len(f.Rules))
	for _, e := range f.Rules {
		for _, r := range e.rules(f.Kind) {
			_, twice := out[r.ID]
			switch {
			case twice:
				return nil, fmt.Errorf("two rules have the ID %q", r.ID)
			case e.ID == "" || r.Kind == "" || r.Becomes == "":
				return nil, fmt.Errorf("rule %q: its id, kind or text is missing", r.ID)
			case !slices.Contains([]Severity{Exact, Approximate, Lost, Error}, r.Severity):
				return nil, fmt.Errorf("rule %q: unknown severity %q", r.ID, r.Severity)
			}
			out[r.ID] = r
		}
	}
	return out, nil
}

// mustParse reads a file that is embedded. It panics where one is broken, which a test would show.
func mustParse(name string) map[string]Rule {
	text, err := files.ReadFile(name)
	if err != nil {
		panic(err)
	}
	rules, err := parse(text)
	if err != nil {
		panic(fmt.Sprintf("finding: %s: %v", name, err))
	}
	return rules
}

var shared = sync.OnceValue(func() map[string]Rule { return mustParse("shared.yaml") })

// byPrefix has the rules by their IDs, by that with which the IDs begin. A file is read when a rule
// of it is looked up: all of them take about 7 ms, and a render needs a few.
var byPrefix = sync.OnceValue(func() map[string]func() map[string]Rule {
	list, err := files.ReadDir("rules")
	if err != nil {
		panic(err)
	}
	out := make(map[string]func() map[string]Rule, len(list))
	for _, f := range list {
		prefix := strings.TrimSuffix(f.Name(), ".yaml")
		out[prefix] = sync.OnceValue(func() map[string]Rule {
			rules := mustParse("rules/" + f.Name())
			for id, r := range shared() {
				if !strings.HasPrefix(id, prefix+"/") {
					continue
				}
				if _, twice := rules[id]; twice {
					panic(fmt.Sprintf("finding: two rules have the ID %q", id))
				}
				rules[id] = r
			}
			return rules
		})
	}
	return out
})

// Rules are all rules, sorted by kind and ID.
func Rules() []Rule {
	var all []Rule
	for _, rules := range byPrefix() {
		all = slices.AppendSeq(all, maps.Values(rules()))
	}
	slices.SortFunc(all, func(a, b Rule) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID)) })
	return all
}

// Lookup returns the rule with this ID. It panics when there is none, which is
// a programming error.
func Lookup(id string) Rule {
	r, ok := find(id)
	if !ok {
		panic(fmt.Sprintf("finding: no rule %q in the catalogue", id))
	}
	return r
}

// Known reports whether the catalogue has a rule with the ID.
func Known(id string) bool {
	_, ok := find(id)
	return ok
}

func find(id string) (Rule, bool) {
	prefix, _, _ := strings.Cut(id, "/")
	rules, ok := byPrefix()[prefix]
	if !ok {
		rules = byPrefix()[anyKind]
	}
	r, ok := rules()[id]
	return r, ok
}
