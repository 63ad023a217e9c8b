// Package library is how a Go program uses the rollouts of a cluster: each in one call, from its beginning to its end.
package library

import (
	"context"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// Rollouts are those of a cluster.
type Rollouts struct{ apply.Rollouts }

// Run records a plan and carries it out.
func (r Rollouts) Run(ctx context.Context, ref cluster.Ref, p plan.Plan, o apply.Options) (apply.Result, error) {
	return r.opened(ctx, ref, o, func(w apply.Workload) (*apply.Executor, error) { return r.Begin(ctx, w, p) })
}

// Drive carries out what is left of the recorded rollout.
func (r Rollouts) Drive(ctx context.Context, ref cluster.Ref, o apply.Options) (apply.Result, error) {
	return r.opened(ctx, ref, o, func(w apply.Workload) (*apply.Executor, error) { return r.TakeOver(ctx, w) })
}

// RollBack ends the recorded rollout and carries out the way back.
func (r Rollouts) RollBack(ctx context.Context, ref cluster.Ref, o apply.Options) (apply.Result, error) {
	if _, err := r.Change(ctx, ref, apply.Act{Transition: plan.TransitionRollBack}); err != nil {
		return apply.Result{}, err
	}
	return r.opened(ctx, ref, o, func(w apply.Workload) (*apply.Executor, error) {
		return r.Rollback(ctx, w, apply.AbortedBy(r.By))
	})
}

// Undo leads a workload back to the revision before the present one by a policy.
func (r Rollouts) Undo(ctx context.Context, ref cluster.Ref, policy plan.Policy, o apply.Options) (apply.Result, error) {
	return r.opened(ctx, ref, o, func(w apply.Workload) (*apply.Executor, error) {
		if err := apply.Idle(w, plan.TransitionUndo); err != nil {
			return nil, err
		}
		s, err := w.Observe(ctx, ref)
		if err != nil {
			return nil, err
		}
		older, err := plan.OlderRevision(s, 0)
		if err != nil {
			return nil, err
		}
		desired, err := plan.WithTemplate(s.Object(), older.Template)
		if err != nil {
			return nil, err
		}
		p, err := plan.Build(desired, s, policy)
		if err != nil {
			return nil, err
		}
		return r.Begin(ctx, w, p)
	})
}

// opened opens a workload and carries out what start begins.
func (r Rollouts) opened(ctx context.Context, ref cluster.Ref, o apply.Options, start func(apply.Workload) (*apply.Executor, error)) (apply.Result, error) {
	w, err := r.Workloads.Open(ctx, ref)
	if err != nil {
		return apply.Result{}, err
	}
	defer w.Close()
	e, err := start(w)
	if err != nil {
		return apply.Result{}, err
	}
	return e.Run(o)
}
