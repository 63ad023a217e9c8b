package rollout

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout/session"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// preview describes what the verb does to a recorded rollout, and the requests that
// follow from it; with back, those of the way back.
func (o *control) preview(ctx context.Context, at *session.Session, a session.Action, back bool) error {
	s := *at
	if err := o.Watch(ctx, &s); err != nil {
		return err
	}
	defer s.Close()
	rec, err := s.Rollout()
	if errors.Is(err, plan.ErrNoRollout) {
		return o.none(ctx, &s)
	}
	if err != nil {
		return err
	}
	if err := o.printTransition(&rec, a); err != nil {
		return err
	}
	list, err := o.requestsAfter(ctx, &s, rec, back)
	if err != nil {
		return err
	}
	if list != nil {
		err = o.ShowRequests(ctx, list)
	}
	if o.Printer != nil {
		err = errors.Join(err, o.Printer.Resource(o.Client, s.Object))
	}
	return err
}

// requestsAfter are the requests that follow from a record as the verb leaves it: with back,
// those of the way back; nil where the verb sends none.
func (o *control) requestsAfter(ctx context.Context, s *session.Session, rec plan.Record, back bool) ([]event.Request, error) {
	if back {
		way, from, err := apply.WayBack(ctx, s, rec, rec.Progress.Failed)
		if err != nil {
			return nil, err
		}
		return s.PlanRequests(way, session.Remaining(way, session.Beginning(from), s.Now(), true))
	}
	snapshot, err := s.Observe(ctx, s.Target.Ref)
	if err != nil {
		return nil, err
	}
	snapshot.Progress = rec.Progress
	switch {
	case o.continuesHere():
		return s.PlanRequests(rec.Plan, session.Remaining(rec.Plan, snapshot, s.Now(), false))
	case rec.Progress.Stop.Asked:
		return s.PlanRequests(rec.Plan, session.DueNow(rec.Plan, snapshot, s.Now()))
	}
	return nil, nil
}

// printTransition makes the change to what was read of a record, and prints it.
func (o *control) printTransition(rec *plan.Record, a session.Action) error {
	next, err := a.Apply(rec.Progress, rec.Plan, session.Holder(), time.Now())
	if rec.Progress = next; err == nil {
		_, err = fmt.Fprintln(o.Factory.Streams.Err, a.Said(*rec)+o.Dry().Suffix())
	}
	return err
}

// none is the error of a workload that no rollout is recorded for.
func (o *control) none(ctx context.Context, s *session.Session) error {
	r, err := o.ReleaseOf(ctx, s)
	switch {
	case err != nil || r == nil:
		return session.NoRollout(s.Target.String())
	case o.action.Transition == plan.TransitionPromote:
		return o.onRelease(ctx, r)
	}
	return session.ControlledByRelease(s.Target.String(), r)
}
