package apply

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// GroupRecords keep groups of rollouts, by namespace and name.
type GroupRecords interface {
	// Load returns a group; the error wraps plan.ErrNoGroup without one.
	Load(ctx context.Context, namespace, name string) (plan.Rollout, error)
	// Begin records a group, in place of one of its name.
	Begin(ctx context.Context, r plan.Rollout) (plan.Rollout, error)
	// Change changes a group as it is recorded now. change is called again where another
	// process has written in between.
	Change(ctx context.Context, namespace, name string, change func(*plan.Rollout) error) (plan.Rollout, error)
	// Hold makes the caller the one that carries a group out, see [Workload].
	Hold(ctx context.Context, namespace, name string, waiting func(holder string)) (held context.Context, release func(), err error)
	// Watch watches a group until the context ends.
	Watch(ctx context.Context, namespace, name string) (GroupWatch, error)
}

// GroupWatch is the record of a group, as it changes.
type GroupWatch interface {
	// Current returns it as it is now. changed is closed when it is another one; nil never is.
	Current() (rec plan.Rollout, changed <-chan struct{}, err error)
}

// Groups carry out several rollouts together. The record of a group says in which order; the
// rollouts are those of a cluster, each with its own record.
type Groups struct {
	Rollouts Rollouts
	Records  GroupRecords
}

// GroupOptions say how a group is carried out.
type GroupOptions struct {
	// Reporter is told of the run; nil is not.
	Reporter GroupReporter
	// AtPause ends the run where a user has to approve, instead of waiting.
	AtPause bool
	// Until is when the run ends, by the clock of this machine; zero is never. The group can be resumed.
	Until time.Time
	// Back has the members rolled back that have begun: it is in the record as well.
	Back bool
	// Run carries one member out as the options say, and closes nothing; nil is [Executor.Run].
	Run func(ctx context.Context, w Workload, e *Executor, o Options) (Result, error)
}

// GroupReporter is told of the run of a group, by one call at a time.
type GroupReporter interface {
	// Recorded gets the record with which the run begins.
	Recorded(rec plan.Rollout)
	// Event gets the events of each rollout.
	Event(e event.Event)
	// Status gets the status of the group whenever that has changed.
	Status(s plan.RolloutStatus)
}

// GroupResult is how the run of a group ended.
type GroupResult struct {
	plan.RolloutStatus

	// Ended is how, in the words for one rollout.
	Ended event.Outcome
	// Faults is why members could not be carried out here, whatever their records say; nil
	// where all could be.
	Faults error
	// Results are how the members ended that were carried out here, in their order; the zero value is
	// one that was not.
	Results []Result
}

// Begin records a group and carries it out.
//
// One without a name has no record as a whole: each member continues by its own.
func (g Groups) Begin(ctx context.Context, rec plan.Rollout, o *GroupOptions) (res GroupResult, err error) {
	if rec.Name == "" {
		return newGroupRun(Groups{g.Rollouts, noRecord{rollout: rec}}, o, false).run(ctx, rec)
	}
	err = g.held(ctx, rec.Namespace, rec.Name, func(held context.Context) error {
		if rec, err = g.record(held, rec); err != nil {
			return err
		}
		res, err = newGroupRun(g, o, false).run(held, rec)
		return err
	})
	return res, err
}

// Record records a group for another process to carry out, by [Groups.Resume].
func (g Groups) Record(ctx context.Context, rec plan.Rollout) error {
	return g.held(ctx, rec.Namespace, rec.Name, func(held context.Context) error {
		_, err := g.record(held, rec)
		return err
	})
}

// record records a group, in place of one that has no rollout in progress beside its
// own. The caller holds the group.
func (g Groups) record(ctx context.Context, rec plan.Rollout) (plan.Rollout, error) {
	before, err := g.Records.Load(ctx, rec.Namespace, rec.Name)
	if err != nil && !errors.Is(err, plan.ErrNoGroup) {
		return rec, err
	}
	if err == nil && before.Finished.IsZero() {
		if err := g.replaces(ctx, before, rec); err != nil {
			return rec, err
		}
	}
	return g.Records.Begin(ctx, rec)
}

// replaces refuses to take a group off the record of which rollouts are in progress that the
// new one does not have.
func (g Groups) replaces(ctx context.Context, before, next plan.Rollout) error {
	known := map[cluster.Ref]bool{}
	for _, m := range next.Members {
		known[m.Ref] = true
	}
	for i, m := range before.Members {
		if known[m.Ref] {
			continue
		}
		rec, err := g.Rollouts.Get(ctx, m.Ref)
		if err != nil && !errors.Is(err, plan.ErrNoRollout) {
			return err
		}
		if p, _ := before.PhaseOf(i, rec, err == nil); p == plan.PhaseProgressing || p == plan.PhaseWaiting {
			return &GroupError{
				Msg:  fmt.Sprintf("group %s is in progress, with %s, which is not in the new one", before.Name, before.MemberName(m.Ref)),
				Hint: "choose another name with --group, or end it with 'kubectl kruise rollout abort --group " + before.Name + "'",
			}
		}
	}
	return nil
}

// GroupError is why a group cannot be carried out, with what to do about it.
type GroupError struct{ Msg, Hint string }

// Error is Msg.
func (e *GroupError) Error() string { return e.Msg }

// Resume carries out what is left of a recorded group. approved is asked, of the record as it is once no other process
// carries the group out, whether it may be. Unless the whole is approved, one member at a time is
// carried out, whatever the record says.
func (g Groups) Resume(ctx context.Context, namespace, name string, approved func(plan.Rollout) (whole bool, err error), o *GroupOptions) (res GroupResult, err error) {
	err = g.held(ctx, namespace, name, func(held context.Context) error {
		rec, err := g.Records.Load(held, namespace, name)
		if err != nil {
			return err
		}
		r := newGroupRun(g, o, false)
		whole, err := approved(rec)
		if err != nil {
			return err
		}
		r.oneByOne = !whole
		res, err = r.run(held, rec)
		return err
	})
	return res, err
}

// Watch reports the status of a group until it has ended, whatever process carries it out. It
// writes nothing.
func (g Groups) Watch(ctx context.Context, rec plan.Rollout, o *GroupOptions) (GroupResult, error) {
	return newGroupRun(g, o, true).run(ctx, rec)
}

func (g Groups) held(ctx context.Context, namespace, name string, do func(context.Context) error) error {
	held, release, err := g.Records.Hold(ctx, namespace, name, g.Rollouts.Workloads.Waiting)
	if err != nil {
		return err
	}
	defer release()
	return do(held)
}

// noRecord is where a rollout is kept that no record has as a whole.
type noRecord struct {
	GroupRecords
	rollout plan.Rollout
}

// Change changes nothing: nothing is kept of it.
func (u noRecord) Change(context.Context, string, string, func(*plan.Rollout) error) (plan.Rollout, error) {
	return u.rollout, nil
}

// Watch watches nothing.
func (u noRecord) Watch(context.Context, string, string) (GroupWatch, error) { return u, nil }

// Current returns it as it is.
func (u noRecord) Current() (plan.Rollout, <-chan struct{}, error) { return u.rollout, nil, nil }

// Status is the present status of a group, member by member, from the records alone.
func (g Groups) Status(ctx context.Context, rec plan.Rollout) (plan.RolloutStatus, error) {
	way := rec.InEffect()
	members := make([]plan.MemberStatus, len(way.Members))
	for i := range way.Members {
		one, err := g.Rollouts.Get(ctx, way.Members[i].Ref)
		if err != nil && !errors.Is(err, plan.ErrNoRollout) {
			return plan.RolloutStatus{}, err
		}
		members[i].Phase, members[i].Reason = rec.PhaseOf(i, one, err == nil)
		members[i].Untouched = rec.IsUntouched(i, one, err == nil)
	}
	return way.Observe(members), nil
}
