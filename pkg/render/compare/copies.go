package compare

import (
	"maps"
	"reflect"
	"slices"
	"strconv"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/fanout"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// copies compares where ResourceDistributions have their copies: their targets may
// change, and so may the namespaces that those select.
func (c *comparison) copies() {
	was, is := c.old.copies(), c.now.copies()
	for _, r := range c.now.facts.Stream(kruise.Group, kruise.KindResourceDistribution) {
		out := compareCopies(was[r.Name()], is[r.Name()])
		out.Kind, out.Name = tree.StrAt(r.Node(), "spec", "resource", "kind"), tree.StrAt(r.Node(), "spec", "resource", "metadata", "name")
		out.Unknown = unknownTargets(r, c.now)
		ch := c.byID[c.now.facts.IDOf(r)]
		if ch == nil && len(out.Added)+len(out.Removed)+len(out.Changed) == 0 {
			continue
		}
		ch = c.affected(r)
		ch.Copies = out
		if len(out.Removed) > 0 {
			ch.add(Loss, "spec.targets", "copies are deleted in "+firstNames(out.Removed)+": pods there that use them do not start any more")
		}
	}
	for _, r := range c.old.facts.Stream(kruise.Group, kruise.KindResourceDistribution) {
		if ch := c.byID[c.old.facts.IDOf(r)]; ch != nil && ch.Verb == Removed {
			ch.Copies = compareCopies(was[r.Name()], nil)
			ch.Copies.Kind, ch.Copies.Name = tree.StrAt(r.Node(), "spec", "resource", "kind"), tree.StrAt(r.Node(), "spec", "resource", "metadata", "name")
			ch.add(Loss, "", "its copies are deleted with it: pods that use them do not start any more")
		}
	}
}

func compareCopies(was, is map[string]any) *Copies {
	out := &Copies{}
	for _, namespace := range slices.Sorted(maps.Keys(is)) {
		switch old, had := was[namespace]; {
		case !had:
			out.Added = append(out.Added, namespace)
		case !reflect.DeepEqual(old, is[namespace]):
			out.Changed = append(out.Changed, namespace)
		default:
			out.Kept++
		}
	}
	for _, namespace := range slices.Sorted(maps.Keys(was)) {
		if _, has := is[namespace]; !has {
			out.Removed = append(out.Removed, namespace)
		}
	}
	return out
}

// unknownTargets reports whether targets are chosen among namespaces of which
// none is known.
func unknownTargets(r *resource.Resource, s *side) bool {
	targets := tree.Get(r.Node(), "spec", "targets")
	chosen := tree.Bool(tree.Get(targets, "allNamespaces")) || tree.Get(targets, "namespaceSelector") != nil || tree.Get(targets, "namespaceLabelSelector") != nil
	return chosen && len(s.facts.All("", "Namespace")) == 0
}

// copies are all copies of the side by the name of their distribution and by
// namespace. Those of one that cannot be made are left out, which package check
// has the words for.
func (s *side) copies() map[string]map[string]any {
	in := slices.DeleteFunc(s.facts.Stream(kruise.Group, kruise.KindResourceDistribution), func(r *resource.Resource) bool { return !s.isAccepted(r) })
	made, err := fanout.Run(newContext(s.stage.Running, s.facts, s.stage.Kruise), in)
	if err != nil {
		made = nil
		for _, r := range in {
			if own, err := fanout.Run(newContext(s.stage.Running, s.facts, s.stage.Kruise), []*resource.Resource{r}); err == nil {
				made = append(made, own...)
			}
		}
	}
	out := map[string]map[string]any{}
	for _, r := range made {
		from := r.Annotation(kruise.ResourceDistributedByAnnotation)
		if out[from] == nil {
			out[from] = map[string]any{}
		}
		f := formOf(r, false)
		normalise(r, f.value)
		maskSecrets(r, f.value)
		out[from][r.Namespace()] = f.value
	}
	return out
}

// firstNames writes the first of several names.
func firstNames(names []string) string {
	const most = 5
	text := ""
	for i, name := range names {
		switch {
		case i == most:
			return text + " and " + strconv.Itoa(len(names)-most) + " more"
		case i > 0:
			text += ", "
		}
		text += name
	}
	return text
}
