package apply

import (
	"context"
	"errors"
	"fmt"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// Executor is a rollout that this process drives: no other does until Run returns, or
// Release is called.
type Executor struct {
	workload Workload
	ref      cluster.Ref
	plan     plan.Plan
	held     context.Context //nolint:containedctx // it ends with the hold, which outlives the call that took it
	release  func()
	// from and through are the first and the last step that may be carried out; nil is the
	// plan's last.
	from    int
	through *int
	// marks indicates that the plan is one that its user has approved, so that its first write marks
	// the workload, see [plan.BegunAnnotation].
	marks bool
}

// Begin records a plan for an opened workload, to be driven. It is refused while
// another rollout of the workload is in flight.
func (r Rollouts) Begin(ctx context.Context, w Workload, p plan.Plan) (*Executor, error) {
	return r.hold(ctx, w, p, func(e *Executor) error {
		if err := Idle(w, plan.TransitionBegin); err != nil {
			return err
		}
		if err := r.approve(e.held, p); err != nil {
			return err
		}
		e.marks = true
		return w.Begin(e.held, e.ref, p)
	})
}

// TakeOver takes over what is left of the recorded rollout of an opened workload, which no process has driven for a while:
// the time limit of its present step counts from now, and a pause stays in force.
func (r Rollouts) TakeOver(ctx context.Context, w Workload) (*Executor, error) {
	e, _, err := r.takeOver(ctx, w, Act{})
	return e, err
}

// takeOver has the recorded rollout of an opened workload make a transition, and takes over
// what is left of it then. Whether this process may drive it is
// decided first: a refusal leaves the record as it was, and so does another process that
// drives the rollout.
func (r Rollouts) takeOver(ctx context.Context, w Workload, a Act) (*Executor, plan.Record, error) {
	rec, err := w.Rollout()
	if err != nil {
		return nil, rec, err
	}
	e, err := r.hold(ctx, w, rec.Plan, func(e *Executor) (err error) {
		for try := 1; ; try++ {
			if rec, err = r.transit(e, a); !errors.Is(err, plan.ErrConflict) || try == mostTransits {
				return err
			}
		}
	})
	return e, rec, err
}

// mostTransits is how often a record is looked at again that another process has changed
// while the person was asked.
const mostTransits = 5

// transit decides on the record as it is now, and has it make the transition if nothing has
// changed meanwhile.
func (r Rollouts) transit(e *Executor, a Act) (plan.Record, error) {
	rec, err := e.workload.Resume()
	if err != nil {
		return rec, err
	}
	s, err := e.workload.Observe(e.held, e.ref)
	if err != nil {
		return rec, err
	}
	rec.Progress = s.Progress
	if s.Progress, err = r.progressAfter(rec, a); err != nil {
		return rec, err
	}
	e.plan, e.from, e.through, e.marks = rec.Plan, 0, nil, false
	if err := r.mayDrive(e, s, rec.Plan, false); err != nil {
		return rec, err
	}
	after, err := r.progressAfter(rec, a) // the person took time to answer
	if err != nil {
		return rec, err
	}
	return e.workload.Decide(e.held, e.ref, s.Version, after)
}

// Rollback records the way back of a rollout that has ended, see [plan.Rollback]; why is
// what ended it. Where no pod was updated, the plan of the executor has no steps, the
// record stays as it is, and there is nothing to drive.
func (r Rollouts) Rollback(ctx context.Context, w Workload, why string) (*Executor, error) {
	rec, err := w.Rollout()
	if err != nil {
		return nil, err
	}
	// A rollback that another process carries out is completed once this one holds the Lease; it is not
	// what is to be rolled back.
	if err := rec.Progress.Allows(plan.TransitionRollBack, rec.Plan); err != nil {
		return nil, err
	}
	return r.hold(ctx, w, rec.Plan, func(e *Executor) error {
		// Another process may have driven it until now, or have rolled it back.
		before := rec.Begun
		rec, err := w.Rollout()
		if err != nil {
			return err
		}
		if !rec.Begun.Equal(before) {
			return fmt.Errorf("the rollout was replaced meanwhile: %s", rec.Describe())
		}
		if err := rec.Progress.Allows(plan.TransitionRollBack, rec.Plan); err != nil {
			return err
		}
		e.plan, _, err = WayBack(e.held, w, rec, why)
		if err != nil || len(e.plan.Steps) == 0 {
			return err
		}
		// The person asks for the way back, so it is carried out whole; that it leads to
		// a template of the workload's own has to be certain.
		back := e.plan
		s, err := w.Observe(e.held, e.ref)
		if err != nil {
			return err
		}
		s.Progress = plan.Progress{}
		if err := r.mayDrive(e, s, rec.Plan, true); err != nil {
			return err
		}
		e.plan, e.from, e.through, e.marks = back, 0, nil, true // made here, of the live object
		if err := r.approve(e.held, e.plan); err != nil {
			return err
		}
		return w.Begin(e.held, e.ref, e.plan)
	})
}

// WayBack makes the plan that takes a rollout back from where it is, and returns it with
// what is known of the workload. Nothing is written.
func WayBack(ctx context.Context, w Workload, rec plan.Record, why string) (plan.Plan, plan.Snapshot, error) {
	s, err := w.Observe(ctx, rec.Plan.Target.Ref())
	if err != nil {
		return plan.Plan{}, s, err
	}
	back, err := plan.Rollback(rec.Plan, s, why)
	return back, s, err
}

// DeniedError is a rollout that cannot be driven, because its caller lacks permissions.
type DeniedError struct{ Err error }

// Error reports which.
func (e *DeniedError) Error() string { return e.Err.Error() }

// Unwrap returns the cluster's error.
func (e *DeniedError) Unwrap() error { return e.Err }

// hold makes this process the one that drives a plan, and starts it.
func (r Rollouts) hold(ctx context.Context, w Workload, p plan.Plan, start func(*Executor) error) (*Executor, error) {
	if err := w.May(ctx, p); err != nil {
		return nil, &DeniedError{err}
	}
	e := &Executor{workload: w, ref: p.Target.Ref(), plan: p}
	var err error
	if e.held, e.release, err = w.Hold(ctx, r.Workloads.Waiting); err != nil {
		return nil, err
	}
	if err := start(e); err != nil {
		e.release()
		return nil, err
	}
	return e, nil
}

// Record returns the rollout that is driven, as it is recorded now.
func (e *Executor) Record() (plan.Record, error) { return e.workload.Rollout() }

// Plan returns the plan that is carried out.
func (e *Executor) Plan() plan.Plan { return e.plan }

// Run carries the plan out as [Run] does, tells other users of the cluster, and lets go
// of the rollout. A plan without steps is done.
func (e *Executor) Run(o Options) (Result, error) {
	defer e.release()
	if len(e.plan.Steps) == 0 {
		return Result{Outcome: event.Completed, Reason: e.plan.Change.Why, Plan: e.plan}, nil
	}
	o.From, o.marks = max(o.From, e.from), e.marks
	if e.through != nil && (o.Through == nil || *e.through < *o.Through) {
		o.Through = e.through
	}
	emit := o.Emit
	o.Emit = func(told event.Event) {
		if emit != nil {
			emit(told)
		}
		e.workload.Announce(told)
	}
	return Run(e.held, e.workload, e.ref, e.plan, o)
}

// Release lets go of a rollout that is not run.
func (e *Executor) Release() { e.release() }
