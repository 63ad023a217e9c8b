package plan

import (
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// Touch is what a run of a plan does to one of the pods that there are, in the model of a cluster.
type Touch struct {
	// Step is the index of the step in which the pod is changed first.
	Step            int
	Name, UID, Node string
	// Mode is what becomes of the pod in the end.
	Mode rules.UpdateMode
	// Surplus is a pod that is deleted because there are more than the workload wants.
	Surplus bool
	// Tie numbers the set of pods of which scale-down takes any, 0 for none; of surplus pods.
	Tie int
}

// BuildRun is [Build] with the pods that steps name taken from a run of the plan. run is called
// once, with the plan as far as it has steps; warnings are those of its answer.
func BuildRun(desired *cluster.Workload, s Snapshot, policy Policy, run func(Plan) []Touch) (Plan, error) {
	return newBuilder(desired, s.Object(), s, policy).build(run)
}

// WithTouches returns the plan with the pods that a run of it changes in its steps.
func (p Plan) WithTouches(list []Touch) Plan {
	expected := map[string]PodStep{}
	p.Steps = slices.Clone(p.Steps)
	for i := range p.Steps {
		step := &p.Steps[i]
		if !step.changesPods() {
			continue
		}
		for _, pod := range step.Pods {
			expected[pod.UID] = pod
		}
		step.Pods = nil
	}
	for _, t := range list {
		if t.Step >= len(p.Steps) || !p.Steps[t.Step].changesPods() {
			continue
		}
		out := PodStep{Name: t.Name, UID: t.UID, Node: t.Node, Mode: t.Mode, Tie: t.Tie, Why: p.reasonOf(t)}
		if e, ok := expected[t.UID]; ok {
			if !t.Surplus {
				out.Tie = e.Tie
			}
			if e.Mode == t.Mode {
				out.Why = e.Why
			}
		}
		p.Steps[t.Step].Pods = append(p.Steps[t.Step].Pods, out)
	}
	for i := range p.Steps {
		if s := &p.Steps[i]; s.Kind == StepUpdate && len(s.Pods) == 0 && s.quiet() {
			s.Title += noPodChanges
		}
	}
	return p
}

// reasonOf is why a pod changes that the update order has no reason for.
func (p *Plan) reasonOf(t Touch) string {
	switch {
	case t.Mode == rules.ModeRecreate && t.Surplus:
		return surplusReason
	case t.Mode == rules.ModeDelete:
		return leavingReason
	case t.Mode == rules.ModeRecreate && p.Change.FromHash == p.Change.ToHash:
		return namedReason
	}
	return p.Change.Why
}

// noPodChanges ends the title of a step that writes the template alone.
const noPodChanges = "; no pod changes"

// changesPods reports whether pods follow what the step writes.
func (s *Step) changesPods() bool {
	switch s.Kind {
	case StepUpdate, StepPartition, StepInPlace, StepRecreate:
		return true
	}
	return false
}

// quiet reports a step that waits for no other number of pods, and updates none.
func (s *Step) quiet() bool {
	_, sized := conditionValue(s.After, HoldsReplicas)
	_, updates := conditionValue(s.After, HoldsUpdatedAvailable)
	return !sized && !updates
}
