// Package references is the stage in which what names an expanded object
// follows it to what it became: scale targets, budgets, spreads and rollouts
// of the input. An object whose reference cannot follow leaves the output with
// a finding, so that nothing in the output names an object that is gone.
package references

import (
	"strconv"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// Run is the stage. References to objects that were not expanded, or that are not known,
// stay as they are.
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
			return f.handleUnresolved(l)
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
	id, detail := "references/followed", l.outcomeText()+": the reference follows"
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

// index finds expanded objects by the names that references may use.
type index map[resource.ID]resource.ID

// goneObjects indexes everything that some stage expanded. While kustomize
// runs, references still hold the original names: present names win, earlier
// ones fill what is left.
func goneObjects(c *stage.Context) index {
	ids := c.Lineage.IDs()
	x := make(index, len(ids))
	for _, id := range ids {
		x.add(c, id, id)
	}
	for _, id := range ids {
		r := c.Facts.Find(id)
		if r == nil {
			continue
		}
		for _, was := range stage.FormerIDs(c.Facts, r) {
			x.add(c, was, id)
		}
	}
	return x
}

func (x index) add(c *stage.Context, as, id resource.ID) {
	if as.Namespace == "" {
		as.Namespace = c.Facts.Namespace()
	}
	if _, taken := x[as]; !taken {
		x[as] = id
	}
}

// find returns the expanded object that the mapping at names. Versions do not
// count. A reference without apiVersion can only mean the kind alone.
func (x index) find(at *tree.Node, ref reference, namespace string) (resource.ID, bool) {
	version, kind := tree.StrAt(at, "apiVersion"), tree.StrAt(at, "kind")
	if kind == "" {
		kind = ref.defaultKind
	}
	want := resource.ID{Group: resource.GroupOf(version), Kind: kind, Namespace: namespace, Name: tree.StrAt(at, "name")}
	if want.Name == "" {
		return resource.ID{}, false
	}
	if version == "" {
		want.Group = ref.defaultGroup
	}
	id, ok := x[want]
	return id, ok
}

// place is a mapping inside an object, with the dotted path to it.
type place struct {
	node *tree.Node
	path string
}

// places returns every mapping that path leads to.
func places(root *tree.Node, path []string) []place {
	at := []place{{node: tree.Root(root)}}
	for _, step := range path {
		key, list := strings.CutSuffix(step, "[]")
		var next []place
		for _, p := range at {
			child := place{node: tree.Get(p.node, key), path: strings.TrimPrefix(p.path+"."+key, ".")}
			if !list {
				next = append(next, child)
				continue
			}
			for i, item := range tree.Items(child.node) {
				next = append(next, place{node: item, path: child.path + "[" + strconv.Itoa(i) + "]"})
			}
		}
		at = next
	}
	found := at[:0]
	for _, p := range at {
		if tree.IsMap(p.node) {
			found = append(found, p)
		}
	}
	return found
}

// FollowVersions has references name objects in the version in which they are written now:
// a HorizontalPodAutoscaler looks its target up in the version that it names, which the
// cluster has to serve. changed are the objects that were written in another version, and
// in are all; both are changed in place. A reference that names another version than the
// object had before, or none, stays. namespaceOf is the namespace in which an object's
// references are looked up.
func FollowVersions(changed map[*resource.Resource]string, in []*resource.Resource, namespaceOf func(*resource.Resource) string) {
	if len(changed) == 0 {
		return
	}
	before := map[resource.ID]*resource.Resource{}
	for r := range changed {
		id := r.ID()
		id.Namespace = namespaceOf(r)
		before[id] = r
	}
	for _, r := range in {
		for _, ref := range referrers[r.Group()+"/"+r.Kind()] {
			for _, at := range places(r.Node(), ref.path) {
				old := tree.StrAt(at.node, "apiVersion")
				target := before[resource.ID{
					Group: resource.GroupOf(old), Kind: tree.StrAt(at.node, "kind"), Namespace: namespaceOf(r), Name: tree.StrAt(at.node, "name"),
				}]
				if target == nil || old != changed[target] {
					continue
				}
				r.Edit()
				setText(at.node, "apiVersion", target.APIVersion())
			}
		}
	}
}
