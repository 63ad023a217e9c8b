package apply

import (
	"context"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// Watch tells of a rollout that somebody else drives, and writes nothing. It ends as
// Run does, when the rollout ends; where nobody drives, it says what is due and
// waits.
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
	case r.late(now):
	default:
		return r.cluster.Await(ctx, r.ref, s.Version, r.limited(d.Until))
	}
	return nil
}
