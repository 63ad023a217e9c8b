package linear

import (
	"slices"

	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/resid"
)

// GetById returns the one object that has, or once had, an identity.
func (s *set) GetById(id resid.ResId) (*resource.Resource, error) {
	s.fresh()
	found := s.index.any(id)
	if len(found) != 1 {
		return nil, errTwice
	}
	return s.hand(found[0]), nil
}

// GetMatchingResourcesByAnyId returns the objects of which an identity, present or
// former, matches.
func (s *set) GetMatchingResourcesByAnyId(matches resmap.IdMatcher) (out []*resource.Resource) {
	s.fresh()
	for _, e := range s.entries {
		if slices.ContainsFunc(e.ids, matches) {
			out = append(out, s.hand(e))
		}
	}
	return out
}

// Select returns the objects that the target of a patch selects, by their first
// or present name and namespace.
func (s *set) Select(target types.Selector) (out []*resource.Resource, err error) {
	s.fresh()
	names, err := types.NewSelectorRegex(&target)
	if err != nil {
		return nil, err
	}
	for _, e := range s.entries {
		if !named(names, e) {
			continue
		}
		labelled, err := e.MatchesLabelSelector(target.LabelSelector)
		if err != nil {
			return nil, err
		}
		annotated, err := e.MatchesAnnotationSelector(target.AnnotationSelector)
		if err != nil {
			return nil, err
		}
		if labelled && annotated {
			out = append(out, s.hand(e))
		}
	}
	return out, nil
}

func named(names *types.SelectorRegex, e *entry) bool {
	if len(e.ids) == 0 {
		return false
	}
	first, now := e.original(), e.current()
	return (names.MatchNamespace(first.EffectiveNamespace()) || names.MatchNamespace(now.EffectiveNamespace())) &&
		(names.MatchName(first.Name) || names.MatchName(now.Name)) &&
		names.MatchGvk(now.Gvk)
}

// ApplySmPatch merges a patch into the objects that were selected.
func (s *set) ApplySmPatch(selected *resource.IdSet, patch *resource.Resource) error {
	s.fresh()
	for _, e := range s.entries {
		if len(e.ids) == 0 || !selected.Contains(e.current()) {
			continue
		}
		one := resmap.New()
		if err := one.Append(s.hand(e)); err != nil {
			return err
		}
		if err := one.ApplySmPatch(selected, patch); err != nil {
			return err
		}
	}
	s.DropEmpties()
	return s.unique()
}
