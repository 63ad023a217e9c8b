package finding

import (
	"fmt"
	"sort"
)

var catalogue = map[string]Rule{}

// register adds rules; each kind has one file that calls it while the package
// is initialised.
func register(rules ...Rule) bool {
	for _, r := range rules {
		if _, dup := catalogue[r.ID]; dup {
			panic("finding: rule " + r.ID + " registered twice")
		}
		catalogue[r.ID] = r
	}
	return true
}

// Lookup returns the rule with this ID. It panics when there is none, which is
// a programming error.
func Lookup(id string) Rule {
	r, ok := catalogue[id]
	if !ok {
		panic(fmt.Sprintf("finding: no rule %q in the catalogue", id))
	}
	return r
}

// Rules returns the whole catalogue, sorted by kind and ID.
func Rules() []Rule {
	out := make([]Rule, 0, len(catalogue))
	for _, r := range catalogue {
		out = append(out, r)
	}
	sort.Slice(out, func(i, j int) bool {
		if out[i].Kind != out[j].Kind {
			return out[i].Kind < out[j].Kind
		}
		return out[i].ID < out[j].ID
	})
	return out
}
