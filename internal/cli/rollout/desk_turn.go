package rollout

import (
	"context"
	"errors"
	"fmt"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// turn is a change of a rollout on record.
type turn struct {
	transition plan.Transition
	action
	// goesOn says that it is carried on here, unless somebody carries it out.
	goesOn bool
	// means is the [Offer.Means] of it.
	means func(plan.Record) string
}

// take writes a turn where it still means what somebody has said yes to, and has the
// rollout go on.
func (d *Desk) take(ctx context.Context, rollouts apply.Rollouts, ref cluster.Ref, t turn, means string) (said string, err error) {
	rollouts.Unless = func(r plan.Record) error {
		if t.means(r) != means {
			return errChanged
		}
		return nil
	}
	if t.goesOn && !d.here(ref) {
		// Another process that drives the rollout has the say, and follows at once.
		if by, err := rollouts.Holder(ctx, ref); err != nil || by == "" {
			said, err := d.turn(rollouts, ref, t)
			if _, denied := errors.AsType[*apply.DeniedError](err); !denied && !errors.Is(err, plan.ErrTaken) {
				return said, err
			}
		}
	}
	rec, err := rollouts.Change(ctx, ref, t.do)
	if err != nil {
		return "", err
	}
	if rec, err = d.stopped(ctx, ref, rollouts, rec); err != nil {
		return "", err
	}
	said = t.said(rec)
	if !t.goesOn {
		return said, nil
	}
	where, err := d.goOn(ref)
	return said + where, err
}

// turn is take of a rollout that no process drives: this one does, and the record stays as
// it is where this person may not.
func (d *Desk) turn(rollouts apply.Rollouts, ref cluster.Ref, t turn) (said string, err error) {
	at, _ := d.sessions()
	s, err := d.open(d.ctx, at, ref)
	if err != nil {
		return "", err
	}
	s.Allow(d.authority.asks)
	e, rec, err := rollouts.Turn(d.ctx, s, t.do)
	if err != nil {
		s.Close()
		return "", hinted(err)
	}
	d.drive(s, e)
	return t.said(rec) + "; the rollout is run here", nil
}

// stopped has the controller of a rollout stopped that was paused or aborted.
func (d *Desk) stopped(ctx context.Context, ref cluster.Ref, rollouts apply.Rollouts, rec plan.Record) (plan.Record, error) {
	at, _ := d.sessions()
	s, err := d.locate(ctx, at, ref)
	if err != nil {
		return rec, err
	}
	return at.stop(ctx, s, rollouts, rec)
}

// rolloutOf is which rollout it is, stepOf which step of it, wayOf whether it
// goes on.
func rolloutOf(r plan.Record) string { return "rollout of " + r.Begun.UTC().String() }

func stepOf(r plan.Record) string { return fmt.Sprintf("step %d, %s", r.Progress.Step, rolloutOf(r)) }

func wayOf(r plan.Record) string {
	return fmt.Sprintf("held %t, halted %t, %s", r.Progress.Held != "", r.Progress.Halted != "", rolloutOf(r))
}

var errChanged = &resource.Error{Err: errors.New("it has changed since the question was asked: nothing is done"), Hint: "look at it and try again"}

// DoOnly does it where it means what somebody has said yes to; "" is whatever it means.
func (o *Offer) DoOnly(ctx context.Context, means string) (string, error) {
	if means != "" && means != o.Means {
		return "", errChanged
	}
	return o.do(ctx)
}
