package references

import (
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// pieces is what a referrer becomes when its target was split: objects that
// take its place, and the finding that says so.
type pieces struct {
	objects    []*resource.Resource
	id, detail string
}

// stranded handles a reference that no single object can take over.
func (f *follower) stranded(l link) []*resource.Resource {
	switch {
	case len(l.became) == 0:
		f.drop("references/gone", l)
	case len(l.became) == 1:
		f.drop("references/unfit", l)
	default:
		if l.ref.split != nil {
			if p, ok := l.ref.split(f, l); ok {
				f.c.Findings.Add(p.id, l.r, l.at.path, l.story()+": "+p.detail)
				return p.objects
			}
		}
		f.drop("references/split", l)
	}
	return nil
}

// drop reports that the referrer leaves the output.
func (f *follower) drop(id string, l link) {
	f.c.Findings.Add(id, l.r, l.at.path, l.story()+": this "+l.r.Kind()+" cannot name that and is left out")
}

// story says what became of the target.
func (l link) story() string {
	if len(l.became) == 0 {
		return l.old.Kind + " " + l.old.Name + " is no longer there"
	}
	now := make([]string, len(l.became))
	for i, t := range l.became {
		now[i] = t.Kind + " " + t.Name
	}
	return l.old.Kind + " " + l.old.Name + " became " + strings.Join(now, ", ")
}

// perPiece returns one copy of the referrer for each of targets, named after
// it; ok is false when such a name is taken already.
func (f *follower) perPiece(l link, targets []stage.Target) (copies []*resource.Resource, ok bool) {
	for _, t := range targets {
		suffix := t.Name
		if rest, cut := strings.CutPrefix(t.Name, l.old.Name+"-"); cut {
			suffix = rest
		}
		id := l.r.ID()
		id.Name += "-" + suffix
		if f.c.Facts.Find(id) != nil {
			return nil, false
		}
		n := tree.Clone(tree.Root(l.r.Node()))
		tree.SetAt(n, tree.String(id.Name), "metadata", "name")
		stage.ForgetOrigin(n)
		ref, _ := tree.At(n, l.at.path)
		point(ref, t)
		copies = append(copies, resource.Derived(n, l.r))
	}
	return copies, true
}
