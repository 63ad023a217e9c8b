package linear

import (
	"slices"

	"sigs.k8s.io/kustomize/kyaml/resid"
)

// index says which entries have, or once had, an identity.
type index struct {
	entries map[key][]*entry
	present map[key]int
	// twice counts the entries whose present identity another one has, too.
	twice int
}

// key is an identity such that two that kustomize takes for equal are equal.
type key struct{ group, version, kind, name, namespace string }

func keyOf(id resid.ResId) key {
	return key{id.Group, id.Version, id.Kind, id.Name, id.EffectiveNamespace()}
}

func newIndex() *index { return &index{entries: map[key][]*entry{}, present: map[key]int{}} }

func (x *index) any(id resid.ResId) []*entry { return x.entries[keyOf(id)] }

func (x *index) add(e *entry) {
	for _, id := range e.ids {
		k := keyOf(id)
		if !slices.Contains(x.entries[k], e) {
			x.entries[k] = append(x.entries[k], e)
		}
	}
	if len(e.ids) > 0 {
		k := keyOf(e.current())
		if x.present[k]++; x.present[k] > 1 {
			x.twice++
		}
	}
}

// remove takes an entry out again, by the identities that it was added with.
func (x *index) remove(e *entry) {
	for _, id := range e.ids {
		k := keyOf(id)
		x.entries[k] = slices.DeleteFunc(x.entries[k], func(o *entry) bool { return o == e })
	}
	if len(e.ids) > 0 {
		k := keyOf(e.current())
		if x.present[k]--; x.present[k] > 0 {
			x.twice--
		}
	}
}

// current is the identity that the object has now, original the first one.
func (e *entry) current() resid.ResId  { return e.ids[len(e.ids)-1] }
func (e *entry) original() resid.ResId { return e.ids[0] }
