package apply

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// Options say how a rollout is driven. The zero value waits for whatever it takes.
type Options struct {
	// Emit is called with every event, one at a time; nil is not called.
	Emit func(event.Event)
	// AtPause ends the run where a person has to promote, instead of waiting.
	AtPause bool
	// Until is when the run ends, by the cluster's clock, see [TimeIn]; zero is never. The rollout can be resumed.
	Until time.Time
	// Limit is how long [WatchSpec] waits before it ends as [event.Failed], as a step of a rollout does; zero is
	// for as long as it takes.
	Limit time.Duration
	// Through is the index of the last step that is carried out; nil is the plan's last.
	// The run ends before the step after it as [event.AtPause].
	Through *int
	// From is the index of the first step that may be carried out. A record whose progress
	// is before it ends the run as [event.Failed]: it was edited.
	From int

	// marks has the first write of a plan mark the workload, see [plan.BegunAnnotation].
	marks bool
}

// Result is how a run ended.
type Result struct {
	Outcome event.Outcome
	// Reason is why, for outcomes other than completed.
	Reason string
	// Plan is the plan that was carried out last: the way back after one.
	Plan plan.Plan
}

// Run carries a plan out, from its present step, until it is done, halts,
// or has to be left. It asks [plan.Next] for every decision and records progress
// before it acts, so a run that is killed at any instant can be continued by
// another. An error is something that no cluster should do; what goes wrong with
// the rollout is in the result.
func Run(ctx context.Context, c Cluster, ref cluster.Ref, p plan.Plan, o Options) (Result, error) {
	r := &run{cluster: c, ref: ref, plan: p, opt: o, reporter: reporter{emit: o.Emit}}
	return r.loop(ctx, r.reconcile)
}

// run is one run. What it knows besides the cluster is only for telling, and how
// often it was turned down.
type run struct {
	cluster Cluster
	ref     cluster.Ref
	plan    plan.Plan
	opt     Options
	// bySpec indicates that the plan is what the present spec amounts to.
	bySpec bool
	// began is when the watch of a spec began.
	began  time.Time
	result Result
	reporter
	// last is what was done last, repeats how often it was.
	last    []plan.Action
	repeats int
	// halted is since when a watched rollout halts without a record of that.
	halted time.Time
	// refusals counts turns in a row that were turned down.
	refusals int
	// mark is that of the plan, once it was needed.
	mark string
}

// loop repeats a step until the run has an outcome.
func (r *run) loop(ctx context.Context, step func(context.Context) error) (Result, error) {
	for r.result.Outcome == "" {
		if err := step(ctx); err != nil {
			if err = r.outcomeOf(ctx, err); err != nil {
				return r.result, err
			}
		}
	}
	r.result.Plan = r.plan
	r.reportEnd(r.cluster.Now(), r.result)
	return r.result, nil
}

// reconcile observes the cluster once, and does what is due.
func (r *run) reconcile(ctx context.Context) error {
	s, err := r.cluster.Observe(ctx, r.ref)
	if err != nil {
		return err
	}
	if s.Progress.Step < r.opt.From {
		r.finish(event.Failed, fmt.Sprintf("the record went back from step %d to step %d, which this run may not carry out", r.opt.From+1, s.Progress.Step+1))
		return nil
	}
	now := r.cluster.Now()
	d := plan.Next(r.plan, s, now)
	r.report(now, &r.plan, s, d)
	if recorded, err := r.record(ctx, s, d); !recorded {
		return err
	}
	if r.isBeyondLast(s, d) {
		r.finish(event.AtPause, fmt.Sprintf("step %s is not carried out in this run", r.plan.Steps[d.Step].Name))
		return nil
	}
	return r.carryOut(ctx, s, d)
}

// record keeps the progress of a decision, before anything is done; recorded is false where
// that did not take effect.
func (r *run) record(ctx context.Context, s plan.Snapshot, d plan.Decision) (recorded bool, err error) {
	if d.Progress == s.Progress {
		return true, nil
	}
	switch err := r.cluster.Record(ctx, r.ref, s.Version, d.Progress); {
	case errors.Is(err, plan.ErrNotFound) && d.Verb == plan.Halt:
		r.finish(event.Failed, d.Reason) // the record went with the object
		return false, nil
	case err != nil:
		return false, r.backOff(ctx, s, err)
	}
	return true, nil
}

// isBeyondLast reports whether a decision is about a step after the last one of the run. What
// stops the controller is carried out whatever the step.
func (r *run) isBeyondLast(s plan.Snapshot, d plan.Decision) bool {
	switch {
	case r.opt.Through == nil, d.Verb == plan.Halt, d.Verb == plan.Done, s.Progress.State(r.plan) != plan.StateRunning:
		return false
	}
	return d.Step > *r.opt.Through
}

// carryOut does what a decision says.
func (r *run) carryOut(ctx context.Context, s plan.Snapshot, d plan.Decision) error {
	switch d.Verb {
	case plan.Act:
		return r.act(ctx, s, d)
	case plan.Wait:
		return r.wait(ctx, s, d)
	case plan.Halt:
		return r.halt(ctx, s, d)
	case plan.Done:
		r.done()
		return nil
	}
	return fmt.Errorf("no decision is called %q", d.Verb)
}

func (r *run) done() {
	if r.plan.RollbackReason != "" {
		r.finish(event.RolledBack, r.plan.RollbackReason)
		return
	}
	r.finish(event.Completed, "")
}

func (r *run) finish(o event.Outcome, why string) { r.result.Outcome, r.result.Reason = o, why }

// outcomeOf turns the end of the caller's patience, and of its hold on the rollout, into
// results. Other errors stay errors.
func (r *run) outcomeOf(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, plan.ErrOtherExecutor):
		r.finish(event.TakenOver, err.Error())
	case ctx.Err() != nil && errors.Is(context.Cause(ctx), plan.ErrOtherExecutor):
		r.finish(event.TakenOver, context.Cause(ctx).Error())
	case refusedToHold(ctx) != nil:
		return refusedToHold(ctx)
	case ctx.Err() != nil:
		r.finish(event.Interrupted, "interrupted")
	case errors.Is(err, plan.ErrNotFound):
		r.finish(event.Failed, err.Error())
	default:
		return err
	}
	return nil
}

// refusedToHold is why the cluster no longer lets this process hold what it carries out; nil while it does.
func refusedToHold(ctx context.Context) error {
	err := context.Cause(ctx)
	if _, denied := errors.AsType[*DeniedError](err); denied || errors.Is(err, plan.ErrCredentials) {
		return err
	}
	return nil
}

// mostRepeats is how often the same writes are sent in a row before another writer has to
// be undoing them.
const mostRepeats = 10

// act carries out the actions of a decision. The first that is refused ends
// it: the next decision follows from a new observation.
func (r *run) act(ctx context.Context, s plan.Snapshot, d plan.Decision) error {
	if !reflect.DeepEqual(d.Actions, r.last) {
		r.last, r.repeats = d.Actions, 0
	}
	if r.repeats > mostRepeats {
		return r.stop(ctx, fmt.Sprintf("%s: what was written is undone again and again, by a webhook or another controller", d.Reason))
	}
	if r.repeats > 1 {
		if err := r.cluster.Await(ctx, r.ref, s.Version, r.bounded(r.cluster.Now().Add(pauseAfter(r.repeats)))); err != nil {
			return err
		}
	}
	for i := range d.Actions {
		err := r.cluster.Do(ctx, r.ref, r.marked(d.Actions[i]))
		switch {
		case errors.Is(err, plan.ErrNotFound):
			continue // it is gone: the next look sees that
		case err != nil && (isTemporary(err) || ctx.Err() != nil):
			return r.backOff(ctx, s, err)
		case errors.Is(err, plan.ErrCredentials):
			return err // it says nothing about the rollout, which stays as it is
		case err != nil:
			return r.stop(ctx, err.Error())
		}
		r.reportAction(r.cluster.Now(), d, &d.Actions[i])
	}
	r.refusals = 0
	r.repeats++ // what was refused was not written, so no other writer has undone it
	return nil
}

// marked is an action that marks the workload where it patches it.
func (r *run) marked(a plan.Action) plan.Action {
	if a.Patch == nil || !r.opt.marks {
		return a
	}
	if r.mark == "" {
		r.mark = r.plan.Mark()
	}
	a.Mark = r.mark
	return a
}

// isTemporary reports whether an error may be gone at the next look.
func isTemporary(err error) bool {
	return errors.Is(err, plan.ErrConflict) || errors.Is(err, plan.ErrRefused) || errors.Is(err, plan.ErrUnavailable) || errors.Is(err, plan.ErrOtherExecutor)
}

// stop records that the rollout has halted for a reason that no look would find.
func (r *run) stop(ctx context.Context, why string) error {
	s, err := r.cluster.Observe(ctx, r.ref)
	if err != nil {
		return err
	}
	progress := s.Progress
	progress.Failed, progress.Stop.Asked = why, false
	if err := r.cluster.Record(ctx, r.ref, s.Version, progress); err != nil {
		return r.backOff(ctx, s, err)
	}
	return nil // the next look finds the halt
}

// backOff waits a little after a request that was refused, longer each time;
// a change in the cluster ends the waiting.
func (r *run) backOff(ctx context.Context, s plan.Snapshot, err error) error {
	if !isTemporary(err) || errors.Is(err, plan.ErrOtherExecutor) {
		return err
	}
	r.refusals++
	now := r.cluster.Now()
	if !errors.Is(err, plan.ErrConflict) || r.refusals > 2 {
		r.reportRefusal(now, err)
	}
	if r.timedOut(now) {
		return nil
	}
	return r.cluster.Await(ctx, r.ref, s.Version, r.bounded(now.Add(pauseAfter(r.refusals))))
}

// pauseAfter is how long to wait after the n-th failure in a row: it doubles from a
// quarter of a second to half a minute.
func pauseAfter(n int) time.Duration {
	return min(250*time.Millisecond<<min(n-1, 10), 30*time.Second)
}

// wait waits for a change, for the time that the decision names, or for the end of
// the caller's time.
func (r *run) wait(ctx context.Context, s plan.Snapshot, d plan.Decision) error {
	r.refusals = 0
	now := r.cluster.Now()
	switch {
	case r.opt.AtPause && awaitsApproval(d):
		r.finish(event.AtPause, d.Reason)
		return nil
	case r.timedOut(now):
		return nil
	}
	return r.cluster.Await(ctx, r.ref, s.Version, r.bounded(d.Until))
}

// awaitsApproval reports whether only a person can let the rollout go on.
func awaitsApproval(d plan.Decision) bool {
	return len(d.Blockers) > 0 && (d.Blockers[0].Gate == plan.GatePromote || d.Blockers[0].Gate == plan.GateHeld)
}

// timedOut ends a run whose time is over.
func (r *run) timedOut(now time.Time) bool {
	if r.opt.Until.IsZero() || now.Before(r.opt.Until) {
		return false
	}
	r.finish(event.TimedOut, r.waitingFor)
	return true
}

// bounded is a time, or the end of the run if that comes first.
func (r *run) bounded(until time.Time) time.Time {
	if until.IsZero() || !r.opt.Until.IsZero() && r.opt.Until.Before(until) {
		return r.opt.Until
	}
	return until
}

// halt ends the run, or begins the way back where the plan wants that.
func (r *run) halt(ctx context.Context, s plan.Snapshot, d plan.Decision) error {
	if d.OnFailure != plan.FailRollback || r.plan.RollbackReason != "" {
		r.finish(event.Failed, d.Reason)
		return nil
	}
	back, err := plan.Rollback(r.plan, s, d.Reason)
	if errors.Is(err, plan.ErrSubset) { // the caller knows the others
		r.finish(event.Failed, d.Reason)
		return nil
	}
	if err != nil {
		r.finish(event.Failed, fmt.Sprintf("%s; it cannot be rolled back: %v", d.Reason, err))
		return nil
	}
	if err := r.cluster.Begin(ctx, r.ref, back); err != nil {
		return r.backOff(ctx, s, err)
	}
	r.plan, r.mark = back, ""
	r.reportRollback(r.cluster.Now(), &r.plan)
	return nil
}
