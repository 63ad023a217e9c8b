package apply

import (
	"context"
	"errors"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// refreshAll is how the members stand. Only those are looked at again of which something has
// changed.
func (r *groupRun) refreshAll(ctx context.Context, rec plan.Rollout) ([]plan.MemberStatus, error) {
	out := make([]plan.MemberStatus, len(r.members))
	for i, m := range r.members {
		if err := r.refresh(ctx, rec, m); err != nil {
			return nil, err
		}
		out[i] = m.status
	}
	return out, nil
}

func (r *groupRun) refresh(ctx context.Context, rec plan.Rollout, m *groupMember) error {
	m.mu.Lock()
	runs, stale, fault, nothing, down, paused := m.runs, m.stale, m.fault, m.nothing, m.unavailable, m.paused
	m.stale = false
	m.mu.Unlock()
	switch {
	case fault != nil:
		m.status = plan.MemberStatus{Phase: plan.PhaseFailed, Unavailable: m.status.Unavailable, Reason: fault.Error()}
		return nil //nolint:nilerr // it is the member that has failed, and the others continue
	case nothing && rec.Back:
		m.status.Phase, m.status.Untouched, m.status.Reason = plan.PhaseCompleted, true, "" // no pod of it was updated
		return nil
	case m.workload == nil:
		return nil
	}
	own, err := m.workload.Rollout()
	if err != nil && !errors.Is(err, plan.ErrNoRollout) {
		return err
	}
	m.status.Phase, m.status.Reason = rec.PhaseOf(m.index, own, err == nil)
	m.status.Untouched = rec.IsUntouched(m.index, own, err == nil)
	m.keepOutcome(own)
	switch {
	case runs:
		// What it tells is newer than what is read of its record.
		if p := m.status.Phase; p == plan.PhasePending || p == plan.PhaseWaiting && !paused {
			m.status.Phase = plan.PhaseProgressing
		} else if p == plan.PhaseProgressing && paused {
			m.status.Phase = plan.PhaseWaiting
		}
		m.status.Unavailable = down
		return nil
	case !stale:
		return nil
	}
	return r.observe(ctx, m)
}

// keepOutcome has a member stay as its run here has ended, until another process changes its record.
func (m *groupMember) keepOutcome(own plan.Record) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.runs || m.status.Phase != plan.PhaseProgressing && m.status.Phase != plan.PhaseWaiting:
	case own.Version != m.endedAt:
		m.result.Outcome = ""
	case m.result.Outcome == event.AtPause:
		m.status.Phase = plan.PhaseWaiting
	case m.result.Outcome == event.Failed:
		m.status.Phase, m.status.Reason = plan.PhaseFailed, m.result.Reason
	}
}

// observe counts the pods that are unavailable of a member that is not carried out here, and
// has the run look again when anything of it changes.
func (r *groupRun) observe(ctx context.Context, m *groupMember) error {
	ref := m.plan.Target.Ref()
	s, err := m.workload.Observe(ctx, ref)
	if err != nil {
		if errors.Is(err, plan.ErrNotFound) || errors.Is(err, plan.ErrOtherExecutor) {
			m.mu.Lock()
			m.fault = err
			m.mu.Unlock()
			r.requeue()
			return nil
		}
		return err
	}
	if m.status.Unavailable = 0; s.Workload != nil {
		t := plan.Count(*m.plan, s)
		m.status.Unavailable = max(0, t.Desired-t.Ready)
	}
	if m.waiting != nil {
		m.waiting()
	}
	waits, stop := context.WithCancel(ctx)
	m.waiting = stop
	go func() {
		if m.workload.Await(waits, ref, s.Version, time.Time{}) == nil {
			m.mu.Lock()
			m.stale = true
			m.mu.Unlock()
			r.requeue()
		}
	}()
	return nil
}

// start carries a member out, in a goroutine of its own; begun indicates that its rollout is on
// record.
func (r *groupRun) start(ctx context.Context, rec plan.Rollout, m *groupMember, begun bool) {
	if m.waiting != nil {
		m.waiting()
		m.waiting = nil
	}
	m.mu.Lock()
	m.runs, m.result, m.unavailable, m.paused = true, Result{}, m.status.Unavailable, false
	m.mu.Unlock()
	r.all.Go(func() {
		res, err := r.carryOut(ctx, rec, m, begun)
		m.mu.Lock()
		defer m.mu.Unlock()
		m.runs, m.stale, m.result = false, true, res
		if own, err := m.workload.Rollout(); err == nil {
			m.endedAt = own.Version
		}
		switch {
		case ctx.Err() != nil:
		case errors.Is(err, plan.ErrOtherExecutor), res.Outcome == event.TakenOver:
			m.taken = time.Now().Add(triesAgain)
		case err != nil:
			m.fault = err
		}
		r.requeue()
	})
}

func (r *groupRun) carryOut(ctx context.Context, rec plan.Rollout, m *groupMember, begun bool) (Result, error) {
	e, err := r.executor(ctx, rec, m, begun)
	if err != nil {
		return Result{}, err
	}
	if len(e.Plan().Steps) == 0 {
		e.Release()
		m.mu.Lock()
		defer m.mu.Unlock()
		m.nothing = true
		return Result{}, nil
	}
	o := Options{AtPause: r.opt.AtPause, Until: TimeIn(m.workload, r.opt.Until), Emit: func(e event.Event) { r.emit(m, e) }}
	if r.opt.Run != nil {
		return r.opt.Run(ctx, m.workload, e, o)
	}
	return e.Run(o)
}

func (r *groupRun) executor(ctx context.Context, rec plan.Rollout, m *groupMember, begun bool) (*Executor, error) {
	switch {
	case begun:
		return r.Rollouts.TakeOver(ctx, m.workload)
	case rec.Back:
		why := "aborted " + rec.Aborted
		if _, err := r.Rollouts.Change(ctx, m.plan.Target.Ref(), Act{Transition: plan.TransitionRollBack, Why: why}); err != nil {
			return nil, err
		}
		return r.Rollouts.Rollback(ctx, m.workload, why)
	}
	if err := r.approved(ctx, rec, m); err != nil {
		return nil, err
	}
	return r.Rollouts.Begin(ctx, m.workload, *m.plan)
}

// approved refuses to begin a plan of a record that the user has not approved: when they were asked, its own
// record, which others may have deleted since, may have said that it is in progress.
func (r *groupRun) approved(ctx context.Context, rec plan.Rollout, m *groupMember) error {
	if rec.Name == "" || r.Rollouts.Approvals == nil {
		return nil
	}
	known, err := r.Rollouts.Approvals.Approved(ctx, *m.plan)
	if err == nil && !known {
		err = &UnapprovedError{[]string{"it had not been shown when the group was approved"}}
	}
	return err
}

// emit passes on what one rollout tells, and keeps how many of its pods are unavailable and
// whether it waits for a user.
func (r *groupRun) emit(m *groupMember, e event.Event) {
	m.mu.Lock()
	if e.Counts != nil {
		m.unavailable = max(0, e.Counts.Desired-e.Counts.Ready)
	}
	if e.Type != event.Pods && e.Type != event.Note && e.Type != event.Refused {
		m.paused = e.Type == event.Paused
	}
	m.mu.Unlock()
	if r.opt.Reporter != nil {
		r.emitting.Lock()
		r.opt.Reporter.Event(e)
		r.emitting.Unlock()
	}
	switch e.Type {
	case event.Pods, event.Opened, event.StepBegun, event.Paused, event.Halted:
		r.requeue()
	}
}
