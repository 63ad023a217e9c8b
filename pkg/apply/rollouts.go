package apply

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// Records keep the rollouts of a cluster, one for each workload.
type Records interface {
	// Load returns the rollout of a workload; the error wraps plan.ErrNoRollout without
	// one.
	Load(ctx context.Context, ref cluster.Ref) (plan.Record, error)
	// List returns those of a namespace, or of all for "", and apart from them the ones that
	// cannot be read: one record that was edited must not hide the others.
	List(ctx context.Context, namespace string) ([]plan.Record, []UnreadableRecordError, error)
	// Change changes the progress of a rollout as it is recorded now. change is called
	// again where another process has written in between; its error ends the change, and
	// nothing is written. by is who changes it.
	Change(ctx context.Context, ref cluster.Ref, by string, change func(*plan.Record) error) (plan.Record, error)
	// Holder names who drives a rollout now; "" for none.
	Holder(ctx context.Context, ref cluster.Ref) (string, error)
}

// UnreadableRecordError is a ConfigMap that is labelled as the record of a rollout, and cannot be
// read as one: it was edited, or another version has written it.
type UnreadableRecordError struct {
	Namespace, ConfigMap string
	// Group is true for the record of a group of rollouts.
	Group bool
	// Program is what wrote it last, with its version, as it says itself; "" where it does not.
	Program string
	// Err is what is wrong with it.
	Err error
}

// Error names the ConfigMap and what is wrong with it.
func (u UnreadableRecordError) Error() string {
	what := "rollout"
	if u.Group {
		what = "group of rollouts"
	}
	text := fmt.Sprintf("ConfigMap %s/%s holds no %s that this version can read: %v", u.Namespace, u.ConfigMap, what, u.Err)
	if u.Program != "" {
		text += "; " + u.Program + " wrote it last"
	}
	return text
}

// Hint names the commands that show and remove it.
func (u UnreadableRecordError) Hint() string {
	remove := fmt.Sprintf("'kubectl delete configmap %s -n %s' removes it", u.ConfigMap, u.Namespace)
	if !u.Group {
		remove = "'kubectl kruise rollout run … --discard-record' removes it before the next rollout, " + strings.TrimSuffix(remove, " removes it") + " at once"
	}
	finish := ""
	if u.Program != "" {
		finish = "complete or abort it with " + u.Program + ", if that is another version; "
	}
	return fmt.Sprintf("%s'kubectl get configmap %s -n %s -o yaml' shows it; %s, the plan and its history included, and leaves the workload as it is", finish, u.ConfigMap, u.Namespace, remove)
}

// Unwrap returns the cause.
func (u UnreadableRecordError) Unwrap() error { return u.Err }

// Workload is one workload of a cluster, opened so that its rollout can be driven.
type Workload interface {
	Cluster
	// Rollout returns the recorded rollout; the error wraps plan.ErrNoRollout without one.
	Rollout() (plan.Record, error)
	// Resume is Rollout, to be driven from where it is: from now on another one in its
	// place is an error that wraps plan.ErrOtherExecutor. The caller holds the rollout.
	Resume() (plan.Record, error)
	// Decide records a person's change of how far the rollout has come, and returns the
	// record as it is then. The error wraps plan.ErrConflict where another process has
	// recorded something since the snapshot of that version. The caller holds the rollout.
	Decide(ctx context.Context, ref cluster.Ref, since string, p plan.Progress) (plan.Record, error)
	// May reports which permissions carrying a plan out lacks.
	May(ctx context.Context, p plan.Plan) error
	// Hold makes the caller the one that drives the rollout. The context that it returns
	// ends with a cause that wraps plan.ErrOtherExecutor when another has taken over, and
	// release lets go. waiting is called with a holder that may be gone, while it is waited
	// for. The error wraps plan.ErrOtherExecutor where the holder is alive.
	Hold(ctx context.Context, waiting func(holder string)) (held context.Context, release func(), err error)
	// Announce tells other users of the cluster what the rollout does.
	Announce(e event.Event)
	// Close ends what Open began.
	Close()
}

// Rollouts are the rollouts of one cluster: what `kubectl kruise rollout` does, as
// functions. Those that change a record return at once, and the process that drives the
// rollout follows; the others drive it. All of them ask package plan what is allowed, so a
// refusal is a *plan.TransitionError with a hint, and a workload without a rollout an
// error that wraps plan.ErrNoRollout.
type Rollouts struct {
	Records Records
	// Open opens a workload by its name.
	Open func(ctx context.Context, ref cluster.Ref) (Workload, error)
	// By names this program and the person behind it, for others to read.
	By string
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	// Waiting is called with a holder that may be gone, while it is waited for; nil
	// tells no one.
	Waiting func(holder string)
	// Unless is asked before a record changes, of the record as it is then; its error
	// refuses the change. nil allows all.
	Unless func(plan.Record) error
	// Approvals know what the person behind this program has approved. Without them
	// nothing is: a plan from a record is then driven only as far as it changes nothing
	// that runs, and no further than its present step.
	Approvals Approvals
}

// Transition is a change of how far a rollout has come: a method of [plan.Progress] such
// as plan.Progress.Resume.
type Transition func(p plan.Progress, of plan.Plan, now time.Time) (plan.Progress, error)

// List returns the recorded rollouts of a namespace, or of all for "", and the records that
// cannot be read.
func (r Rollouts) List(ctx context.Context, namespace string) ([]plan.Record, []UnreadableRecordError, error) {
	return r.Records.List(ctx, namespace)
}

// Get returns the recorded rollout of a workload.
func (r Rollouts) Get(ctx context.Context, ref cluster.Ref) (plan.Record, error) {
	return r.Records.Load(ctx, ref)
}

// Holder names who drives a rollout now; "" for none.
func (r Rollouts) Holder(ctx context.Context, ref cluster.Ref) (string, error) {
	return r.Records.Holder(ctx, ref)
}

// Change has a recorded rollout make a transition, and returns it as it is then.
func (r Rollouts) Change(ctx context.Context, ref cluster.Ref, t Transition) (plan.Record, error) {
	return r.Records.Change(ctx, ref, r.By, func(rec *plan.Record) error {
		if r.Unless != nil {
			if err := r.Unless(*rec); err != nil {
				return err
			}
		}
		next, err := t(rec.Progress, rec.Plan, r.now())
		rec.Progress = next
		return err
	})
}

// Promotion is the transition that promotes a rollout so far.
func Promotion(how plan.Promotion) Transition {
	return func(p plan.Progress, of plan.Plan, now time.Time) (plan.Progress, error) {
		return p.Promote(of, how, now)
	}
}

// Pausing is the transition that puts a rollout on hold; by is who does. [Rollouts.Stop]
// returns when no further pod is updated.
func Pausing(by string) Transition {
	return func(p plan.Progress, of plan.Plan, now time.Time) (plan.Progress, error) { return p.Pause(of, by, now) }
}

// PausingAfterStep is the transition that puts a rollout on hold at the end of its present
// step; by is who does.
func PausingAfterStep(by string) Transition {
	return func(p plan.Progress, of plan.Plan, now time.Time) (plan.Progress, error) {
		return p.PauseAfterStep(of, by, now)
	}
}

// Aborting is the transition that ends a rollout where it is. With back, its work is to
// be undone, so one that is done has it, too.
func Aborting(why string, back bool) Transition {
	return func(p plan.Progress, of plan.Plan, _ time.Time) (plan.Progress, error) {
		if back {
			return p.RollBack(of, why)
		}
		return p.Abort(of, why)
	}
}

// TakingOver is the transition that has the time limit of the present step count from now.
// It is for a rollout that no process has driven for a while, see [Rollouts.Transit]; a hold
// stays in force.
func TakingOver(p plan.Progress, of plan.Plan, now time.Time) (plan.Progress, error) {
	return p.TakeOver(of, now), nil
}

// Promote lets a rollout continue past its present step, or past pauses.
func (r Rollouts) Promote(ctx context.Context, ref cluster.Ref, how plan.Promotion) (plan.Record, error) {
	return r.Change(ctx, ref, Promotion(how))
}

// Pause puts a rollout on hold, and returns when no further pod is updated.
func (r Rollouts) Pause(ctx context.Context, ref cluster.Ref) (plan.Record, error) {
	return r.stopped(ctx, ref, Pausing(r.By))
}

// stopped has a rollout make a transition that stops its controller.
func (r Rollouts) stopped(ctx context.Context, ref cluster.Ref, t Transition) (plan.Record, error) {
	if rec, err := r.Change(ctx, ref, t); err != nil {
		return rec, err
	}
	return r.Stop(ctx, ref)
}

// Resume ends a hold. Where no process is running the rollout, [Rollouts.Drive] does.
func (r Rollouts) Resume(ctx context.Context, ref cluster.Ref) (plan.Record, error) {
	return r.Change(ctx, ref, plan.Progress.Resume)
}

// Retry has a rollout that has halted continue.
func (r Rollouts) Retry(ctx context.Context, ref cluster.Ref) (plan.Record, error) {
	return r.Change(ctx, ref, plan.Progress.Retry)
}

// Abort ends a rollout where it is, and returns when no further pod is updated.
func (r Rollouts) Abort(ctx context.Context, ref cluster.Ref) (plan.Record, error) {
	return r.stopped(ctx, ref, Aborting(r.aborted(), false))
}

// StepBack repeats the steps from an index on, as far as nothing was written since.
func (r Rollouts) StepBack(ctx context.Context, ref cluster.Ref, to int) (plan.Record, error) {
	return r.Change(ctx, ref, func(p plan.Progress, of plan.Plan, now time.Time) (plan.Progress, error) {
		return p.StepBack(of, to, now)
	})
}

// Run records a plan and carries it out, until it is done, halts, or has to be
// left. It is refused while another rollout of the workload is in flight.
func (r Rollouts) Run(ctx context.Context, ref cluster.Ref, p plan.Plan, o Options) (Result, error) {
	return r.opened(ctx, ref, o, func(w Workload) (*Executor, error) { return r.Begin(ctx, w, p) })
}

// Drive carries out what is left of the recorded rollout. The error wraps plan.ErrOtherExecutor
// where another process drives it.
func (r Rollouts) Drive(ctx context.Context, ref cluster.Ref, o Options) (Result, error) {
	return r.opened(ctx, ref, o, func(w Workload) (*Executor, error) { return r.Continue(ctx, w) })
}

// RollBack ends the recorded rollout and carries out the way back to the template that
// it started from. Where no pod was updated there is none, and the result shows it.
func (r Rollouts) RollBack(ctx context.Context, ref cluster.Ref, o Options) (Result, error) {
	if _, err := r.Change(ctx, ref, Aborting(r.aborted(), true)); err != nil {
		return Result{}, err
	}
	return r.opened(ctx, ref, o, func(w Workload) (*Executor, error) { return r.Rollback(ctx, w, r.aborted()) })
}

// Undo leads a workload back to an older revision; 0 is the one before the present. It is
// refused while a rollout is in flight.
func (r Rollouts) Undo(ctx context.Context, ref cluster.Ref, revision int64, policy plan.Policy, o Options) (Result, error) {
	return r.opened(ctx, ref, o, func(w Workload) (*Executor, error) {
		if err := Idle(w, plan.TransitionUndo); err != nil {
			return nil, err
		}
		s, err := w.Observe(ctx, ref)
		if err != nil {
			return nil, err
		}
		p, err := plan.Undo(s, revision, policy)
		if err != nil {
			return nil, err
		}
		return r.Begin(ctx, w, p)
	})
}

// opened opens a workload and drives what start begins.
func (r Rollouts) opened(ctx context.Context, ref cluster.Ref, o Options, start func(Workload) (*Executor, error)) (Result, error) {
	w, err := r.Open(ctx, ref)
	if err != nil {
		return Result{}, err
	}
	defer w.Close()
	e, err := start(w)
	if err != nil {
		return Result{}, err
	}
	return e.Run(o)
}

func (r Rollouts) aborted() string { return "aborted by " + r.By }

func (r Rollouts) now() time.Time {
	if r.Now != nil {
		return r.Now()
	}
	return time.Now()
}

// Idle reports why another plan cannot take the place of the recorded one, by a
// transition that does that; nil where nothing is in flight.
func Idle(w Workload, t plan.Transition) error {
	rec, err := w.Rollout()
	switch {
	case errors.Is(err, plan.ErrNoRollout):
		return nil
	case err != nil:
		return err
	}
	return rec.Progress.Allows(t, rec.Plan)
}
