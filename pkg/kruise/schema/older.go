package schema

import (
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// derived makes the older version's schema: an object with one field set is sent
// through the conversion table, and where its value comes out, there the older
// version has the field.
func derived(k kruise.Registered, newest *Schema) (*Schema, error) {
	out := newest.alone()
	out.Properties = map[string]*Schema{}
	for _, name := range []string{"apiVersion", "kind", "metadata"} {
		out.Properties[name] = newest.Properties[name]
	}
	always, err := Trace(k, []string{"spec"}, map[string]any{})
	if err != nil {
		return nil, err
	}
	for _, v := range always {
		out.place(newest, v.Path, likeValue(v.Value))
	}
	for _, top := range []string{"spec", "status"} {
		newest.Properties[top].leaves([]string{top}, func(path []string, leaf *Schema) {
			for _, sample := range samples(leaf) {
				found, err := Trace(k, path, sample)
				if err != nil {
					continue // the older version cannot express it
				}
				for _, v := range found {
					if !slices.ContainsFunc(always, v.SamePlace) {
						out.place(newest, v.Path, leaf)
					}
				}
			}
		})
	}
	for path, s := range olderOnly[k.Kind] {
		out.place(nil, path.steps(), s)
	}
	requireLike(out, newest)
	return out, nil
}

// likeValue is the schema of a value that conversion itself puts in.
func likeValue(v any) *Schema {
	if _, ok := v.(bool); ok {
		return &Schema{Type: "boolean"}
	}
	return &Schema{Type: "string"}
}

// place puts the leaf at a path of the older schema, with what is above it
// as the newest has it.
func (s *Schema) place(newest *Schema, path []string, leaf *Schema) {
	var like *Schema
	if newest != nil {
		like = newest.below(path[0])
	}
	if len(path) == 1 {
		s.attach(path[0], leaf)
		return
	}
	next := s.below(path[0])
	if next == nil {
		next = like.alone()
		s.attach(path[0], next)
	}
	next.place(like, path[1:], leaf)
}

// requireLike asks for the fields that the newest version asks for at the same
// place.
func requireLike(older, newest *Schema) {
	if newest == nil || older == newest {
		return
	}
	older.Required = nil
	for _, name := range newest.Required {
		if older.Properties[name] != nil {
			older.Required = append(older.Required, name)
		}
	}
	older.each(func(step string, child *Schema) {
		if like := newest.below(step); like != child {
			requireLike(child, like)
		}
	})
}
