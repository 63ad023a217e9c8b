package plan

import (
	"fmt"
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// patches sends a step's patches one after the other, and waits for what must hold
// afterwards. Whether one was sent is read off the object, so a decision whose
// action got lost is made again; Progress.Sent counts those that were seen there.
func (r *run) patches(s *Step) (Decision, bool) {
	for r.progress.Sent < len(s.Patches) {
		p := &s.Patches[r.progress.Sent]
		if !inForce(p, r.object()) {
			return r.send(s, p), false
		}
		r.progress.Sent++
	}
	return r.settle(s)
}

// send decides about a patch that is not in force.
func (r *run) send(s *Step, p *Patch) Decision {
	if err := r.plan.CheckPatch(s.Kind, p); err != nil {
		return r.halt(Blocker{Gate: GateProgress, Why: fmt.Sprintf("step %s is not of a plan that may be carried out: %v", s.Name, err)})
	}
	switch n := r.updated(); {
	case s.Kind == StepUpdate && r.plan.Change.Mode == rules.ModeNotAllowed:
		return r.halt(Blocker{Gate: GateNotAllowed, Why: r.plan.Change.Why + "; the update policy forbids to recreate pods"})
	case n < p.Reached:
		if bad := r.failures(); len(bad) > 0 {
			return r.halt(bad...)
		}
		return r.unfinished(s, Blocker{Gate: GateUpdated, Why: fmt.Sprintf("%d of %d pods are updated", n, p.Reached)})
	}
	// The resource version is not pinned: status changes all the time.
	return r.act(s.Title, Action{Patch: p, Precondition: Precondition{UID: r.object().UID}})
}

// settle waits for what must hold after a step.
func (r *run) settle(s *Step) (Decision, bool) {
	if r.progress.Promoted {
		return Decision{}, true
	}
	missing := r.missing(s)
	if len(missing) == 0 {
		return Decision{}, true
	}
	if bad := append(r.failures(), r.health().overdue...); len(bad) > 0 {
		return r.halt(bad...), false
	}
	budgets, never := r.blockedByBudget()
	if never {
		return r.unfinished(s, slices.Concat(budgets, r.health().held, missing, r.health().waiting)...), false
	}
	return r.unfinished(s, slices.Concat(r.health().held, missing, budgets, r.health().waiting)...), false
}
