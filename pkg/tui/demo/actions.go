package demo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

var _ world.Actions = (*Cluster)(nil)

// acting is how a verb is done: it works out what would happen, and returns what does
// it.
type acting func(c *Cluster, d *world.Detail, act world.Act) (effect string, do func() error, err error)

var verbs = map[world.Verb]acting{
	world.Promote: promote, world.PauseResume: pause, world.Undo: undo, world.Abort: abort,
	world.Restart: restart, world.Scale: scale, world.Partition: partition,
}

// Effect is [world.Actions].
func (c *Cluster) Effect(_ context.Context, act world.Act) (world.Effect, error) {
	e := world.Effect{Means: map[cluster.Ref]string{}}
	err := c.each(act, func(ref cluster.Ref, effect string, _ func() error) error {
		e.Lines = append(e.Lines, nameOf(ref)+": "+effect)
		if act.Verb == world.Promote || act.Verb == world.PauseResume {
			e.Means[ref] = effect
		}
		return nil
	})
	return e, err
}

// Do is [world.Actions].
func (c *Cluster) Do(_ context.Context, act world.Act) (string, error) {
	said := ""
	err := c.each(act, func(ref cluster.Ref, effect string, do func() error) error {
		if means := act.Means[ref]; means != "" && means != effect {
			return errChanged
		}
		said = nameOf(ref) + ": " + effect
		return do()
	})
	if err == nil && len(act.On) > 1 {
		said = fmt.Sprintf("%s: %d workloads", act.Verb, len(act.On))
	}
	return said, err
}

func (c *Cluster) each(act world.Act, f func(ref cluster.Ref, effect string, do func() error) error) error {
	var errs []error
	for _, ref := range act.On {
		c.mu.Lock()
		d := c.details[ref]
		c.mu.Unlock()
		if d == nil {
			errs = append(errs, missing(ref))
			continue
		}
		effect, do, err := verbs[act.Verb](c, d, act)
		if err == nil {
			err = f(ref, effect, do)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", nameOf(ref), err))
		}
	}
	return errors.Join(errs...)
}

// Shell is not there: there is nothing to run in.
func (*Cluster) Shell(string, string, string) (world.Program, error) {
	return nil, errors.New("the containers of the demo have no shell")
}

var (
	errNone    = errors.New("no rollout of it is on record")
	errChanged = errors.New("it is not as it was when somebody was asked: nothing is done")
)

// on refuses workloads of which no rollout is on record, or one that is done.
func (c *Cluster) on(d *world.Detail) error {
	if !d.Begun || d.Snapshot.Progress.State(d.Plan) == plan.StateDone {
		return errNone
	}
	return nil
}

// change has the rollout on record make a transition, and go on.
func (c *Cluster) change(ref cluster.Ref, t apply.Transition) func() error {
	return func() error {
		rec, err := c.rollouts().Change(c.ctx, ref, t)
		if err != nil || !rec.InFlight() && (!rec.Progress.Stop.Asked || rec.Progress.Stop.Done) {
			return err
		}
		return c.goOn(ref)
	}
}

func promote(c *Cluster, d *world.Detail, _ world.Act) (string, func() error, error) {
	if err := c.on(d); err != nil {
		return "", nil, err
	}
	p := d.Snapshot.Progress
	if err := p.Allows(plan.TransitionPromote, d.Plan); err != nil {
		return "", nil, err
	}
	text := "step " + d.Plan.Steps[min(p.Step, len(d.Plan.Steps)-1)].Name + " is over"
	if p.Step+1 < len(d.Plan.Steps) {
		text += ", next: " + d.Plan.Steps[p.Step+1].Title
	}
	return text, c.change(d.Ref, apply.Promotion(plan.Promotion{})), nil
}

// pause puts a rollout on hold, or has it go on, tried again where it had halted.
func pause(c *Cluster, d *world.Detail, _ world.Act) (string, func() error, error) {
	if err := c.on(d); err != nil {
		return "", nil, err
	}
	switch d.Snapshot.Progress.Toggle(d.Plan) {
	case plan.TransitionRetry:
		return "it is tried again from where it halted", c.change(d.Ref, plan.Progress.Retry), nil
	case plan.TransitionResume:
		return "it goes on", c.change(d.Ref, plan.Progress.Resume), nil
	}
	return "no further pod is updated until it is resumed", c.change(d.Ref, apply.Pausing(c.rollouts().By)), nil
}

func undo(c *Cluster, d *world.Detail, _ world.Act) (string, func() error, error) {
	if !d.Begun {
		return "", nil, errNone
	}
	const why = "somebody wanted it"
	back, err := plan.Back(d.Plan, d.Snapshot, why)
	if err != nil {
		return "", nil, err
	}
	return fmt.Sprintf("back to the template before: %d pods are updated again, in %d steps", d.Pods.Updated, len(back.Steps)), func() error {
		if err := c.change(d.Ref, apply.Aborting(why, true))(); err != nil {
			return err
		}
		return c.back(d.Ref, why)
	}, nil
}

func abort(c *Cluster, d *world.Detail, _ world.Act) (string, func() error, error) {
	if err := c.on(d); err != nil {
		return "", nil, err
	}
	text := fmt.Sprintf("it ends where it stands: %d of %d pods are updated", d.Pods.Updated, d.Pods.Desired)
	return text, c.change(d.Ref, apply.Aborting("aborted by "+c.rollouts().By, false)), nil
}

func restart(c *Cluster, d *world.Detail, act world.Act) (string, func() error, error) {
	p, err := plan.BuildRestart(d.Snapshot, plan.Restarting{Containers: act.Containers, Pods: act.Pods}, plan.Policy{})
	if err != nil {
		return "", nil, err
	}
	pods := len(d.Snapshot.Pods)
	if len(act.Pods) > 0 {
		pods = len(act.Pods)
	}
	return fmt.Sprintf("containers of %d pods restart in place", pods), func() error { return c.begin(d.Ref, p) }, nil
}

func scale(c *Cluster, d *world.Detail, act world.Act) (string, func() error, error) {
	n, err := strconv.Atoi(act.Value)
	if err != nil || n < 0 || n > largest {
		return "", nil, fmt.Errorf("%s: a number of pods from 0 to %d", act.Value, largest)
	}
	patch := plan.Patch{Type: "merge", Subresource: "scale", Body: map[string]any{"spec": map[string]any{"replicas": int64(n)}}}
	return fmt.Sprintf("%d pods become %d", d.Pods.Desired, n), func() error {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.world.Patch(d.Ref, patch)
	}, nil
}

// largest is the largest workload of the demo.
const largest = 1000

func partition(c *Cluster, d *world.Detail, act world.Act) (string, func() error, error) {
	path := plan.PartitionPath(d.Ref.Group, d.Ref.Kind, d.Snapshot.Workload.Version)
	if len(path) == 0 {
		return "", nil, errors.New("it has no partition")
	}
	var value any = act.Value
	if n, err := strconv.Atoi(act.Value); err == nil {
		value = int64(n)
	} else if _, err := plan.ParseAmount(act.Value); err != nil {
		return "", nil, err
	}
	for _, name := range slices.Backward(path) {
		value = map[string]any{name: value}
	}
	return "so many pods stay at the old revision: " + act.Value, func() error {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.world.MergePatch(d.Ref, value.(map[string]any))
	}, nil
}
