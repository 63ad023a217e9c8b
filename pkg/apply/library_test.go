package apply_test

import (
	"context"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// library is how a Go program uses the rollouts of a cluster, each act in a call.
type library struct{ apply.Rollouts }

func (l library) act(ctx context.Context, ref cluster.Ref, a apply.Act) (plan.Record, error) {
	d, err := l.Do(ctx, ref, a)
	return d.Record, err
}

func (l library) Promote(ctx context.Context, ref cluster.Ref, how plan.Promotion) (plan.Record, error) {
	return l.act(ctx, ref, apply.Act{Transition: plan.TransitionPromote, How: how})
}

func (l library) Pause(ctx context.Context, ref cluster.Ref) (plan.Record, error) {
	return l.act(ctx, ref, apply.Act{Transition: plan.TransitionPause})
}

func (l library) Resume(ctx context.Context, ref cluster.Ref) (plan.Record, error) {
	return l.act(ctx, ref, apply.Act{Transition: plan.TransitionResume})
}

func (l library) Retry(ctx context.Context, ref cluster.Ref) (plan.Record, error) {
	return l.act(ctx, ref, apply.Act{Transition: plan.TransitionRetry})
}

func (l library) Abort(ctx context.Context, ref cluster.Ref) (plan.Record, error) {
	return l.act(ctx, ref, apply.Act{Transition: plan.TransitionAbort})
}

// Run records a plan and carries it out.
func (l library) Run(ctx context.Context, ref cluster.Ref, p plan.Plan, o apply.Options) (apply.Result, error) {
	return l.opened(ctx, ref, o, func(w apply.Workload) (*apply.Executor, error) { return l.Begin(ctx, w, p) })
}

// Drive carries out what is left of the recorded rollout.
func (l library) Drive(ctx context.Context, ref cluster.Ref, o apply.Options) (apply.Result, error) {
	return l.opened(ctx, ref, o, func(w apply.Workload) (*apply.Executor, error) { return l.TakeOver(ctx, w) })
}

// RollBack ends the recorded rollout and carries out the way back.
func (l library) RollBack(ctx context.Context, ref cluster.Ref, o apply.Options) (apply.Result, error) {
	if _, err := l.Change(ctx, ref, apply.Act{Transition: plan.TransitionRollBack}); err != nil {
		return apply.Result{}, err
	}
	return l.opened(ctx, ref, o, func(w apply.Workload) (*apply.Executor, error) {
		return l.Rollback(ctx, w, apply.AbortedBy(l.By))
	})
}

// Undo leads a workload back to the revision before the present one.
func (l library) Undo(ctx context.Context, ref cluster.Ref, o apply.Options) (apply.Result, error) {
	return l.opened(ctx, ref, o, func(w apply.Workload) (*apply.Executor, error) {
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
		p, err := plan.Build(desired, s, plan.Policy{})
		if err != nil {
			return nil, err
		}
		return l.Begin(ctx, w, p)
	})
}

func (l library) opened(ctx context.Context, ref cluster.Ref, o apply.Options, start func(apply.Workload) (*apply.Executor, error)) (apply.Result, error) {
	w, err := l.Workloads.Open(ctx, ref)
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
