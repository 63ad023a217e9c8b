package apply

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/group"
)

// GroupRecords keep groups of rollouts, by namespace and name.
type GroupRecords interface {
	// Load returns a group; the error wraps group.ErrNone without one.
	Load(ctx context.Context, namespace, name string) (group.Record, error)
	// Begin records a group, in place of one of its name.
	Begin(ctx context.Context, r group.Record) (group.Record, error)
	// Change changes a group as it is recorded now. change is called again where another
	// process has written in between.
	Change(ctx context.Context, namespace, name string, change func(*group.Record) error) (group.Record, error)
	// Hold makes the caller the one that carries a group out, see [Workload].
	Hold(ctx context.Context, namespace, name string, waiting func(holder string)) (held context.Context, release func(), err error)
	// Watch has changed called, from any goroutine, when the record has changed that now
	// returns.
	Watch(ctx context.Context, namespace, name string, changed func()) (now func() (group.Record, error), err error)
}

// Groups carry out several rollouts together. The record of a group says in which order; the
// rollouts are those of a cluster, each with its own record.
type Groups struct {
	Rollouts Rollouts
	Records  GroupRecords
}

// GroupOptions say how a group is carried out.
type GroupOptions struct {
	// Emit is called with the events of each rollout, Report with the status of the group whenever that has
	// changed; nil is not called. One of them is called at a time.
	Emit   func(event.Event)
	Report func(GroupStatus)
	// AtPause ends the run where a user has to approve, instead of waiting.
	AtPause bool
	// Until is when the run ends; zero is never. The group can be resumed.
	Until time.Time
	// Back has the members rolled back that have begun: it is in the record as well.
	Back bool
	// OneByOne has one member carried out at a time, whatever the record says.
	OneByOne bool
	// Budgets are those that members share, see [group.Group]: what is known of each member
	// when the run begins says which; nil has none looked at.
	Budgets func(members []plan.Snapshot) []group.Budget
	// Approved is asked, of the record as it is once no other process carries the group
	// out, whether it may be; nil allows it.
	Approved func(group.Record) error
	// Recorded is called with the record with which the run begins; nil is not called.
	Recorded func(group.Record)
}

// GroupStatus is the status of a group.
type GroupStatus struct {
	Outcome group.Outcome
	Reason  string
	Members []MemberStatus
}

// MemberStatus is the status of one rollout of a group.
type MemberStatus struct {
	Ref   cluster.Ref
	Wave  int
	Phase group.Phase
	// Untouched is [group.Status.Untouched].
	Untouched bool
	// Reason is why it does not start, or why it failed; it may be empty.
	Reason string
}

// GroupResult is how the run of a group ended.
type GroupResult struct {
	GroupStatus

	// Ended is how, in the words for one rollout.
	Ended event.Outcome
	// Faults is why members could not be carried out here, whatever their records say; nil
	// where all could be.
	Faults error
}

// Begin records a group and carries it out.
func (g Groups) Begin(ctx context.Context, rec group.Record, o *GroupOptions) (res GroupResult, err error) {
	err = g.held(ctx, rec.Namespace, rec.Name, func(held context.Context) error {
		if rec, err = g.record(held, rec); err != nil {
			return err
		}
		res, err = g.run(held, rec, o)
		return err
	})
	return res, err
}

// Record records a group for another process to carry out, by [Groups.Resume].
func (g Groups) Record(ctx context.Context, rec group.Record) error {
	return g.held(ctx, rec.Namespace, rec.Name, func(held context.Context) error {
		_, err := g.record(held, rec)
		return err
	})
}

// record records a group, in place of one that has no rollout in progress beside its
// own. The caller holds the group.
func (g Groups) record(ctx context.Context, rec group.Record) (group.Record, error) {
	before, err := g.Records.Load(ctx, rec.Namespace, rec.Name)
	if err != nil && !errors.Is(err, group.ErrNone) {
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
func (g Groups) replaces(ctx context.Context, before, next group.Record) error {
	known := map[cluster.Ref]bool{}
	for _, m := range next.Group.Members {
		known[m.Ref] = true
	}
	for i, m := range before.Group.Members {
		if known[m.Ref] {
			continue
		}
		rec, err := g.Rollouts.Get(ctx, m.Ref)
		if err != nil && !errors.Is(err, plan.ErrNoRollout) {
			return err
		}
		if p, _ := before.PhaseOf(i, rec, err == nil); p == group.Progressing || p == group.Waiting {
			return &GroupError{
				Msg:  fmt.Sprintf("group %s is in progress, with %s, which is not in the new one", before.Name, before.Group.Name(m.Ref)),
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

// Resume carries out what is left of a recorded group.
func (g Groups) Resume(ctx context.Context, namespace, name string, o *GroupOptions) (res GroupResult, err error) {
	err = g.held(ctx, namespace, name, func(held context.Context) error {
		rec, err := g.Records.Load(held, namespace, name)
		if err != nil {
			return err
		}
		if o.Approved != nil {
			if err := o.Approved(rec); err != nil {
				return err
			}
		}
		res, err = g.run(held, rec, o)
		return err
	})
	return res, err
}

// Watch reports the status of a group until it has ended, whatever process carries it out. It
// writes nothing.
func (g Groups) Watch(ctx context.Context, rec group.Record, o *GroupOptions) (GroupResult, error) {
	return newGroupRun(g, o, true).run(ctx, rec)
}

func (g Groups) run(ctx context.Context, rec group.Record, o *GroupOptions) (GroupResult, error) {
	return newGroupRun(g, o, false).run(ctx, rec)
}

func (g Groups) held(ctx context.Context, namespace, name string, do func(context.Context) error) error {
	held, release, err := g.Records.Hold(ctx, namespace, name, g.Rollouts.Waiting)
	if err != nil {
		return err
	}
	defer release()
	return do(held)
}

// Status is the present status of a group, member by member, from the records alone.
func (g Groups) Status(ctx context.Context, rec group.Record) (GroupStatus, error) {
	return g.status(rec, func(i int) (plan.Record, error) { return g.Rollouts.Get(ctx, rec.Group.Members[i].Ref) })
}

func (g Groups) status(rec group.Record, of func(i int) (plan.Record, error)) (GroupStatus, error) {
	way, control := rec.InEffect()
	status, whys := make([]group.Status, len(way.Members)), make([]string, len(way.Members))
	for i := range way.Members {
		one, err := of(i)
		if err != nil && !errors.Is(err, plan.ErrNoRollout) {
			return GroupStatus{}, err
		}
		status[i].Phase, whys[i] = rec.PhaseOf(i, one, err == nil)
		status[i].Untouched = rec.IsUntouched(i, one, err == nil)
	}
	return memberStatusOf(way, status, whys, group.Observe(way, status, control)), nil
}

func memberStatusOf(g group.Group, status []group.Status, whys []string, d group.Decision) GroupStatus {
	out := GroupStatus{Outcome: d.Outcome, Reason: d.Reason}
	for i, m := range g.Members {
		one := MemberStatus{Ref: m.Ref, Wave: m.Wave, Phase: status[i].Phase, Untouched: status[i].Untouched, Reason: whys[i]}
		if one.Reason == "" {
			one.Reason = d.Blocked[i]
		}
		out.Members = append(out.Members, one)
	}
	return out
}
