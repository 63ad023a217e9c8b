package simulate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/group"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// GroupMember is one rollout of a group, with what is known of its workload.
type GroupMember struct {
	Plan     plan.Plan
	Snapshot plan.Snapshot
	// Begun is true if the rollout is in progress already, as the snapshot's progress has it.
	Begun bool
}

// GroupTimeline is what happened to a group.
type GroupTimeline struct {
	Outcome  group.Outcome
	Reason   string
	Duration time.Duration
	// Runs are when each member started and ended, in the order of the members; negative
	// where it did not.
	Runs []GroupRun
	// Peaks are the most pods that were unavailable at a time: of each budget that covers
	// pods of a member, of each namespace and of each node where there were any.
	Peaks []Peak
	// MostActive is how many members were in progress at a time, MostUnavailable how many
	// of their pods were unavailable.
	MostActive, MostUnavailable int
}

// GroupRun is when one member started and ended.
type GroupRun struct{ Begin, End time.Duration }

// groupPatience is for how long nothing may happen before the run of a group counts as blocked.
const groupPatience = 2 * patience

// Group carries out a group over one cluster, with pods that behave: every member by [plan.Next],
// and which of them start by [group.Next]. Pauses that wait for a user are taken to be approved at
// once. The error is why the group could not end.
func Group(g group.Group, members []GroupMember, o Options) (GroupTimeline, error) {
	d, err := newGroupDriver(g, members, o)
	if err != nil {
		return GroupTimeline{}, err
	}
	for d.line.Outcome == "" {
		if err := d.step(); err != nil {
			return d.line, err
		}
	}
	d.line.Duration, d.line.Peaks = d.clock.at, d.peaks.list()
	if d.line.Outcome != group.Done {
		return d.line, fmt.Errorf("the rollouts cannot all be completed: after %s, %s", d.clock.at.Round(time.Second), d.line.Reason)
	}
	return d.line, nil
}

// groupDriver is one run of a group.
type groupDriver struct {
	*World
	group   group.Group
	members []*groupRunner
	line    GroupTimeline
	peaks   peaks
	// changed is when something of the group itself happened last.
	changed time.Duration
}

// groupRunner carries one member out.
type groupRunner struct {
	GroupMember

	ref    cluster.Ref
	phase  group.Phase
	reason string
	// seen is the version of the last look; again is when to look at the latest, forever for
	// not before something changes.
	seen     uint64
	nextLook time.Duration
	// asked counts the requests of one moment, askedAt.
	asked   int
	askedAt time.Duration
}

func newGroupDriver(g group.Group, members []GroupMember, o Options) (*groupDriver, error) {
	if err := g.Check(); err != nil {
		return nil, err
	}
	total, hooks := 0, time.Duration(0)
	var known []plan.Snapshot
	for _, m := range members {
		total, hooks = total+m.Plan.Limits.Replicas, max(hooks, m.Plan.HookAnswer)
		known = append(known, m.Snapshot)
	}
	if total > MostPods {
		return nil, fmt.Errorf("%d pods are more than the %d that a model of a cluster holds", total, MostPods)
	}
	w, err := fromSnapshots(known, o)
	if err != nil {
		return nil, err
	}
	w.pods.answerHooks(hooks)
	d := &groupDriver{World: w, group: g, peaks: peaks{}}
	for _, m := range members {
		r := &groupRunner{GroupMember: m, ref: m.Plan.Target.Ref(), phase: group.Pending, nextLook: forever}
		if m.Begun {
			target, err := w.store.lookup(r.ref)
			if err != nil {
				return nil, err
			}
			target.progress, r.phase = unblocked(m.Snapshot.Progress, m.Plan, w.clock.now()), group.Progressing
		}
		d.members = append(d.members, r)
		d.line.Runs = append(d.line.Runs, GroupRun{Begin: -1, End: -1})
	}
	d.sample()
	return d, nil
}

// step starts what may start, and does what is due of what is in progress; where that is
// nothing, time passes.
func (d *groupDriver) step() error {
	decision := group.Next(d.group, d.status(), group.Control{})
	for _, i := range decision.Start {
		d.members[i].phase, d.members[i].nextLook = group.Progressing, d.clock.at
	}
	active, did := 0, len(decision.Start) > 0
	for i, r := range d.members {
		if r.phase != group.Progressing {
			continue
		}
		if active++; d.line.Runs[i].Begin < 0 {
			d.line.Runs[i].Begin = d.clock.at
		}
		acted, err := d.advance(r)
		if err != nil {
			return fmt.Errorf("%s: %w", r.ref, err)
		}
		if did = did || acted; r.phase != group.Progressing {
			d.line.Runs[i].End = d.clock.at
		}
	}
	d.line.MostActive = max(d.line.MostActive, active)
	switch {
	case did:
		d.changed = d.clock.at
		return nil
	case active == 0 && decision.Outcome != group.InProgress:
		d.finish(decision.Outcome, decision.Reason)
		return nil
	}
	return d.passTime(decision)
}

// status returns the states of the members.
func (d *groupDriver) status() []group.Status {
	out := make([]group.Status, len(d.members))
	for i, r := range d.members {
		out[i] = group.Status{Phase: r.phase, Unavailable: d.unavailable(r.ref)}
	}
	return out
}

// unavailable is how many pods of a workload are missing from those that should be available.
func (d *groupDriver) unavailable(ref cluster.Ref) int {
	o := d.store.objects[ref]
	if o == nil {
		return 0
	}
	up := 0
	for _, p := range d.store.podsOf(o) {
		if !p.Deleting && isReady(p) {
			up++
		}
	}
	if o.carrier != nil {
		o = o.carrier
	}
	return max(0, d.store.wanted(o)-up)
}

// advance does what is due of one member. It looks only where something has changed.
func (d *groupDriver) advance(r *groupRunner) (acted bool, err error) {
	o, err := d.store.lookup(r.ref)
	if err != nil || o.version == r.seen && d.clock.at < r.nextLook {
		return false, err
	}
	snap, err := d.Snapshot(r.ref)
	if err != nil {
		return false, err
	}
	r.seen, r.nextLook = o.version, forever
	decision := plan.Next(r.Plan, snap, d.clock.now())
	if decision.Progress != snap.Progress {
		if err := d.Record(context.Background(), r.ref, snap.Version, decision.Progress); err != nil {
			return false, err
		}
	}
	switch decision.Verb {
	case plan.Act:
		return d.act(r, decision)
	case plan.Wait:
		return d.wait(r, decision)
	case plan.Halt:
		r.phase, r.reason = group.Failed, decision.Reason
	case plan.Done:
		r.phase = group.Completed
	}
	return true, nil
}

func (d *groupDriver) act(r *groupRunner, decision plan.Decision) (bool, error) {
	if r.askedAt != d.clock.at {
		r.asked, r.askedAt = 0, d.clock.at
	}
	if r.asked += len(decision.Actions); r.asked > maxRequests+10*r.Plan.Limits.Replicas {
		r.phase, r.reason = group.Failed, decision.Reason+": asked for again and again, without effect"
		return true, nil
	}
	for _, a := range decision.Actions {
		err := d.Do(context.Background(), r.ref, a)
		switch {
		case errors.Is(err, plan.ErrRefused), errors.Is(err, plan.ErrConflict):
			r.nextLook, r.reason = d.clock.at+retryInterval, err.Error()
			return false, nil
		case err != nil && !errors.Is(err, plan.ErrNotFound):
			return false, err
		}
	}
	r.nextLook = d.clock.at
	return true, nil
}

// wait has a user approve at once what waits for one, and all else be looked at later. What
// waits for a budget is looked at every second, since nothing of its own changes.
func (d *groupDriver) wait(r *groupRunner, decision plan.Decision) (bool, error) {
	if len(decision.Blockers) > 0 && decision.Blockers[0].Gate == plan.GatePromote {
		r.nextLook = d.clock.at
		return true, d.Promote(r.ref, r.Plan)
	}
	r.reason, r.nextLook = decision.Reason, forever
	if len(d.budgets.unavailable)+len(d.budgets.disruptions) > 0 {
		r.nextLook = d.clock.at + retryInterval
	}
	if !decision.Until.IsZero() {
		r.nextLook = min(r.nextLook, max(decision.Until.Sub(d.clock.start), d.clock.at+1))
	}
	return false, nil
}

// passTime lets the next thing happen. A run in which nothing has for long is blocked.
func (d *groupDriver) passTime(decision group.Decision) error {
	if d.clock.at-max(d.clock.active, d.changed) > groupPatience || d.clock.at > longestRun {
		d.finishStuck(decision)
		return nil
	}
	next := max(d.clock.active, d.changed) + groupPatience + 1
	for _, r := range d.members {
		if r.phase == group.Progressing {
			next = min(next, max(r.nextLook, d.clock.at+1))
		}
	}
	before := d.clock.at
	if !d.clock.step(next) {
		d.clock.at = max(d.clock.at, next)
		return d.clock.fault()
	}
	if d.clock.at != before || d.clock.active == d.clock.at {
		d.sample()
	}
	return d.clock.fault()
}

// finishStuck reports what the members wait for that are in progress, or why none starts.
func (d *groupDriver) finishStuck(decision group.Decision) {
	var reasons []string
	for _, r := range d.members {
		if r.phase == group.Progressing && len(reasons) < maxReasons {
			reasons = append(reasons, d.group.Name(r.ref)+": "+r.reason)
		}
	}
	d.line.Outcome, d.line.Reason = group.HasFailed, cmp.Or(strings.Join(reasons, "; "), decision.Reason)
}

func (d *groupDriver) finish(o group.Outcome, why string) {
	d.line.Outcome, d.line.Reason = o, why
	for _, r := range d.members {
		if r.phase == group.Failed {
			d.line.Reason += "; " + d.group.Name(r.ref) + ": " + r.reason
		}
	}
}

// SharedBudgets are the budgets of several members, as [group.Next] looks at them.
func SharedBudgets(members []GroupMember) []group.Budget {
	found := map[string]int{}
	var all []group.Budget
	add := func(i int, kind, name string, n rules.BudgetCounts, pods int) {
		key := fmt.Sprintf("%s/%s/%s", kind, members[i].Snapshot.Workload.Namespace, name)
		at, ok := found[key]
		if !ok {
			at = len(all)
			found[key] = at
			all = append(all, group.Budget{Name: key, Allowed: max(0, n.Expected-n.Desired), Takes: map[int]int{}})
		}
		all[at].Takes[i] = min(members[i].Plan.Limits.MaxUnavailable, pods)
	}
	for i, m := range members {
		for _, b := range m.Snapshot.Budgets {
			add(i, "podunavailablebudget", b.Name, b.Counts(), len(b.Pods))
		}
		for _, b := range m.Snapshot.Disruptions {
			add(i, "poddisruptionbudget", b.Name, b.Counts(), len(b.Pods))
		}
	}
	return slices.DeleteFunc(all, func(b group.Budget) bool { return len(b.Takes) < 2 })
}
