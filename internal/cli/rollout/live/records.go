package live

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout/session"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// Offer is something that can be done to a workload, and what would come of it. It is
// worked out again when it is done: the cluster may have changed since.
type Offer struct {
	// Change is what it does in numbers, Effect what else there is to know.
	Change plan.Consequence
	Effect []string
	// Means identifies what was confirmed: the rollout, the object, the step and the direction.
	// It must not have changed since.
	Means string
	do    func(context.Context) (string, error)
}

// Promote continues a rollout after its present step.
func (d *Rollouts) Promote(ctx context.Context, ref cluster.Ref) (*Offer, error) {
	return d.onRecord(ctx, ref, session.Action{Act: apply.Act{Transition: plan.TransitionPromote}})
}

// Abort ends a rollout; its pods stay as they are.
func (d *Rollouts) Abort(ctx context.Context, ref cluster.Ref) (*Offer, error) {
	return d.onRecord(ctx, ref, session.Action{Act: apply.Act{Transition: plan.TransitionAbort}})
}

// PauseOrResume pauses what is in progress, resumes what was paused or has no executor, and retries what has
// halted: the recorded rollout or, without one, the workload's own controller.
func (d *Rollouts) PauseOrResume(ctx context.Context, ref cluster.Ref) (*Offer, error) {
	rollouts, err := d.rollouts()
	if err != nil {
		return nil, err
	}
	rec, err := rollouts.Get(ctx, ref)
	switch {
	case errors.Is(err, plan.ErrNoRollout), err == nil && rec.State() == plan.StateDone:
		return d.pauseField(ctx, ref)
	case err != nil:
		return nil, err
	}
	a := session.Action{Act: apply.Act{Transition: rec.Progress.Toggle(rec.Plan)}}
	if a.Transition == plan.TransitionPause && d.orphan(ctx, rollouts, ref) { // ending it stops a controller that continues
		a.Transition = plan.TransitionResume
	}
	return d.onRecord(ctx, ref, a)
}

// orphan reports whether it is certain that no process runs a rollout.
func (d *Rollouts) orphan(ctx context.Context, rollouts apply.Rollouts, ref cluster.Ref) bool {
	by, err := rollouts.Holder(ctx, ref)
	return err == nil && by == "" && !d.here(ref)
}

// onRecord offers to change the recorded rollout.
func (d *Rollouts) onRecord(ctx context.Context, ref cluster.Ref, a session.Action) (*Offer, error) {
	rollouts, err := d.rollouts()
	if err != nil {
		return nil, err
	}
	rec, err := rollouts.Get(ctx, ref)
	if errors.Is(err, plan.ErrNoRollout) {
		return nil, d.none(ctx, ref)
	}
	if err != nil {
		return nil, err
	}
	at, _ := d.Sessions()
	s, err := at.LocateRef(ctx, ref)
	if err != nil {
		return nil, err
	}
	if a, err = a.AsShown(ctx, at.Client, s, rollouts); err != nil {
		return nil, err
	}
	shown := rec.Progress
	shown.Step = max(shown.Step, a.How.Past)
	means, change := a.Means(rec), plan.ConsequenceOf(a.Transition, rec.Plan, shown)
	if rec.Progress, err = a.Apply(rec.Progress, rec.Plan, session.Holder(), time.Now()); err != nil {
		return nil, err
	}
	o := &Offer{Change: change, Means: means}
	if a.ContinuesRollout() {
		o.Effect = append(o.Effect, d.driver(ctx, rollouts, ref))
	}
	o.do = func(ctx context.Context) (string, error) { return d.applyIf(ctx, ref, a, means) }
	return o, nil
}

// none is the refusal where no rollout is recorded: a Kruise Rollout may have it.
func (d *Rollouts) none(ctx context.Context, ref cluster.Ref) error {
	at, _ := d.Sessions()
	s, err := at.LocateRef(ctx, ref)
	if err != nil {
		return err
	}
	if r, err := at.ReleaseOf(ctx, s); err == nil && r != nil {
		return session.ControlledByRelease(ref.String(), r)
	}
	return session.NoRollout(ref.String())
}

// driver reports who carries the rollout on.
func (d *Rollouts) driver(ctx context.Context, rollouts apply.Rollouts, ref cluster.Ref) string {
	by, err := rollouts.Holder(ctx, ref)
	switch {
	case d.here(ref):
		return "This program runs the rollout."
	case err == nil && by == "":
		return "No program runs the rollout: this one does, until you leave it."
	case err != nil:
		return "This program runs the rollout, unless another one does."
	}
	return "The rollout is run by " + by + "."
}

// pauseField offers to pause a workload itself, or to have it go on.
func (d *Rollouts) pauseField(ctx context.Context, ref cluster.Ref) (*Offer, error) {
	at, said := d.Sessions()
	s, err := at.LocateRef(ctx, ref)
	if err != nil {
		return nil, err
	}
	if r, err := at.ReleaseOf(ctx, s); err == nil && r != nil {
		return nil, session.ControlledByRelease(ref.String(), r)
	}
	path := session.PausedPath(s.Object)
	on := !tree.Bool(tree.Get(s.Object.Node(), path...))
	if err := session.Pausable(s.Object, path, on); err != nil {
		return nil, err
	}
	change, text := plan.Consequence{Transition: plan.TransitionPause}, "paused: its controller updates no more pods until it is resumed"
	if !on {
		change.Transition, text = plan.TransitionResume, "resumed: its controller updates pods"
	}
	at.WarnOfOwners(s.Object)
	means := fmt.Sprintf("pause %t of %s", on, tree.StrAt(s.Object.Node(), "metadata", "uid"))
	return &Offer{Change: change, Effect: said.lines(), Means: means, do: func(ctx context.Context) (string, error) {
		_, err := at.WritePause(ctx, s, path, on, metav1.PatchOptions{FieldManager: session.FieldManager})
		return text, err
	}}, nil
}

// applyIf writes a change where it still means what the user has confirmed, and continues the
// rollout.
func (d *Rollouts) applyIf(ctx context.Context, ref cluster.Ref, a session.Action, means string) (said string, err error) {
	at, _ := d.Sessions()
	s, err := at.LocateRef(ctx, ref)
	if err != nil {
		return "", err
	}
	a.Confirmed = means
	done, said, err := at.ActOn(d.ctx, s, a, a.ContinuesRollout() && !d.here(ref))
	if done.Executor != nil {
		d.drive(s, done.Executor)
	}
	switch {
	case err != nil:
		return "", err
	case errors.Is(done.Elsewhere, plan.ErrOtherExecutor):
		return said + "; the rollout continues where it is run", nil
	case done.Elsewhere != nil:
		return said, session.WithHint(done.Elsewhere)
	case done.Executor != nil:
		said += "; the rollout is run here"
	}
	return said, nil
}

// DoOnly does it where it means what the user has confirmed; "" is whatever it means.
func (o *Offer) DoOnly(ctx context.Context, means string) (string, error) {
	if means != "" && means != o.Means {
		return "", session.WithHint(apply.ErrChanged)
	}
	return o.do(ctx)
}
