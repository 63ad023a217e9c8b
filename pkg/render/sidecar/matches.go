package sidecar

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/inject"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// Matches says which SidecarSets of the facts would go into which pod template in the
// list, without putting them in. Sets and templates that cannot be read are left out.
func Matches(c *stage.Context, list []*resource.Resource) []stage.Explanation {
	sets, _, _ := collect(c, c.Facts.Stream(kruise.Group, kind))
	s := &injector{Context: c, sets: sets, index: inject.NewIndex(sets), namespaces: newNamespaces(c)}
	found := &stage.Explain{}
	for _, r := range list {
		templates, _ := s.Templates(r)
		for _, t := range templates {
			s.match(found, r, t)
		}
	}
	return found.List()
}

func (s *injector) match(found *stage.Explain, r *resource.Resource, t stage.Template) {
	ns := s.namespaces.get(s.Facts.NamespaceOf(r))
	if ns.outside() {
		return
	}
	choices, err := s.index.Choose(target(r, t, ns))
	if err != nil {
		return
	}
	for _, c := range choices {
		if c.Outcome == inject.Injected {
			found.Add(r, stage.Explanation{Path: t.Path, SidecarSet: c.Set.Name, Injected: true, Reason: c.Why()})
		}
	}
}

// choose decides which sets go into a template. Where it is to be explained why, those that
// do not are among the choices.
func (s *injector) choose(r *resource.Resource, t stage.Template, ns *namespace) ([]inject.Choice, error) {
	if s.Explain == nil {
		return s.index.Choose(target(r, t, ns))
	}
	return inject.Choose(s.sets, target(r, t, ns))
}

// target is what matching must know of a template.
func target(r *resource.Resource, t stage.Template, ns *namespace) *inject.Target {
	return &inject.Target{
		Labels:          tree.Strings(tree.Get(t.Node, "metadata", "labels")),
		NamespaceLabels: ns.labels, NamespaceKnown: ns.known,
		Key: r.ID().String() + "/" + t.Path,
	}
}
