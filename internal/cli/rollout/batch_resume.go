package rollout

import (
	"context"
	"errors"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// begun is the rollout under way that leads where a plan does; nil where none is under
// way. One that leads elsewhere is an error.
func (p *Part) begun(to plan.Plan) (*kube.Record, error) {
	rec, err := p.session.Rollout()
	switch {
	case errors.Is(err, kube.ErrNone), err == nil && over(rec):
		return nil, nil //nolint:nilnil // that none is under way is no error
	case err != nil:
		return nil, err
	case !sameGoal(rec.Plan, to):
		return nil, p.batch.free(p.session)
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

// goOn drives the rollout that is under way from where it stands.
func (p *Part) goOn(ctx context.Context) (apply.Result, error) {
	records, err := p.batch.records()
	if err != nil {
		return apply.Result{}, err
	}
	rec, err := records.Change(ctx, p.session.target.Ref, holder(), func(r *kube.Record) error {
		rested(r)
		return nil
	})
	if err != nil {
		return apply.Result{}, err
	}
	s := *p.session // watched anew, so that the record is the changed one
	if err := p.batch.watch(ctx, &s); err != nil {
		return apply.Result{}, err
	}
	defer s.Close()
	held, release, err := p.batch.hold(ctx, &s, rec.Plan)
	if err != nil {
		return apply.Result{}, err
	}
	defer release()
	if rec, err = s.Resume(); err != nil {
		return apply.Result{}, err
	}
	return p.batch.carryOut(held, &s, rec.Plan)
}
