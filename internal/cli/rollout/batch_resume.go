package rollout

import (
	"errors"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// begun is the rollout under way that leads where a plan does; nil where none is under
// way. One that leads elsewhere is an error.
func (p *Part) begun(to plan.Plan) (*plan.Record, error) {
	rec, err := p.session.Rollout()
	switch {
	case errors.Is(err, plan.ErrNoRollout), err == nil && !rec.InFlight():
		return nil, nil //nolint:nilnil // that none is under way is no error
	case err != nil:
		return nil, err
	case !sameGoal(rec.Plan, to):
		return nil, apply.Idle(p.session, plan.TransitionBegin)
	}
	return &rec, nil
}

// sameGoal reports whether a plan leads to the state that another one, which may have
// nothing left to do, leads to.
func sameGoal(a, b plan.Plan) bool {
	if a.RollsBack != "" || a.Change.ToHash != b.Change.ToHash {
		return false
	}
	updated, kept := goal(a)
	u, k := goal(b)
	return len(b.Steps) == 0 || updated == u && kept == k
}

// goal is how many pods carry the new template in the end, and how many the old.
func goal(p plan.Plan) (updated, kept int) {
	for i := range p.Steps {
		if s := &p.Steps[i]; s.Updated > 0 || s.Kept > 0 {
			updated, kept = s.Updated, s.Kept
		}
	}
	return updated, kept
}
