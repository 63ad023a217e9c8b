package plan

import "github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"

// Standing is the plan of a workload that nobody rolls out by a plan: its template
// is written already, and its controller brings the pods there. Asked with it, Next
// says whether that is done, and what is missing.
func Standing(s Snapshot) Plan {
	w := s.Object()
	if w == nil || w.Object == nil {
		return Plan{Driver: DriverNative, Steps: []Step{{Name: "update", Kind: StepUpdate}}}
	}
	b := &builder{desired: w, present: w, snap: s}
	b.plan.Driver = kindOf(w.Object).drivers()[0]
	b.compare()
	b.sub = b.subject()
	p := b.plan
	p.Limits = b.sub.limits
	p.Steps = []Step{{
		Name: "update", Kind: StepUpdate, Title: "the controller brings pods to the template", Updated: b.sub.total,
		After: []Condition{{Type: HoldsSettled}},
	}}
	if w.Kind == kruise.KindDeployment {
		p.Steps[0].After = append(p.Steps[0].After, Condition{HoldsComplete, ""})
	}
	return p
}
