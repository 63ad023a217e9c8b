package session

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// Action is what a verb, or a key of the interface, does to recorded rollouts.
type Action struct{ apply.Act }

// ContinuesRollout reports whether the caller carries the rollout out then, unless another process does.
func (a Action) ContinuesRollout() bool {
	return a.Transition == plan.TransitionPromote || a.Transition == plan.TransitionResume || a.Transition == plan.TransitionRetry
}

// Said describes the record then.
func (a Action) Said(r plan.Record) string {
	name := func(i int) string { return r.Plan.Steps[max(0, min(i, len(r.Plan.Steps)-1))].Name }
	switch a.Transition {
	case plan.TransitionPromote:
		switch {
		case a.How.Past > 0:
			return "promoted past step " + name(a.How.Past)
		case a.How == (plan.Promotion{}):
			return "promoted past step " + name(r.Progress.Step)
		}
		return "promoted: skips the pauses up to step " + name(r.Progress.FirstCountingPause-1)
	case plan.TransitionResume:
		return "resumed, now " + r.Describe()
	case plan.TransitionRetry:
		return "retried, now " + r.Describe()
	case plan.TransitionPause:
		return a.paused(r)
	}
	return r.Describe()
}

func (a Action) paused(r plan.Record) string {
	if !a.AfterStep {
		text := "paused: no further pod is updated until 'rollout resume'"
		if by := r.Progress.Stop.String(); by != "" {
			text += " (" + by + ")"
		}
		return text
	}
	text := "paused after the present step"
	if s := r.Present(); s != nil {
		text += ", " + s.Name
	}
	return text + ": its pods are still updated, no others until 'rollout resume'"
}

// Mark writes the decision into the record of a group; by is who decides. A retry is one about its
// rollouts alone.
func (a Action) Mark(r *plan.Rollout, by string) {
	switch a.Transition {
	case plan.TransitionPause:
		r.Paused = by
	case plan.TransitionPromote, plan.TransitionResume:
		r.Paused = ""
	case plan.TransitionAbort, plan.TransitionRollBack:
		if r.Aborted == "" {
			r.Aborted = by
		}
		if a.GoesBack() && !r.Back {
			r.Back, r.Finished, r.Paused = true, time.Time{}, ""
		}
	}
}

// Applies reports whether it is for a rollout of a group in this phase.
func (a Action) Applies(p plan.Phase) bool {
	switch p {
	case plan.PhaseWaiting:
		return true
	case plan.PhaseProgressing:
		return a.Transition != plan.TransitionPromote && a.Transition != plan.TransitionResume
	case plan.PhaseFailed:
		return a.Transition == plan.TransitionRetry
	}
	return false
}

// AsShown returns the action for what 'rollout status' shows of a rollout, which the record may lag
// behind. Who may not read its pods acts on the record.
func (a Action) AsShown(ctx context.Context, c *Client, at *Session, rollouts apply.Rollouts) (Action, error) {
	if a.Transition != plan.TransitionPromote || a.How != (plan.Promotion{}) {
		return a, nil
	}
	rec, err := rollouts.Get(ctx, at.Target.Ref)
	if errors.Is(err, plan.ErrNoRollout) {
		return a, nil // the verb itself says so
	}
	if err != nil {
		return a, err
	}
	if step := rec.Present(); step == nil || step.Kind == plan.StepPause {
		return a, nil
	}
	s := *at
	if err := c.Watch(ctx, &s); err != nil {
		if apierrors.IsForbidden(err) {
			return a, nil
		}
		return a, err
	}
	defer s.Close()
	snapshot, err := s.Observe(ctx, s.Target.Ref)
	if apierrors.IsForbidden(err) {
		return a, nil
	}
	if err == nil {
		a.How = rec.Progress.PromotionAt(plan.Next(rec.Plan, snapshot, s.Now()))
	}
	return a, err
}

// ActOn has a recorded rollout make a transition; said describes the record then. With continues, the caller carries out
// what is left, watched until the context ends, unless another process does.
func (c *Client) ActOn(ctx context.Context, s *Session, a Action, continues bool) (done apply.Done, said string, err error) {
	rollouts, err := c.rolloutsOf(map[cluster.Ref]*Session{s.Target.Ref: s})
	if err != nil {
		return done, "", err
	}
	a.Continues = continues
	if done, err = rollouts.Do(ctx, s.Target.Ref, a.Act); err != nil {
		return done, "", WithHint(err)
	}
	if done.Record.Progress.Stop.Asked {
		c.warnOfStop(s.Object, done.Record.Progress.Stop)
	}
	return done, a.Said(done.Record), nil
}
