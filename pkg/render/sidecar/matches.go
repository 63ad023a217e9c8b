package sidecar

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/inject"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// Matches says for each pod template in the list which SidecarSets of the facts
// would go into it, without putting them in. Sets and templates that cannot be
// read are left out.
func Matches(c *stage.Context, list []*resource.Resource) []stage.Explanation {
	sets, _, _ := collect(c, c.Facts.Stream(kruise.Group, kind))
	s := &injector{Context: c, sets: sets, namespaces: newNamespaces(c)}
	if s.Explain == nil {
		s.Explain = &stage.Explain{}
	}
	for _, r := range list {
		templates, _ := s.Templates(r)
		for _, t := range templates {
			s.match(r, t)
		}
	}
	return s.Explain.List()
}

func (s *injector) match(r *resource.Resource, t stage.Template) {
	ns := s.namespaces.get(s.Facts.NamespaceOf(r))
	if ns.outside() {
		return
	}
	if choices, err := s.choose(r, t, ns); err == nil {
		s.explain(r, t, choices)
	}
}

// choose decides which sets go into a template.
func (s *injector) choose(r *resource.Resource, t stage.Template, ns *namespace) ([]inject.Choice, error) {
	return inject.Choose(s.sets, &inject.Target{
		Labels:          tree.Strings(tree.Get(t.Node, "metadata", "labels")),
		NamespaceLabels: ns.labels, NamespaceKnown: ns.known,
		Key: r.ID().String() + "/" + t.Path,
	})
}
