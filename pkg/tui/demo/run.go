package demo

import (
	"context"
	"errors"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// run is one rollout on record, and what carries it out: [apply.Run] sees the shop
// through it. Runs move one after the other, each until it waits, so that the same
// seed gives the same story.
type run struct {
	*Cluster
	ref   cluster.Ref
	plan  plan.Plan
	begun time.Time
	stop  context.CancelFunc
	// turn is true while it may move, over when nobody carries it out any more.
	turn, over bool
}

var _ apply.Cluster = (*run)(nil)

// begin puts a plan on record and carries it out. The shop is not locked.
func (c *Cluster) begin(ref cluster.Ref, p plan.Plan) error {
	c.mu.Lock()
	if r := c.runs[ref]; r != nil && !r.over {
		c.mu.Unlock()
		return errors.New("a rollout of it is being carried out; abort that first")
	}
	err := c.world.Begin(c.ctx, ref, p)
	c.mu.Unlock()
	if err != nil {
		return err
	}
	c.drive(ref, p)
	return nil
}

// drive carries out what is on record, from where it stands, and returns when that
// waits for the first time.
func (c *Cluster) drive(ref cluster.Ref, p plan.Plan) {
	ctx, stop := context.WithCancel(c.ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	r := &run{Cluster: c, ref: ref, plan: p, begun: c.world.Now(), stop: stop, turn: true}
	c.runs[ref] = r
	context.AfterFunc(ctx, c.moved.Broadcast)
	go r.carry(ctx)
	c.await(r)
}

func (r *run) carry(ctx context.Context) {
	result, err := apply.Run(ctx, r, r.ref, r.plan, apply.Options{Emit: r.tell})
	r.mu.Lock()
	defer r.mu.Unlock()
	r.turn, r.over = false, true
	if err != nil {
		r.note(r.ref, "Failed", err.Error(), true)
	}
	if result.Plan.Target.Name != "" {
		r.plan = result.Plan
	}
	r.moved.Broadcast()
}

// await waits until a run waits, or is over. The shop is locked.
func (c *Cluster) await(r *run) {
	for r.turn && !r.over && c.ctx.Err() == nil {
		c.moved.Wait()
	}
}

// tell takes what the rollout says into the events.
func (r *run) tell(e event.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch e.Type {
	case event.Pods, event.Waiting:
		return // seen in the pods and in the diagnosis
	case event.Opened, event.RollingBack:
		if e.Plan != nil && e.Type == event.Opened {
			e.Text = "rollout begins: " + e.Plan.Why
		}
	case event.Ended:
		e.Text = string(e.Outcome) + " " + e.Text
	}
	r.note(r.ref, reasons[e.Type], e.Text, e.Type == event.Halted || e.Type == event.Refused)
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

// Await is [apply.Cluster]: it gives the turn away until there is something to see.
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
	return r.world.Record(ctx, ref, since, p)
}

// Begin is [apply.Cluster].
func (r *run) Begin(ctx context.Context, ref cluster.Ref, p plan.Plan) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.plan = p
	return r.world.Begin(ctx, ref, p)
}
