package apply

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// Act is what a user decides about the recorded rollout of a workload, whether by a verb, by a key of the interface or
// in a Go program. The zero value leaves the rollout as it is, and has the time limit of its present step count from now.
type Act struct {
	// Transition is one that keeps the recorded plan; "" is none.
	Transition plan.Transition
	// How is how far it promotes.
	How plan.Promotion
	// AfterStep has it pause at the end of the present step alone.
	AfterStep bool
	// Why is the reason that the record has for an abort; "" names who aborts.
	Why string
	// Continues has the caller carry out what is left then, unless another process does.
	Continues bool
	// Confirmed is what a user has confirmed, see [Act.Means]: the act is refused by [ErrChanged] where it
	// means something else by now. "" is not compared.
	Confirmed string
}

// GoesBack reports whether the work of the rollout is taken back then.
func (a Act) GoesBack() bool { return a.Transition == plan.TransitionRollBack }

// Apply makes the transition; by names who decides, for others to read. A refusal is a *plan.TransitionError.
func (a Act) Apply(p plan.Progress, of plan.Plan, by string, now time.Time) (plan.Progress, error) {
	why := a.Why
	if why == "" {
		why = AbortedBy(by)
	}
	switch a.Transition {
	case "":
		return p.TakeOver(of, now), nil
	case plan.TransitionPromote:
		return p.Promote(of, a.How, now)
	case plan.TransitionResume:
		return p.Resume(of, now)
	case plan.TransitionRetry:
		return p.Retry(of, now)
	case plan.TransitionPause:
		if a.AfterStep {
			return p.PauseAfterStep(of, by, now)
		}
		return p.Pause(of, by, now)
	case plan.TransitionRollBack:
		return p.RollBack(of, why)
	case plan.TransitionAbort:
		return p.Abort(of, why)
	}
	return p, fmt.Errorf("%s changes no recorded rollout", a.Transition)
}

// AbortedBy is the reason that a record has for an abort without another one.
func AbortedBy(by string) string { return "aborted by " + by }

// Means identifies what a user confirms of a rollout: which one, and which step of it, or whether it continues.
func (a Act) Means(r plan.Record) string {
	of := "rollout of " + r.Begun.UTC().String()
	switch a.Transition {
	case plan.TransitionPromote:
		return fmt.Sprintf("step %d, %s", r.Progress.Step, of)
	case plan.TransitionAbort, plan.TransitionRollBack:
		return of
	}
	return fmt.Sprintf("held %t, halted %t, %s", r.Progress.PausedBy != "", r.Progress.Failed != "", of)
}

// ErrChanged refuses an act that no longer means what the user has confirmed.
var ErrChanged = errors.New("it has changed since the question was asked: nothing is done")

// progressAfter is how far a rollout has come once the act is done.
func (r Rollouts) progressAfter(rec plan.Record, a Act) (plan.Progress, error) {
	if a.Confirmed != "" && a.Means(rec) != a.Confirmed {
		return rec.Progress, ErrChanged
	}
	return a.Apply(rec.Progress, rec.Plan, r.By, r.Workloads.Now())
}

// Done is what became of an [Act].
type Done struct {
	Record plan.Record
	// Executor and Workload are what the caller carries out, and closes then; nil where another process
	// does that, or may: Elsewhere is the reason. It is nil for an act after which nothing is carried
	// out, wraps plan.ErrOtherExecutor, or is a *DeniedError.
	Executor  *Executor
	Workload  Workload
	Elsewhere error
}

// Do has the recorded rollout of a workload make a transition. A process that drives the rollout has
// the say, and follows at once. Where none does, this one takes the rollout over first: the record
// stays as it is where that is refused for the rollout's sake. Who may decide and not carry out only
// changes the record. A rollout that is paused or aborted updates no further pod when Do returns; a *StopError
// says that this is recorded, and the controller not stopped: also then, an executor is the caller's to run or to release.
func (r Rollouts) Do(ctx context.Context, ref cluster.Ref, a Act) (d Done, err error) {
	tried := false
	if a.Continues {
		if by, err := r.Holder(ctx, ref); err != nil || by == "" {
			if d, err = r.take(ctx, ref, a); err != nil {
				return d, err
			}
			tried = true
		}
	}
	if d.Executor == nil {
		rec, err := r.Change(ctx, ref, a)
		if err == nil && a.Continues && !tried {
			d, err = r.take(ctx, ref, Act{})
		}
		if d.Record = rec; err != nil {
			return d, err
		}
	}
	if !d.Record.Progress.Stop.Asked {
		return d, nil
	}
	rec, err := r.stop(ctx, ref)
	if err != nil {
		return d, &StopError{err}
	}
	d.Record = rec
	return d, nil
}

// Change has a recorded rollout make a transition and nothing more: the process that drives it follows.
func (r Rollouts) Change(ctx context.Context, ref cluster.Ref, a Act) (plan.Record, error) {
	return r.Records.Change(ctx, ref, r.By, func(rec *plan.Record) (err error) {
		rec.Progress, err = r.progressAfter(*rec, a)
		return err
	})
}

// StopError is an act that is recorded, while the controller of the workload still updates pods. It wraps a *DeniedError
// where the caller may not write the workload.
type StopError struct{ Err error }

// Error is the cause.
func (e *StopError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *StopError) Unwrap() error { return e.Err }

// take opens a workload, and takes its rollout over with an act; where another process has it, or
// this one may not, that is no error.
func (r Rollouts) take(ctx context.Context, ref cluster.Ref, a Act) (d Done, err error) {
	if d.Workload, err = r.Workloads.Open(ctx, ref); err == nil {
		if d.Executor, d.Record, err = r.takeOver(ctx, d.Workload, a); err == nil {
			return d, nil
		}
		d.Workload.Close()
	}
	d.Executor, d.Workload = nil, nil
	if _, denied := errors.AsType[*DeniedError](err); denied || errors.Is(err, plan.ErrOtherExecutor) {
		d.Elsewhere, err = err, nil
	}
	return d, err
}
