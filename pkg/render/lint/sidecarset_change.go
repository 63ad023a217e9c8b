package lint

import "github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"

func notUpgradable(s *subject) {
	if s.was == nil {
		return
	}
	e := rules.SidecarSetEligible(s.was.Template, s.workload.Template)
	for _, f := range e.Fields {
		if f.Effect == rules.EffectRecreate {
			s.say(f.Path, "recreate the pods to give it to them", "running pods keep the old sidecar: %s", f.Why)
		}
	}
}
