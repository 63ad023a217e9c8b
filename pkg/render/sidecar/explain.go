package sidecar

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
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
		e := stage.Explanation{
			Path: t.Path, SidecarSet: c.Set.Name,
			Injected: c.Outcome == inject.Injected, Reason: c.Why(),
		}
		if e.Injected && s.Admitted[c.Set.Name] != nil {
			e.Injected, e.Reason = false, "left to its policy: "+e.Reason
		}
		s.Explain.Add(r, e)
	}
}

func (s *injector) explainOutside(r *resource.Resource, t stage.Template, ns *namespace) {
	if s.Explain == nil {
		return
	}
	for _, set := range s.sets {
		s.Explain.Add(r, stage.Explanation{
			Path: t.Path, SidecarSet: set.Name,
			Reason: "namespace " + ns.name + " has the label " + kruise.OutsideLabel + ", which keeps Kruise's webhook away",
		})
	}
}
