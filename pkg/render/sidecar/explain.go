package sidecar

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/inject"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// explain says for every set why it was injected into the template or not.
func (s *injector) explain(r *resource.Resource, t stage.Template, choices []inject.Choice) {
	if s.Explain == nil {
		return
	}
	for _, c := range choices {
		s.Explain.Add(r, stage.Explanation{
			Path: t.Path, SidecarSet: c.Set.Name,
			Injected: c.Outcome == inject.Injected, Reason: c.Why(),
		})
	}
}

func (s *injector) explainOutside(r *resource.Resource, t stage.Template, ns *namespace) {
	if s.Explain == nil {
		return
	}
	for _, set := range s.sets {
		s.Explain.Add(r, stage.Explanation{
			Path: t.Path, SidecarSet: set.Name,
			Reason: "namespace " + ns.name + " has the label " + outsideLabel + ", which keeps Kruise's webhook away",
		})
	}
}
