package demo

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// run is one stored rollout and its executor: [apply.Run] sees the shop through it. Runs
// move one after the other, each until it waits, so that the same seed gives the same story.
type run struct {
	*Cluster
	ref   cluster.Ref
	plan  plan.Plan
	begun time.Time
	stop  context.CancelFunc
	// turn is true while the run can move, over when it has ended.
	turn, over bool
}

var _ apply.Workload = (*run)(nil)

// begin stores a plan and carries it out. The shop is not locked.
func (c *Cluster) begin(ref cluster.Ref, p plan.Plan) error {
	r := &run{Cluster: c, ref: ref}
	e, err := c.rollouts().Begin(c.ctx, r, p)
	return c.execute(r, e, err)
}

// execute carries out a rollout that could be started, and returns when it waits for the
// first time.
func (c *Cluster) execute(r *run, e *apply.Executor, err error) error {
	if err != nil {
		return err
	}
	go r.carry(e)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.await(r)
	return nil
}

func (r *run) carry(e *apply.Executor) {
	result, err := e.Run(apply.Options{Emit: r.report})
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		r.journal.note(r.ref, "Failed", err.Error(), true)
	}
	if len(result.Plan.Steps) > 0 {
		r.plan = result.Plan
	}
	r.turn, r.over = false, true
	r.moved.Broadcast()
}

// Hold is [apply.Workload]. The executor of a failed rollout ends, as on a real cluster;
// Hold waits for that.
func (r *run) Hold(ctx context.Context, _ func(string)) (context.Context, func(), error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if before := r.store.runs[r.ref]; before != nil {
		for !before.over && r.ctx.Err() == nil {
			if rec, err := r.store.record(r.ref); err != nil || rec.InFlight() {
				return nil, nil, errors.Join(err, fmt.Errorf("%w: %s", plan.ErrOtherExecutor, r.store.holder(r.ref)))
			}
			before.turn = true
			r.moved.Broadcast()
			r.moved.Wait()
		}
		r.plan = before.plan
	}
	held, stop := context.WithCancel(ctx)
	context.AfterFunc(held, r.moved.Broadcast)
	r.begun, r.turn, r.stop = r.world.Now(), true, stop
	r.store.runs[r.ref] = r
	return held, r.release, nil
}

// release ends the run as the executor of the rollout.
func (r *run) release() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.turn, r.over = false, true
	r.stop()
	r.moved.Broadcast()
}

// Rollout is [apply.Workload].
func (r *run) Rollout() (plan.Record, error) {
	return records{r.Cluster}.Load(r.ctx, r.ref)
}

// Resume is [apply.Workload]: no other process stores plans.
func (r *run) Resume() (plan.Record, error) { return r.Rollout() }

// May is [apply.Workload]: everything is allowed in the shop.
func (*run) May(context.Context, plan.Plan) error { return nil }

// Announce is [apply.Workload]: the journal of the shop has these events already.
func (*run) Announce(event.Event) {}

// Close is [apply.Workload].
func (*run) Close() {}

// await waits until a run waits, or is over. The shop is locked.
func (c *Cluster) await(r *run) {
	for r.turn && !r.over && c.ctx.Err() == nil {
		c.moved.Wait()
	}
}

// report adds an event of the rollout to the journal.
func (r *run) report(e event.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch e.Type {
	case event.Pods, event.Waiting:
		return // shown by the pods and the diagnosis
	case event.Opened, event.RollingBack:
		if e.Plan != nil && e.Type == event.Opened {
			e.Text = "rollout started: " + e.Plan.Why
		}
	case event.Ended:
		if e.Outcome == event.Failed { // the event Halted has the reason
			e.Text = ""
		}
		e.Text = string(e.Outcome) + " " + e.Text
	}
	r.journal.note(r.ref, reasons[e.Type], e.Text, e.Type == event.Halted || e.Type == event.Refused)
}

var reasons = map[event.Type]string{
	event.Opened: "RolloutBegun", event.StepBegun: "StepBegun", event.StepDone: "StepDone", event.Acted: "Acted", event.Refused: "Refused",
	event.Paused: "Paused", event.Halted: "Halted", event.RollingBack: "RollingBack", event.Note: "Note", event.Ended: "RolloutEnded",
}

// Now is [apply.Cluster].
func (r *run) Now() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.world.Now()
}

// Observe is [apply.Cluster].
func (r *run) Observe(ctx context.Context, ref cluster.Ref) (plan.Snapshot, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.world.Observe(ctx, ref)
}

// Await is [apply.Cluster]: other runs move until the workload changes.
func (r *run) Await(ctx context.Context, ref cluster.Ref, since string, until time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		s, err := r.world.Snapshot(ref)
		if err != nil {
			return err
		}
		if s.Version != since || !until.IsZero() && !r.world.Now().Before(until) {
			return nil
		}
		r.turn = false
		r.moved.Broadcast()
		for !r.turn {
			if err := ctx.Err(); err != nil {
				return err
			}
			r.moved.Wait()
		}
	}
}

// Do is [apply.Cluster].
func (r *run) Do(ctx context.Context, ref cluster.Ref, a plan.Action) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.world.Do(ctx, ref, a)
}

// Record is [apply.Cluster].
func (r *run) Record(ctx context.Context, ref cluster.Ref, since string, p plan.Progress) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.store.save(ctx, ref, since, p, executor, true)
}

// Decide is [apply.Workload].
func (r *run) Decide(ctx context.Context, ref cluster.Ref, since string, p plan.Progress) (plan.Record, error) {
	r.mu.Lock()
	err := r.store.save(ctx, ref, since, p, r.rollouts().By, false)
	r.mu.Unlock()
	if err != nil {
		return plan.Record{}, err
	}
	return r.Rollout()
}

// Begin is [apply.Cluster].
func (r *run) Begin(ctx context.Context, ref cluster.Ref, p plan.Plan) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.store.replace(ref, p, executor)
	r.plan = p
	return r.world.Begin(ctx, ref, p)
}
