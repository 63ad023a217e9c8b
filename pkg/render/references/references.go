// Package references is the stage in which what names an expanded object
// follows it to what it became: scale targets, budgets, spreads and rollouts
// of the input. An object whose reference cannot follow leaves the output with
// a finding, so that nothing in the output names an object that is gone.
package references

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// Run is the stage. References to objects that were not expanded, or that
// nobody knows, stay as they are.
func Run(c *stage.Context, in []*resource.Resource) ([]*resource.Resource, error) {
	f := &follower{c: c, gone: goneObjects(c), in: in}
	if len(f.gone) == 0 {
		return in, nil
	}
	return c.Replace(in, func(r *resource.Resource) ([]*resource.Resource, error) {
		return f.follow(r, referrers[r.Group()+"/"+r.Kind()]), nil
	})
}

// follower is one run of the stage.
type follower struct {
	c    *stage.Context
	gone index
	in   []*resource.Resource
	now  replicas
}

// follow rewrites the references of r one after the other. The first that
// cannot be rewritten in place decides what becomes of r.
func (f *follower) follow(r *resource.Resource, fields []reference) []*resource.Resource {
	for _, ref := range fields {
		for _, at := range places(r.Node(), ref.path) {
			id, known := f.gone.find(at.node, ref, f.c.Facts.NamespaceOf(r))
			if !known {
				continue
			}
			became, _ := f.c.Lineage.Resolve(id)
			l := link{r: r, ref: ref, at: at, old: id, became: became}
			if len(became) == 1 && ref.accepts(became[0].Kind) {
				f.rewrite(l)
				continue
			}
			return f.stranded(l)
		}
	}
	return []*resource.Resource{r}
}

// link is one reference of r to an expanded object.
type link struct {
	r      *resource.Resource
	ref    reference
	at     place
	old    resource.ID
	became []stage.Target
}

// rewrite points the reference at the one object that its target became.
func (f *follower) rewrite(l link) {
	l.r.Edit()
	point(l.at.node, l.became[0])
	id, detail := "references/followed", l.story()+": the reference follows"
	if l.ref.immutable {
		id, detail = "references/immutable", detail+"; the field cannot change in a cluster that holds this object already"
	}
	f.c.Findings.Add(id, l.r, l.at.path, detail)
}

// point writes target into the mapping ref, and keeps comments and quoting.
func point(ref *tree.Node, target stage.Target) {
	for _, field := range []struct{ key, value string }{
		{"apiVersion", target.APIVersion}, {"kind", target.Kind}, {"name", target.Name},
	} {
		setText(ref, field.key, field.value)
	}
}

// setText writes a text into a field, and keeps its comments and quoting.
func setText(in *tree.Node, key, value string) {
	fresh := tree.String(value)
	if old := tree.Get(in, key); tree.IsScalar(old) {
		if tree.Str(old) == value {
			return
		}
		if fresh.Style == 0 {
			fresh.Style = old.Style
		}
		fresh.HeadComment, fresh.LineComment, fresh.FootComment = old.HeadComment, old.LineComment, old.FootComment
	}
	tree.Set(in, key, fresh)
}
