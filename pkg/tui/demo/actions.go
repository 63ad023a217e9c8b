package demo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

var _ world.Actions = (*Cluster)(nil)

// verbFunc prepares a verb: it works out the effect, and returns the function that does
// it.
type verbFunc func(c *Cluster, d *world.Detail, act world.Act) (offer, error)

// offer is the effect of an action in numbers, its result in words, and the function that does it.
type offer struct {
	change plan.Consequence
	done   string
	do     func() error
}

// means identifies what was confirmed; Do refuses when it has changed since.
func (o offer) means() string {
	return fmt.Sprintf("%s step %s %d", o.change.Transition, o.change.Step, o.change.At)
}

var verbs = map[world.Verb]verbFunc{
	world.Promote: promote, world.PauseResume: pause, world.Undo: undo, world.Abort: abort,
	world.Restart: restart, world.Scale: scale, world.Partition: partition,
}

// Effect is [world.Actions].
func (c *Cluster) Effect(_ context.Context, act world.Act) (world.Effect, error) {
	e := world.Effect{Changes: map[cluster.Ref]plan.Consequence{}, Precondition: map[cluster.Ref]string{}}
	err := c.each(act, func(ref cluster.Ref, o offer) error {
		e.Changes[ref] = o.change
		if act.Verb == world.Promote || act.Verb == world.PauseResume {
			e.Precondition[ref] = o.means()
		}
		return nil
	})
	return e, err
}

// Do is [world.Actions].
func (c *Cluster) Do(_ context.Context, act world.Act) (string, error) {
	done := ""
	err := c.each(act, func(ref cluster.Ref, o offer) error {
		if means := act.Precondition[ref]; means != "" && means != o.means() {
			return errChanged
		}
		done = ref.String() + ": " + o.done
		return o.do()
	})
	if err == nil && len(act.On) > 1 {
		done = fmt.Sprintf("%s: %s", act.Verb, counted.Of(len(act.On), "workload"))
	}
	return done, err
}

func (c *Cluster) each(act world.Act, f func(ref cluster.Ref, o offer) error) error {
	var errs []error
	for _, ref := range act.On {
		c.mu.Lock()
		d := c.details[ref]
		c.mu.Unlock()
		if d == nil {
			errs = append(errs, missing(ref))
			continue
		}
		o, err := verbs[act.Verb](c, d, act)
		if err == nil {
			err = f(ref, o)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", ref.String(), err))
		}
	}
	return errors.Join(errs...)
}

// Shell is not there: there is nothing to run in.
func (*Cluster) Shell(string, string, string) (world.Program, error) {
	return nil, errors.New("the containers of the demo have no shell")
}

var (
	errNone    = errors.New("no rollout is recorded for it")
	errChanged = errors.New("it has changed since the question was asked: nothing is done")
)

// requireRollout refuses workloads of which no rollout is recorded, or one that is done.
func (c *Cluster) requireRollout(d *world.Detail) error {
	if !d.Begun || d.Snapshot.Progress.State(d.Plan) == plan.StateDone {
		return errNone
	}
	return nil
}

// change has the recorded rollout make a transition, and continue from where it is, unless a process does
// that already.
func (c *Cluster) change(ref cluster.Ref, a apply.Act) func() error {
	return func() error {
		rec, err := c.rollouts().Change(c.ctx, ref, a)
		if err != nil || !rec.InFlight() && (!rec.Progress.Stop.Asked || rec.Progress.Stop.Done) {
			return err
		}
		r := &run{Cluster: c, ref: ref}
		e, err := c.rollouts().TakeOver(c.ctx, r)
		if errors.Is(err, plan.ErrOtherExecutor) {
			return nil
		}
		return c.execute(r, e, err)
	}
}

func promote(c *Cluster, d *world.Detail, _ world.Act) (offer, error) {
	if err := c.requireRollout(d); err != nil {
		return offer{}, err
	}
	p := d.Snapshot.Progress
	if err := p.Allows(plan.TransitionPromote, d.Plan); err != nil {
		return offer{}, err
	}
	o := offer{change: plan.ConsequenceOf(plan.TransitionPromote, d.Plan, p), do: c.change(d.Ref, apply.Act{Transition: plan.TransitionPromote})}
	o.done = "promoted past step " + o.change.Step
	return o, nil
}

// pause pauses a rollout, or resumes it; a failed one is retried.
func pause(c *Cluster, d *world.Detail, _ world.Act) (offer, error) {
	if err := c.requireRollout(d); err != nil {
		return offer{}, err
	}
	o := offer{change: plan.ConsequenceOf(d.Snapshot.Progress.Toggle(d.Plan), d.Plan, d.Snapshot.Progress)}
	o.do = c.change(d.Ref, apply.Act{Transition: o.change.Transition})
	switch o.change.Transition {
	case plan.TransitionRetry:
		o.done = "retrying from where it failed"
	case plan.TransitionResume:
		o.done = "resumed"
	default:
		o.done = "paused"
	}
	return o, nil
}

func undo(c *Cluster, d *world.Detail, _ world.Act) (offer, error) {
	if !d.Begun {
		return offer{}, errNone
	}
	why := "rolled back by " + c.rollouts().By
	back, err := plan.Rollback(d.Plan, d.Snapshot, why)
	if err != nil {
		return offer{}, err
	}
	change := plan.ConsequenceOfPlan(back, plan.TransitionRollBack)
	change.Pods = d.Pods.Updated
	return offer{change, "rolling back", func() error {
		if err := c.change(d.Ref, apply.Act{Transition: plan.TransitionRollBack, Why: why})(); err != nil {
			return err
		}
		r := &run{Cluster: c, ref: d.Ref}
		e, err := c.rollouts().Rollback(c.ctx, r, why)
		return c.execute(r, e, err)
	}}, nil
}

func abort(c *Cluster, d *world.Detail, _ world.Act) (offer, error) {
	if err := c.requireRollout(d); err != nil {
		return offer{}, err
	}
	return offer{
		plan.ConsequenceOf(plan.TransitionAbort, d.Plan, d.Snapshot.Progress), "rollout aborted",
		c.change(d.Ref, apply.Act{Transition: plan.TransitionAbort}),
	}, nil
}

func restart(c *Cluster, d *world.Detail, act world.Act) (offer, error) {
	p, err := plan.BuildRestart(d.Snapshot, plan.RestartRequest{Containers: act.Containers, Pods: act.Pods}, plan.Policy{})
	if err != nil {
		return offer{}, err
	}
	change := plan.ConsequenceOfPlan(p, "")
	done := "restarting containers in all pods"
	if len(act.Pods) > 0 {
		done = "restarting containers in " + counted.Of(change.Pods, "pod")
	}
	return offer{change, done, func() error { return c.begin(d.Ref, p) }}, nil
}

func scale(c *Cluster, d *world.Detail, act world.Act) (offer, error) {
	n, err := strconv.Atoi(act.Value)
	if err != nil || n < 0 || n > largest {
		return offer{}, fmt.Errorf("%s: a number of pods from 0 to %d", act.Value, largest)
	}
	if d.Ref.Kind == kruise.KindDaemonSet || d.Ref.Kind == kruise.KindSidecarSet {
		return offer{}, fmt.Errorf("%s has no number of pods of its own", d.Ref.String())
	}
	patch := plan.Patch{Type: "merge", Subresource: "scale", Body: map[string]any{"spec": map[string]any{"replicas": int64(n)}}}
	change := plan.Consequence{Was: strconv.Itoa(d.Pods.Desired), Becomes: act.Value}
	return offer{change, "scaling to " + counted.Of(n, "pod"), func() error {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.world.Patch(d.Ref, patch)
	}}, nil
}

// largest is the largest workload of the demo.
const largest = 1000

func partition(c *Cluster, d *world.Detail, act world.Act) (offer, error) {
	path := plan.PartitionPath(d.Ref.Group, d.Ref.Kind, d.Snapshot.Workload.Version)
	if len(path) == 0 {
		return offer{}, errors.New("it has no partition")
	}
	var value any = act.Value
	if n, err := strconv.Atoi(act.Value); err == nil {
		value = int64(n)
	} else if _, err := plan.ParseAmount(act.Value); err != nil {
		return offer{}, err
	}
	for _, name := range slices.Backward(path) {
		value = map[string]any{name: value}
	}
	change := plan.Consequence{Was: plan.PartitionOf(d.Snapshot.Workload), Becomes: act.Value}
	return offer{change, "partition set to " + act.Value, func() error {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.world.MergePatch(d.Ref, value.(map[string]any))
	}}, nil
}
