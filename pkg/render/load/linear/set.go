package linear

import (
	"errors"
	"fmt"
	"slices"

	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/kyaml/kio"
	"sigs.k8s.io/kustomize/kyaml/resid"
	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// set is what kustomize's plugins see as a ResMap: objects in order, and the positions of each
// identity. An object that was passed on may have been changed, so its identities are read again
// before the next lookup.
//
// It has only the methods that these plugins call: another call is a nil pointer, and the build is
// left to kustomize.
type set struct {
	resmap.ResMap
	entries []*entry
	index   *index
	// stale are entries of the index that were handed out.
	stale []*entry
}

// entry is one object.
type entry struct {
	*resource.Resource
	// ids are the identities that it ever had, the present one last; none when a
	// patch has emptied it.
	ids   []resid.ResId
	stale bool
}

func newSet() *set { return &set{index: newIndex()} }

// errTwice is left to kustomize, which reports what occurs twice.
var errTwice = errors.New("an identity is there twice")

// fresh brings the index up to date.
func (s *set) fresh() {
	if s.index == nil {
		s.index, s.stale = newIndex(), s.entries
	} else {
		for _, e := range s.stale {
			s.index.remove(e)
		}
	}
	for _, e := range s.stale {
		e.identify()
		s.index.add(e)
	}
	s.stale = nil
}

func (e *entry) identify() {
	e.stale, e.ids = false, nil
	if !e.IsNilOrEmpty() {
		e.ids = append(e.PrevIds(), e.CurId())
	}
}

// hand returns an object that may be changed.
func (s *set) hand(e *entry) *resource.Resource {
	if !e.stale {
		e.stale = true
		s.stale = append(s.stale, e)
	}
	return e.Resource
}

// unique fails when two objects have the same identity now.
func (s *set) unique() error {
	s.fresh()
	if s.index.twice > 0 {
		return errTwice
	}
	return nil
}

// Resources hands out all objects.
func (s *set) Resources() []*resource.Resource {
	s.index = nil
	out := make([]*resource.Resource, len(s.entries))
	for i, e := range s.entries {
		out[i] = e.Resource
	}
	return out
}

// Append adds an object that must have an identity of its own.
func (s *set) Append(r *resource.Resource) error {
	s.append(r)
	return s.unique()
}

func (s *set) append(r *resource.Resource) {
	s.fresh()
	e := &entry{Resource: r}
	e.identify()
	s.entries = append(s.entries, e)
	s.index.add(e)
}

func (s *set) appendAll(list []*resource.Resource) error {
	for _, r := range list {
		s.append(r)
	}
	return s.unique()
}

// absorb adds an object that a generator made, or lets it replace or be merged
// with the one that has its identity, which it returns then.
func (s *set) absorb(r *resource.Resource) (merged *resource.Resource, err error) {
	s.fresh()
	same := s.index.any(r.CurId())
	if len(same) > 1 {
		return nil, errTwice
	}
	small, one := resmap.New(), resmap.New()
	if len(same) == 1 {
		merged = same[0].Resource
		if err := small.Append(s.hand(same[0])); err != nil {
			return nil, err
		}
	}
	if err := one.Append(r); err != nil {
		return nil, err
	}
	if err := small.AbsorbAll(one); err != nil {
		return nil, err
	}
	if merged == nil {
		return nil, s.Append(small.GetByIndex(0))
	}
	same[0].Resource = small.GetByIndex(0)
	return merged, s.unique()
}

// DropEmpties forgets what a transformer has emptied.
func (s *set) DropEmpties() {
	if !slices.ContainsFunc(s.entries, (*entry).empty) {
		return
	}
	s.entries = slices.DeleteFunc(s.entries, (*entry).empty)
	s.index = nil
}

func (e *entry) empty() bool { return e.IsNilOrEmpty() }

// ApplyFilter runs a filter over all objects, which keeps each of them.
func (s *set) ApplyFilter(f kio.Filter) error {
	err := s.filter(f, s.nodes())
	s.DropEmpties()
	return err
}

// nodes hands out the trees of all objects.
func (s *set) nodes() []*yaml.RNode {
	nodes := make([]*yaml.RNode, len(s.entries))
	for i, r := range s.Resources() {
		nodes[i] = &r.RNode
	}
	return nodes
}

// filter runs a filter over trees, which keeps each of them.
func (s *set) filter(f kio.Filter, nodes []*yaml.RNode) error {
	out, err := f.Filter(slices.Clone(nodes))
	if err == nil && !slices.Equal(out, nodes) {
		err = fmt.Errorf("%T adds or removes objects", f)
	}
	return err
}

// index finds the entries that have, or once had, an identity.
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
func (e *entry) current() resid.ResId { return e.ids[len(e.ids)-1] }

func (e *entry) original() resid.ResId { return e.ids[0] }
