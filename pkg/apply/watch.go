package apply

import (
	"context"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// Watch tells of a rollout that somebody else drives, and writes nothing. It ends as
// Run does, when the rollout ends; where no process drives, it says what is due and
// waits. A halt that no process records, since none drives, ends it, too.
func Watch(ctx context.Context, c Cluster, ref cluster.Ref, p plan.Plan, o Options) (Result, error) {
	r := &run{cluster: c, ref: ref, plan: p, opt: o}
	r.emit = o.Emit
	for r.result.Outcome == "" {
		if err := r.see(ctx); err != nil {
			if err = r.left(ctx, err); err != nil {
				return r.result, err
			}
		}
	}
	r.result.Plan = r.plan
	r.end(r.cluster.Now(), r.result)
	return r.result, nil
}

// see looks once and tells.
func (r *run) see(ctx context.Context) error {
	s, err := r.cluster.Observe(ctx, r.ref)
	if err != nil {
		return err
	}
	now := r.cluster.Now()
	d := plan.Next(r.plan, s, now)
	r.tell(now, &r.plan, s, d)
	switch {
	case d.Verb == plan.Done:
		r.done()
	case d.Verb == plan.Halt && s.Progress.Halted != "":
		r.finish(event.Failed, d.Reason)
	case r.opt.AtPause && d.Verb == plan.Wait && awaitsPerson(d):
		r.finish(event.AtPause, d.Reason)
	case d.Verb == plan.Halt:
		return r.halting(ctx, s, d)
	case r.late(now):
	default:
		r.halted = time.Time{}
		return r.cluster.Await(ctx, r.ref, s.Version, r.limited(d.Until))
	}
	return nil
}

// unrecorded is how long a process that drives a rollout has for recording that it halts.
const unrecorded = 15 * time.Second

// halting waits for the process that drives the rollout to record a halt, and ends where
// none does.
func (r *run) halting(ctx context.Context, s plan.Snapshot, d plan.Decision) error {
	now := r.cluster.Now()
	if r.halted.IsZero() {
		r.halted = now
	}
	end := r.halted.Add(unrecorded)
	if !now.Before(end) {
		r.finish(event.Failed, d.Reason)
		return nil
	}
	if r.late(now) {
		return nil
	}
	return r.cluster.Await(ctx, r.ref, s.Version, r.limited(end))
}
