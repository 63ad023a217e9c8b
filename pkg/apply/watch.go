package apply

import (
	"context"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// Watch reports a rollout that another process drives, and writes nothing. It ends as
// Run does, when the rollout ends; where no process drives, it says what is due and
// waits. A halt that no process records, since none drives, ends it, too.
func Watch(ctx context.Context, c Cluster, ref cluster.Ref, p plan.Plan, o Options) (Result, error) {
	r := &run{cluster: c, ref: ref, plan: p, opt: o, reporter: reporter{emit: o.Emit}}
	return r.loop(ctx, r.follow)
}

// WatchSpec reports what becomes of the pods of a workload by its present spec, whatever rollout is
// recorded, and writes nothing. It ends when every pod that the spec lets be updated is updated and
// ready; a spec that changes meanwhile is followed.
func WatchSpec(ctx context.Context, c Cluster, ref cluster.Ref, o Options) (Result, error) {
	r := &run{cluster: c, ref: ref, bySpec: true, began: c.Now(), opt: o, reporter: reporter{emit: o.Emit}}
	return r.loop(ctx, r.follow)
}

// follow observes the cluster once, and reports.
func (r *run) follow(ctx context.Context) error {
	s, err := r.cluster.Observe(ctx, r.ref)
	if err != nil {
		return err
	}
	if r.bySpec {
		if r.plan, s = plan.ForSpec(s); r.opt.Limit > 0 {
			s.Progress.Started, r.plan.Steps[0].Timeout = r.began, plan.Duration(r.opt.Limit)
		}
	}
	now := r.cluster.Now()
	d := plan.Next(r.plan, s, now)
	r.report(now, &r.plan, s, d)
	switch {
	case d.Verb == plan.Done:
		r.done()
	case d.Verb == plan.Halt && (s.Progress.Failed != "" || d.Blockers[0].Gate == plan.GateDeadline && r.bySpec):
		r.finish(event.Failed, d.Reason)
	case r.opt.AtPause && d.Verb == plan.Wait && awaitsApproval(d):
		r.finish(event.AtPause, d.Reason)
	case d.Verb == plan.Halt:
		return r.awaitHalt(ctx, s, d)
	case r.timedOut(now):
	default:
		r.halted = time.Time{}
		return r.cluster.Await(ctx, r.ref, s.Version, r.bounded(d.Until))
	}
	return nil
}

// unrecorded is how long a process that drives a rollout has for recording that it halts.
const unrecorded = 15 * time.Second

// awaitHalt waits for the process that drives the rollout to record a halt, and ends where
// none does.
func (r *run) awaitHalt(ctx context.Context, s plan.Snapshot, d plan.Decision) error {
	now := r.cluster.Now()
	if r.halted.IsZero() {
		r.halted = now
	}
	end := r.halted.Add(unrecorded)
	if !now.Before(end) {
		r.finish(event.Failed, d.Reason)
		return nil
	}
	if r.timedOut(now) {
		return nil
	}
	return r.cluster.Await(ctx, r.ref, s.Version, r.bounded(end))
}
