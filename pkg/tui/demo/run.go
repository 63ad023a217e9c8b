package demo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
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
	// turn is true while it may move, over when it is not carried out any more.
	turn, over bool
}

var _ apply.Workload = (*run)(nil)

// begin puts a plan on record and carries it out. The shop is not locked.
func (c *Cluster) begin(ref cluster.Ref, p plan.Plan) error {
	r := &run{Cluster: c, ref: ref}
	e, err := c.rollouts().Begin(c.ctx, r, p)
	return c.drive(r, e, err)
}

// goOn carries out what is on record, from where it is, unless that is done already.
func (c *Cluster) goOn(ref cluster.Ref) error {
	r := &run{Cluster: c, ref: ref}
	e, err := c.rollouts().Continue(c.ctx, r)
	if errors.Is(err, plan.ErrOtherExecutor) {
		return nil
	}
	return c.drive(r, e, err)
}

// back takes a rollout back that has ended.
func (c *Cluster) back(ref cluster.Ref, why string) error {
	r := &run{Cluster: c, ref: ref}
	e, err := c.rollouts().Rollback(c.ctx, r, why)
	return c.drive(r, e, err)
}

// drive carries a rollout out that could be begun, and returns when it waits for the
// first time.
func (c *Cluster) drive(r *run, e *apply.Executor, err error) error {
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
	result, err := e.Run(apply.Options{Emit: r.tell})
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		r.note(r.ref, "Failed", err.Error(), true)
	}
	if len(result.Plan.Steps) > 0 {
		r.plan = result.Plan
	}
	r.turn, r.over = false, true
	r.moved.Broadcast()
}

// Hold is [apply.Workload]. Who drives the rollout stops when it has halted, as on a
// real cluster, and that is waited for.
func (r *run) Hold(ctx context.Context, _ func(string)) (context.Context, func(), error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if before := r.runs[r.ref]; before != nil {
		for !before.over && r.ctx.Err() == nil {
			if rec, err := r.record(r.ref); err != nil || rec.InFlight() {
				return nil, nil, errors.Join(err, fmt.Errorf("%w: %s", plan.ErrOtherExecutor, r.holder(r.ref)))
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
	r.runs[r.ref] = r
	return held, r.release, nil
}

// release lets go of the rollout.
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

// Resume is [apply.Workload]: no other process puts plans on record.
func (r *run) Resume() (plan.Record, error) { return r.Rollout() }

// May is [apply.Workload]: everything is allowed in the shop.
func (*run) May(context.Context, plan.Plan) error { return nil }

// Announce is [apply.Workload]: what a run tells are the events of the shop already.
func (*run) Announce(event.Event) {}

// Close is [apply.Workload].
func (*run) Close() {}

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
			e.Text = "rollout started: " + e.Plan.Why
		}
	case event.Ended:
		if e.Outcome == event.Failed { // why it failed was told when it halted
			e.Text = ""
		}
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
	return r.keep(ctx, ref, since, p, driver, true)
}

// Decide is [apply.Workload].
func (r *run) Decide(ctx context.Context, ref cluster.Ref, since string, p plan.Progress) (plan.Record, error) {
	r.mu.Lock()
	err := r.keep(ctx, ref, since, p, r.rollouts().By, false)
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
	r.enter(ref, p, driver)
	r.plan = p
	return r.world.Begin(ctx, ref, p)
}

// most is how many events of a workload are kept, as clusters forget theirs.
const most = 200

// note adds an event of a workload. The shop is locked.
func (c *Cluster) note(ref cluster.Ref, reason, text string, warning bool) {
	c.tell(ref, world.Event{About: nameOf(ref), Reason: reason, Text: strings.TrimSpace(text), Warning: warning})
}

func (c *Cluster) tell(ref cluster.Ref, e world.Event) {
	e.At, e.First, e.Count = c.world.Now(), c.world.Now(), 1
	list := c.events[ref]
	if i := slices.IndexFunc(list, func(o world.Event) bool { return o.About == e.About && o.Reason == e.Reason && o.Text == e.Text }); i >= 0 {
		e.First, e.Count = list[i].First, list[i].Count+1
		list = slices.Delete(slices.Clone(list), i, i+1)
	}
	c.events[ref] = slices.Insert(list[:min(len(list), most-1):min(len(list), most-1)], 0, e)
}

// compare notes what happened to pods between two looks.
func (c *Cluster) compare(ref cluster.Ref, before, after []*cluster.Pod) {
	old := map[string]*cluster.Pod{}
	for _, p := range before {
		old[p.UID] = p
	}
	for _, p := range after {
		was := old[p.UID]
		delete(old, p.UID)
		if was != p {
			c.changed(ref, was, p)
		}
	}
	for _, p := range before {
		if old[p.UID] != nil {
			c.pod(ref, p, "Gone", "pod is gone", false)
		}
	}
}

func (c *Cluster) changed(ref cluster.Ref, was, p *cluster.Pod) {
	switch {
	case was == nil:
		c.pod(ref, p, "Created", "pod was created", false)
		return
	case p.Deleting && !was.Deleting:
		c.pod(ref, p, "Killing", "pod is being deleted", false)
	case p.IsReady() && !was.IsReady():
		c.pod(ref, p, "Ready", "pod is ready", false)
	}
	for i, b := range p.Containers {
		if i < len(was.Containers) {
			c.container(ref, p, was.Containers[i], b)
		}
	}
}

func (c *Cluster) container(ref cluster.Ref, p *cluster.Pod, was, is cluster.Container) {
	switch {
	case is.Image != was.Image:
		c.pod(ref, p, "InPlaceUpdate", fmt.Sprintf("container %s gets image %s in place", is.Name, is.Image), false)
	case is.Waiting != was.Waiting && is.Waiting != "" && is.Waiting != "ContainerCreating":
		c.pod(ref, p, is.Waiting, fmt.Sprintf("container %s: %s", is.Name, is.Waiting), true)
	case is.Restarts > was.Restarts:
		c.pod(ref, p, "Started", fmt.Sprintf("container %s started again", is.Name), false)
	}
}

func (c *Cluster) pod(ref cluster.Ref, p *cluster.Pod, reason, text string, warning bool) {
	c.tell(ref, world.Event{About: "pod/" + p.Name, Pod: p.Name, Reason: reason, Text: text, Warning: warning})
}

func nameOf(r cluster.Ref) string { return strings.ToLower(r.Kind) + "/" + r.Name }
