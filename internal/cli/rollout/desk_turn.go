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
	rec, err := rollouts.Change(ctx, ref, t.do)
	if err != nil {
		return "", err
	}
	said = t.said(rec)
	if !t.goesOn {
		return said, nil
	}
	where, err := d.goOn(ref)
	return said + where, err
}

// rolloutOf is which rollout it is, stepOf which step of it, wayOf whether it
// goes on.
func rolloutOf(r plan.Record) string { return "rollout of " + r.Begun.UTC().String() }

func stepOf(r plan.Record) string { return fmt.Sprintf("step %d, %s", r.Progress.Step, rolloutOf(r)) }

func wayOf(r plan.Record) string {
	return fmt.Sprintf("held %t, halted %t, %s", r.Progress.Held != "", r.Progress.Halted != "", rolloutOf(r))
}

var errChanged = &resource.Error{Err: errors.New("it is not as it was when somebody was asked: nothing is done"), Hint: "look at it and ask again"}

// DoOnly does it where it means what somebody has said yes to; "" is whatever it means.
func (o *Offer) DoOnly(ctx context.Context, means string) (string, error) {
	if means != "" && means != o.Means {
		return "", errChanged
	}
	return o.do(ctx)
}
