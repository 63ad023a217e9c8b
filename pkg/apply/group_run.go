package apply

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// opensAtOnce is how many workloads are opened at a time.
const opensAtOnce = 16

// triesAgain is after how long a rollout is asked for again that another process carries out.
const triesAgain = 20 * time.Second

// groupRun is one run of a group. Its members are looked at and started by one goroutine;
// each that is carried out here has one of its own.
type groupRun struct {
	Groups

	opt *GroupOptions
	// watches indicates that nothing is carried out here, and the status of the group is reported.
	watches bool
	// oneByOne has one member carried out at a time. begun is the record with which it began.
	oneByOne bool
	begun    plan.Rollout
	record   GroupWatch
	// recorded is closed when the record has changed since the last look.
	recorded <-chan struct{}
	members  []*groupMember
	queue    chan struct{}
	last     plan.RolloutStatus
	budgets  []plan.SharedBudget

	emitting sync.Mutex
	all      sync.WaitGroup
}

// groupMember is one rollout of a group.
type groupMember struct {
	workload Workload
	index    int
	plan     *plan.Plan
	// version is that of the last look; stale says that there is something new to see.
	status  plan.MemberStatus
	waiting context.CancelFunc

	mu    sync.Mutex
	stale bool
	// runs indicates that it is carried out here, unavailable how many pods are missing then, and
	// paused that it waits for a user.
	runs        bool
	unavailable int
	paused      bool
	// fault is why it could not be started; nothing says that there was nothing to roll back.
	fault   error
	nothing bool
	// taken is until when another process carries it out; result is how the run here ended,
	// and endedAt at which version of its record.
	taken   time.Time
	result  Result
	endedAt string
}

func newGroupRun(g Groups, o *GroupOptions, watches bool) *groupRun {
	return &groupRun{Groups: g, opt: o, watches: watches, queue: make(chan struct{}, 1)}
}

// run looks, and starts what is due, until the group has ended or the context has.
func (r *groupRun) run(ctx context.Context, rec plan.Rollout) (GroupResult, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	if r.begun = rec; r.opt.Reporter != nil {
		r.opt.Reporter.Recorded(rec)
	}
	var err error
	if r.record, err = r.Records.Watch(ctx, rec.Namespace, rec.Name); err != nil {
		return GroupResult{}, err
	}
	defer r.close()
	if err := r.openAll(ctx, rec); err != nil {
		return GroupResult{}, err
	}
	if err := r.findBudgets(ctx, rec); err != nil {
		return GroupResult{}, err
	}
	defer r.all.Wait()
	for {
		res, err := r.reconcile(ctx)
		if err != nil || res.Ended != "" {
			stop()
			return res, err
		}
		if err := r.await(ctx); err != nil {
			r.all.Wait() // each leaves its rollout where it is
			return GroupResult{RolloutStatus: r.last, Ended: endedBy(err), Results: r.results()}, refusedToHold(ctx)
		}
	}
}

func endedBy(err error) event.Outcome {
	if errors.Is(err, plan.ErrOtherExecutor) {
		return event.TakenOver
	}
	return event.Interrupted
}

// requeue has the run look again.
func (r *groupRun) requeue() {
	select {
	case r.queue <- struct{}{}:
	default:
	}
}

func (r *groupRun) close() {
	for _, m := range r.members {
		if m.workload != nil {
			m.workload.Close()
		}
	}
}

// openAll opens the workloads of all members, some at a time.
func (r *groupRun) openAll(ctx context.Context, rec plan.Rollout) error {
	r.members = make([]*groupMember, len(rec.Members))
	errs := make([]error, len(rec.Members))
	slots := make(chan struct{}, opensAtOnce)
	var all sync.WaitGroup
	for i := range rec.Members {
		m := &groupMember{index: i, plan: &rec.Members[i].Plan, stale: true}
		r.members[i] = m
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			w, err := r.Rollouts.Workloads.Open(ctx, rec.Members[i].Ref)
			switch {
			case errors.Is(err, plan.ErrNotFound):
				m.fault = err
			case err != nil:
				errs[i] = err
			default:
				m.workload = w
				m.fault, errs[i] = r.prove(ctx, rec, i, w)
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// ErrNotDelivered is a rollout that counts as failed though its record says that it is completed.
var ErrNotDelivered = errors.New("its record says that it is completed, and the workload does not have what it leads to: the record was edited, or the workload was changed since")

// prove compares what a record says of a member that is completed with its workload: how far a rollout has
// come is in no digest, and others may have edited it.
func (r *groupRun) prove(ctx context.Context, rec plan.Rollout, i int, w Workload) (fault, err error) {
	own, err := w.Rollout()
	if r.watches || errors.Is(err, plan.ErrNoRollout) {
		return nil, nil
	}
	if phase, _ := rec.PhaseOf(i, own, true); err != nil || phase != plan.PhaseCompleted || rec.IsUntouched(i, own, true) {
		return nil, err
	}
	s, err := w.Observe(ctx, rec.Members[i].Ref)
	switch {
	case errors.Is(err, plan.ErrNotFound):
		return err, nil
	case err == nil && !own.IsDelivered(s):
		return ErrNotDelivered, nil
	}
	return nil, err
}

// findBudgets looks up the budgets that members share, unless nothing starts here or they follow one after the other. A
// workload that is gone has none.
func (r *groupRun) findBudgets(ctx context.Context, rec plan.Rollout) error {
	if r.watches || rec.Name == "" {
		return nil
	}
	list := make([]plan.Snapshot, len(r.members))
	for i, m := range r.members {
		if m.workload == nil {
			continue
		}
		s, err := m.workload.Observe(ctx, m.plan.Target.Ref())
		if err != nil && !errors.Is(err, plan.ErrNotFound) && !errors.Is(err, plan.ErrOtherExecutor) {
			return err
		}
		if err == nil && s.Workload != nil {
			list[i] = s
		}
	}
	r.budgets = plan.SharedBudgets(rec.Members, list)
	return nil
}

// reconcile observes the members once, and starts what is due.
func (r *groupRun) reconcile(ctx context.Context) (GroupResult, error) {
	rec, err := r.decided()
	if err != nil {
		return GroupResult{}, err
	}
	way := r.inEffect(rec)
	members, err := r.refreshAll(ctx, rec)
	if err != nil {
		return GroupResult{}, err
	}
	start, now := way.Start(members)
	if !r.watches {
		r.startDue(ctx, rec, members, start)
		for _, i := range start {
			now.Members[i].Phase = plan.PhaseProgressing
		}
	}
	r.report(now)
	return r.ended(ctx, rec, now)
}

// decided is the record with which it began, with what users have decided since: its members and
// limits are those that were approved, whatever others have made of the record.
func (r *groupRun) decided() (plan.Rollout, error) {
	rec := r.begun
	now, recorded, err := r.record.Current()
	r.recorded = recorded
	switch {
	case err != nil:
		return rec, err
	case now.Begun.After(rec.Begun):
		return rec, fmt.Errorf("%w: %s has begun another group %s", plan.ErrOtherExecutor, now.By, now.Name)
	}
	rec.Paused, rec.Aborted, rec.Back, rec.Finished = now.Paused, now.Aborted, now.Back, now.Finished
	return rec, nil
}

// startDue carries on what has begun and is not carried out here, and starts more.
func (r *groupRun) startDue(ctx context.Context, rec plan.Rollout, members []plan.MemberStatus, more []int) {
	for i, m := range r.members {
		if r.continues(m, members[i].Phase) {
			r.start(ctx, rec, m, true)
		}
	}
	if r.timedOut() {
		return
	}
	for _, i := range more {
		r.start(ctx, rec, r.members[i], false)
	}
}

// timedOut reports whether the time of the run is over.
func (r *groupRun) timedOut() bool { return !r.opt.Until.IsZero() && !time.Now().Before(r.opt.Until) }

// isRedirected reports whether a user has it rolled back since, or no longer: the process of that
// user does it.
func (r *groupRun) isRedirected(rec plan.Rollout) bool { return !r.watches && rec.Back != r.opt.Back }

// inEffect is the group as it is carried out here. What users have decided about it since may end
// that: the process of who has it rolled back does that, with their rights.
func (r *groupRun) inEffect(rec plan.Rollout) *plan.Rollout {
	way := rec.InEffect()
	if r.isRedirected(rec) {
		rec.Back, rec.Aborted = false, cmp.Or(rec.Aborted, "by another process")
		way = &rec
	}
	if r.oneByOne {
		way.Bounds.Parallel = 1
	}
	way.Budgets = r.budgets
	return way
}

// report reports the status of the group where that has changed.
func (r *groupRun) report(s plan.RolloutStatus) {
	for i := range s.Members {
		s.Members[i].Unavailable = 0 // that changes with every pod
	}
	changed := !reflect.DeepEqual(s, r.last)
	if r.last = s; changed && r.opt.Reporter != nil {
		r.emitting.Lock()
		defer r.emitting.Unlock()
		r.opt.Reporter.Status(s)
	}
}

// ended is how the run ends; none of its rollouts is carried out here then.
func (r *groupRun) ended(ctx context.Context, rec plan.Rollout, s plan.RolloutStatus) (GroupResult, error) {
	if r.running() {
		return GroupResult{RolloutStatus: s}, nil
	}
	res := GroupResult{RolloutStatus: s, Results: r.results()}
	switch {
	case s.Phase == plan.PhaseCompleted && rec.Back:
		res.Ended = event.RolledBack
	case s.Phase == plan.PhaseCompleted:
		res.Ended = event.Completed
	case s.Phase == plan.PhaseFailed || s.Phase == plan.PhaseAborted:
		res.Ended, res.Faults = event.Failed, r.faults()
	case r.timedOut(), slices.ContainsFunc(res.Results, func(r Result) bool { return r.Outcome == event.TimedOut }):
		res.Ended = event.TimedOut
	case s.Phase == plan.PhaseWaiting && r.opt.AtPause:
		res.Ended = event.AtPause
	}
	if r.isRedirected(rec) {
		res.Ended, res.Reason = event.TakenOver, "it is rolled back "+rec.Aborted
		return res, nil
	}
	if r.watches || s.Phase != plan.PhaseCompleted && s.Phase != plan.PhaseAborted {
		return res, nil
	}
	_, err := r.Records.Change(ctx, rec.Namespace, rec.Name, func(now *plan.Rollout) error {
		if now.Finished.IsZero() && now.Back == rec.Back {
			now.Finished = time.Now().UTC()
		}
		return nil
	})
	return res, err
}

// faults is why members could not be carried out here.
func (r *groupRun) faults() error {
	var all []error
	for _, m := range r.members {
		m.mu.Lock()
		all = append(all, m.fault)
		m.mu.Unlock()
	}
	return errors.Join(all...)
}

// results are how the members ended here.
func (r *groupRun) results() []Result {
	out := make([]Result, len(r.members))
	for i, m := range r.members {
		m.mu.Lock()
		out[i] = m.result
		m.mu.Unlock()
	}
	return out
}

func (r *groupRun) running() bool {
	for _, m := range r.members {
		if m.isRunning() {
			return true
		}
	}
	return false
}

func (m *groupMember) isRunning() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.runs
}

// continues reports whether a rollout that has begun is to be carried out here. One that has
// ended here is, when a user has changed its record since.
func (r *groupRun) continues(m *groupMember, p plan.Phase) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.runs || m.workload == nil || m.fault != nil || time.Now().Before(m.taken):
		return false
	case m.result.Outcome == event.TimedOut, m.result.Outcome == event.Interrupted:
		return false
	}
	return p == plan.PhaseProgressing || p == plan.PhaseWaiting && (!r.opt.AtPause || m.result.Outcome == "")
}

// await waits for a change, or for the time that something is due.
func (r *groupRun) await(ctx context.Context) error {
	var due <-chan time.Time
	if until := r.due(); !until.IsZero() {
		timer := time.NewTimer(time.Until(until))
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-ctx.Done():
		return cmp.Or(context.Cause(ctx), ctx.Err())
	case <-r.queue:
	case <-r.recorded:
	case <-due:
	}
	return nil
}

// due is when to look again, whatever changes; zero is never.
func (r *groupRun) due() time.Time {
	until := r.opt.Until
	for _, m := range r.members {
		m.mu.Lock()
		if !m.runs && m.taken.After(time.Now()) && (until.IsZero() || m.taken.Before(until)) {
			until = m.taken
		}
		m.mu.Unlock()
	}
	return until
}
