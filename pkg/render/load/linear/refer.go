package linear

import (
	"maps"
	"slices"

	"sigs.k8s.io/kustomize/api/filters/nameref"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/kyaml/resid"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	ours "github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// referrals finds what a name in an object may mean. An object can only be meant by
// a name that it has had, so those are looked up among the texts of the object that
// refers; kustomize looks at all objects for each of its fields.
type referrals struct {
	entries []*entry
	// former are the places in entries of those that have had a name.
	former map[string][]int
	// residents are the places of one object for each namespace that objects came
	// from and each that they are in now, by the first. Where a reference names
	// a namespace, it counts whether any object came from there.
	residents map[string][]int
	moves     map[move]bool
	// copies are the objects as they may be meant: their metadata.
	copies  []*yaml.Node
	filters map[resid.Gvk][]nameref.Filter
}

type move struct{ from, to string }

// refer gives fields that name objects the names which those have now.
func (s *set) refer(back references, progress ours.Progress) error {
	if err := s.unique(); err != nil {
		return err
	}
	r := &referrals{
		entries: s.entries, former: map[string][]int{}, residents: map[string][]int{}, moves: map[move]bool{},
		filters: map[resid.Gvk][]nameref.Filter{},
	}
	for i, e := range s.entries {
		r.note(i, e)
		gvk := e.original().Gvk
		if _, ok := r.filters[gvk]; !ok {
			r.filters[gvk] = back.filters(gvk)
		}
	}
	s.index = nil
	all := stage.New(nil, stage.Options{Progress: progress})
	return all.Each(len(s.entries), func(i int) (err error) {
		defer recovered(&err)
		return r.fix(s.entries[i])
	})
}

func (r *referrals) note(i int, e *entry) {
	m := move{e.original().EffectiveNamespace(), e.current().Namespace}
	if !r.moves[m] {
		r.moves[m] = true
		r.residents[m.from] = append(r.residents[m.from], i)
	}
	names := e.ids[:len(e.ids)-1]
	for j, id := range names {
		if !slices.ContainsFunc(names[:j], func(o resid.ResId) bool { return o.Name == id.Name }) {
			r.former[id.Name] = append(r.former[id.Name], i)
		}
	}
	r.copies = append(r.copies, identity(e.YNode()))
}

// identity copies the fields that identify an object.
func identity(object *yaml.Node) *yaml.Node {
	out := &yaml.Node{Kind: yaml.MappingNode, Tag: object.Tag}
	for i := 0; i+1 < len(object.Content); i += 2 {
		switch object.Content[i].Value {
		case yaml.APIVersionField, yaml.KindField, yaml.MetadataField:
			out.Content = append(out.Content, object.Content[i], yaml.CopyYNode(object.Content[i+1]))
		}
	}
	return out
}

// filters are the fields of a kind that may name others.
func (r references) filters(gvk resid.Gvk) (out []nameref.Filter) {
	for _, to := range r {
		for _, from := range to.Referrers {
			if gvk.IsSelected(&from.Gvk) {
				out = append(out, nameref.Filter{NameFieldToUpdate: from, ReferralTarget: to.Gvk})
			}
		}
	}
	return out
}

func (r *referrals) fix(e *entry) error {
	filters := r.filters[e.original().Gvk]
	if len(filters) == 0 {
		return nil
	}
	may, err := r.candidates(e)
	if err != nil {
		return err
	}
	for _, f := range filters {
		f.Referrer, f.ReferralCandidates = e.Resource, may
		if err := e.ApplyFilter(f); err != nil {
			return err
		}
	}
	return nil
}

// candidates are copies of the objects that texts of e may mean, in order: what
// kustomize notes on them is of no use to others.
func (r *referrals) candidates(e *entry) (resmap.ResMap, error) {
	out := resmap.New()
	for _, i := range r.meant(e) {
		object := yaml.NewRNode(yaml.CopyYNode(r.copies[i]))
		if err := out.Append(&resource.Resource{RNode: *object}); err != nil {
			return nil, err
		}
	}
	return out.SubsetThatCouldBeReferencedByResource(e.Resource)
}

// meant returns the places of those objects. A text that was replaced by a present
// name may mean yet another object by a later field.
func (r *referrals) meant(e *entry) []int {
	found, seen := map[int]bool{}, map[string]bool{} // seen bounds the recursion
	var look func(name string)
	look = func(name string) {
		if seen[name] {
			return
		}
		for _, i := range r.residents[name] {
			found[i] = true
		}
		places := r.former[name]
		if len(places) == 0 {
			return
		}
		seen[name] = true
		for _, i := range places {
			if within(e, r.entries[i]) {
				found[i] = true
				look(r.entries[i].current().Name)
			}
		}
	}
	texts(e.YNode(), look)
	return slices.Sorted(maps.Keys(found))
}

// within reports whether e can refer to other, as far as namespaces go. Role
// bindings name accounts elsewhere.
func within(e, other *entry) bool {
	from, to := e.current(), other.current()
	return from.IsClusterScoped() || to.IsClusterScoped() || from.Kind == "RoleBinding" || from.IsNsEquals(to)
}

// texts calls f with every scalar below n.
func texts(n *yaml.Node, f func(string)) {
	switch n.Kind {
	case yaml.ScalarNode:
		f(n.Value)
	case yaml.AliasNode:
		texts(n.Alias, f)
	default:
		for _, child := range n.Content {
			texts(child, f)
		}
	}
}
