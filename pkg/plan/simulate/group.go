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
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// GroupMember is what is known of the workload of a member.
type GroupMember struct {
	Snapshot plan.Snapshot
	// Begun is true if the rollout is in progress already, as the snapshot's progress has it.
	Begun bool
}

// GroupTimeline is what happened to a group.
type GroupTimeline struct {
	Phase    plan.Phase
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
// and which of them start by [plan.Rollout.Start]. Pauses that wait for a user are taken to be approved at
// once. The error is why the group could not end.
func Group(g plan.Rollout, members []GroupMember, o Options) (GroupTimeline, error) {
	d, err := newGroupDriver(g, members, o)
	if err != nil {
		return GroupTimeline{}, err
	}
	for d.line.Phase == "" {
		if err := d.step(); err != nil {
			return d.line, err
		}
	}
	d.line.Duration, d.line.Peaks = d.clock.at, d.peaks.list()
	if d.line.Phase != plan.PhaseCompleted {
		return d.line, fmt.Errorf("the rollouts cannot all be completed: after %s, %s", d.clock.at.Round(time.Second), d.line.Reason)
	}
	return d.line, nil
}

// groupDriver is one run of a group.
type groupDriver struct {
	*World
	group   plan.Rollout
	members []*groupRunner
	line    GroupTimeline
	peaks   peaks
	// changed is when something of the group itself happened last.
	changed time.Duration
}

// groupRunner carries one member out.
type groupRunner struct {
	*plan.Member

	phase  plan.Phase
	reason string
	// seen is the version of the last look; again is when to look at the latest, forever for
	// not before something changes.
	seen     uint64
	nextLook time.Duration
	// asked counts the requests of one moment, askedAt.
	asked   int
	askedAt time.Duration
}

func newGroupDriver(g plan.Rollout, members []GroupMember, o Options) (*groupDriver, error) {
	if err := g.Check(); err != nil {
		return nil, err
	}
	total, hooks := 0, plan.HookAnswer(0)
	var known []plan.Snapshot
	for i, m := range members {
		of := &g.Members[i].Plan
		total, hooks = total+of.Limits.Replicas, max(hooks, of.HookAnswer)
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
	for i, m := range members {
		r := &groupRunner{Member: &g.Members[i], phase: plan.PhasePending, nextLook: forever}
		if m.Begun {
			target, err := w.store.lookup(r.Ref)
			if err != nil {
				return nil, err
			}
			target.progress, r.phase = unblocked(m.Snapshot.Progress, r.Plan, w.clock.now()), plan.PhaseProgressing
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
	// The states of the members.
	out := make([]plan.MemberStatus, len(d.members))
	for i, r := range d.members {
		out[i] = plan.MemberStatus{Phase: r.phase, Unavailable: d.unavailable(r.Ref)}
	}
	start, now := d.group.Start(out)
	for _, i := range start {
		d.members[i].phase, d.members[i].nextLook = plan.PhaseProgressing, d.clock.at
	}
	active, did := 0, len(start) > 0
	for i, r := range d.members {
		if r.phase != plan.PhaseProgressing {
			continue
		}
		if active++; d.line.Runs[i].Begin < 0 {
			d.line.Runs[i].Begin = d.clock.at
		}
		acted, err := d.advance(r)
		if err != nil {
			return fmt.Errorf("%s: %w", r.Ref, err)
		}
		if did = did || acted; r.phase != plan.PhaseProgressing {
			d.line.Runs[i].End = d.clock.at
		}
	}
	d.line.MostActive = max(d.line.MostActive, active)
	switch {
	case did:
		d.changed = d.clock.at
		return nil
	case active == 0 && now.Phase != plan.PhaseProgressing:
		d.line.Phase, d.line.Reason = now.Phase, now.Reason
		for _, r := range d.members {
			if r.phase == plan.PhaseFailed {
				d.line.Reason += "; " + d.group.MemberName(r.Ref) + ": " + r.reason
			}
		}
		return nil
	}
	return d.passTime(now.Reason)
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
	o, err := d.store.lookup(r.Ref)
	if err != nil || o.version == r.seen && d.clock.at < r.nextLook {
		return false, err
	}
	snap, err := d.Snapshot(r.Ref)
	if err != nil {
		return false, err
	}
	r.seen, r.nextLook = o.version, forever
	decision := plan.Next(r.Plan, snap, d.clock.now())
	if decision.Progress != snap.Progress {
		if err := d.Record(context.Background(), r.Ref, snap.Version, decision.Progress); err != nil {
			return false, err
		}
	}
	switch decision.Verb {
	case plan.Act:
		return d.act(r, decision)
	case plan.Wait:
		// A user approves at once what waits for one, and all else is looked at later. What waits for a budget is looked at
		// every second, since nothing of its own changes.
		if len(decision.Blockers) > 0 && decision.Blockers[0].Gate == plan.GatePromote {
			r.nextLook = d.clock.at
			return true, d.Promote(r.Ref, r.Plan)
		}
		r.reason, r.nextLook = decision.Reason, forever
		if len(d.budgets.unavailable.list)+len(d.budgets.disruptions.list) > 0 {
			r.nextLook = d.clock.at + retryInterval
		}
		if !decision.Until.IsZero() {
			r.nextLook = min(r.nextLook, max(decision.Until.Sub(d.clock.start), d.clock.at+1))
		}
		return false, nil
	case plan.Halt:
		r.phase, r.reason = plan.PhaseFailed, decision.Reason
	case plan.Done:
		r.phase = plan.PhaseCompleted
	}
	return true, nil
}

func (d *groupDriver) act(r *groupRunner, decision plan.Decision) (bool, error) {
	if r.askedAt != d.clock.at {
		r.asked, r.askedAt = 0, d.clock.at
	}
	if r.asked += len(decision.Actions); r.asked > maxRequests+10*r.Plan.Limits.Replicas {
		r.phase, r.reason = plan.PhaseFailed, decision.Reason+": asked for again and again, without effect"
		return true, nil
	}
	for _, a := range decision.Actions {
		err := d.Do(context.Background(), r.Ref, a)
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

// passTime lets the next thing happen. A run in which nothing has for long is blocked.
func (d *groupDriver) passTime(why string) error {
	if d.clock.at-max(d.clock.active, d.changed) > groupPatience || d.clock.at > longestRun {
		// Report what the members wait for that are in progress, or why none starts.
		var reasons []string
		for _, r := range d.members {
			if r.phase == plan.PhaseProgressing && len(reasons) < maxReasons {
				reasons = append(reasons, d.group.MemberName(r.Ref)+": "+r.reason)
			}
		}
		d.line.Phase, d.line.Reason = plan.PhaseFailed, cmp.Or(strings.Join(reasons, "; "), why)
		return nil
	}
	next := max(d.clock.active, d.changed) + groupPatience + 1
	for _, r := range d.members {
		if r.phase == plan.PhaseProgressing {
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

// SharedBudgets are the budgets of several members, as [plan.Rollout.Start] looks at them.
func SharedBudgets(of []plan.Member, known []plan.Snapshot) []plan.SharedBudget {
	found := map[string]int{}
	var all []plan.SharedBudget
	add := func(i int, kind, name string, n rules.BudgetCounts, pods int) {
		key := fmt.Sprintf("%s/%s/%s", kind, known[i].Workload.Namespace, name)
		at, ok := found[key]
		if !ok {
			at = len(all)
			found[key] = at
			all = append(all, plan.SharedBudget{Name: key, Allowed: max(0, n.Expected-n.Desired), Takes: map[int]int{}})
		}
		all[at].Takes[i] = min(of[i].Plan.Limits.MaxUnavailable, pods)
	}
	for i, s := range known {
		for _, b := range s.Budgets {
			add(i, "podunavailablebudget", b.Name, b.Counts(), len(b.Pods))
		}
		for _, b := range s.Disruptions {
			add(i, "poddisruptionbudget", b.Name, b.Counts(), len(b.Pods))
		}
	}
	return slices.DeleteFunc(all, func(b plan.SharedBudget) bool { return len(b.Takes) < 2 })
}
