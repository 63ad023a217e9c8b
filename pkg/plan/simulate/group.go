package simulate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/group"
)

// GroupMember is one rollout of a group, with what is known of its workload.
type GroupMember struct {
	Plan     plan.Plan
	Snapshot plan.Snapshot
	// Begun says that the rollout is in progress already, as the snapshot's progress has it.
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

// groupPatience is for how long nothing may happen before the run of a group counts as stuck.
const groupPatience = 2 * patience

// Group carries out a group over one cluster, with pods that behave: every member by
// [plan.Next], and which of them start by [group.Next]. Pauses that wait for a user are taken
// to be approved at once. The error says why the group could not end.
func Group(g group.Group, members []GroupMember, o Options) (GroupTimeline, error) {
	d, err := newGroupDriver(g, members, o)
	if err != nil {
		return GroupTimeline{}, err
	}
	for d.line.Outcome == "" {
		if err := d.turn(); err != nil {
			return d.line, err
		}
	}
	d.line.Duration, d.line.Peaks = d.at, d.peaks.list()
	if d.line.Outcome != group.Done {
		return d.line, fmt.Errorf("the rollouts cannot all be completed: after %s, %s", d.at.Round(time.Second), d.line.Reason)
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
	// turned is when something of the group itself happened last.
	turned time.Duration
}

// groupRunner carries one member out.
type groupRunner struct {
	GroupMember

	ref    cluster.Ref
	phase  group.Phase
	reason string
	// seen is the version of the last look; again is when to look at the latest, forever for
	// not before something changes.
	seen  uint64
	again time.Duration
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
	w.answerHooks(hooks)
	d := &groupDriver{World: w, group: g, peaks: peaks{}}
	for _, m := range members {
		r := &groupRunner{GroupMember: m, ref: m.Plan.Target.Ref(), phase: group.Pending, again: forever}
		if m.Begun {
			target, err := w.lookup(r.ref)
			if err != nil {
				return nil, err
			}
			target.progress, r.phase = unblocked(m.Snapshot.Progress, m.Plan, w.now()), group.Progressing
		}
		d.members = append(d.members, r)
		d.line.Runs = append(d.line.Runs, GroupRun{Begin: -1, End: -1})
	}
	d.sample()
	return d, nil
}

// turn starts what may start, and does what is due of what is in progress; where that is
// nothing, time passes.
func (d *groupDriver) turn() error {
	decision := group.Next(d.group, d.status(), group.Control{})
	for _, i := range decision.Start {
		d.members[i].phase, d.members[i].again = group.Progressing, d.at
	}
	active, did := 0, len(decision.Start) > 0
	for i, r := range d.members {
		if r.phase != group.Progressing {
			continue
		}
		if active++; d.line.Runs[i].Begin < 0 {
			d.line.Runs[i].Begin = d.at
		}
		acted, err := d.look(r)
		if err != nil {
			return fmt.Errorf("%s: %w", r.ref, err)
		}
		if did = did || acted; r.phase != group.Progressing {
			d.line.Runs[i].End = d.at
		}
	}
	d.line.MostActive = max(d.line.MostActive, active)
	switch {
	case did:
		d.turned = d.at
		return nil
	case active == 0 && decision.Outcome != group.InProgress:
		d.finish(decision.Outcome, decision.Reason)
		return nil
	}
	return d.pass(decision)
}

func (d *groupDriver) finish(o group.Outcome, why string) {
	d.line.Outcome, d.line.Reason = o, why
	for _, r := range d.members {
		if r.phase == group.Failed {
			d.line.Reason += "; " + d.group.Name(r.ref) + ": " + r.reason
		}
	}
}

// status is how the members stand.
func (d *groupDriver) status() []group.Status {
	out := make([]group.Status, len(d.members))
	for i, r := range d.members {
		out[i] = group.Status{Phase: r.phase, Unavailable: d.down(r.ref)}
	}
	return out
}

// down is how many pods of a workload are missing from those that should be available.
func (d *groupDriver) down(ref cluster.Ref) int {
	o := d.objects[ref]
	if o == nil {
		return 0
	}
	up := 0
	for _, p := range d.podsOf(o) {
		if !p.Deleting && isReady(p) {
			up++
		}
	}
	if o.carrier != nil {
		o = o.carrier
	}
	return max(0, d.wanted(o)-up)
}

// look does what is due of one member. It looks only where something has changed.
func (d *groupDriver) look(r *groupRunner) (acted bool, err error) {
	o, err := d.lookup(r.ref)
	if err != nil || o.version == r.seen && d.at < r.again {
		return false, err
	}
	snap, err := d.Snapshot(r.ref)
	if err != nil {
		return false, err
	}
	r.seen, r.again = o.version, forever
	decision := plan.Next(r.Plan, snap, d.now())
	if decision.Progress != snap.Progress {
		if err := d.Record(context.Background(), r.ref, snap.Version, decision.Progress); err != nil {
			return false, err
		}
	}
	switch decision.Verb {
	case plan.Act:
		return d.act(r, decision)
	case plan.Wait:
		return d.waits(r, decision)
	case plan.Halt:
		r.phase, r.reason = group.Failed, decision.Reason
	case plan.Done:
		r.phase = group.Completed
	}
	return true, nil
}

func (d *groupDriver) act(r *groupRunner, decision plan.Decision) (bool, error) {
	if r.askedAt != d.at {
		r.asked, r.askedAt = 0, d.at
	}
	if r.asked += len(decision.Actions); r.asked > mostRequests+10*r.Plan.Limits.Replicas {
		r.phase, r.reason = group.Failed, decision.Reason+": asked for again and again, without effect"
		return true, nil
	}
	for _, a := range decision.Actions {
		err := d.Do(context.Background(), r.ref, a)
		switch {
		case errors.Is(err, plan.ErrRefused), errors.Is(err, plan.ErrConflict):
			r.again, r.reason = d.at+again, err.Error()
			return false, nil
		case err != nil && !errors.Is(err, plan.ErrNotFound):
			return false, err
		}
	}
	r.again = d.at
	return true, nil
}

// waits has a user approve at once what waits for one, and all else be looked at later. What
// waits for a budget is looked at every second, since nothing of its own changes.
func (d *groupDriver) waits(r *groupRunner, decision plan.Decision) (bool, error) {
	if len(decision.Blockers) > 0 && decision.Blockers[0].Gate == plan.GatePromote {
		r.again = d.at
		return true, d.Promote(r.ref, r.Plan)
	}
	r.reason, r.again = decision.Reason, forever
	if len(d.guards)+len(d.disruptions) > 0 {
		r.again = d.at + again
	}
	if !decision.Until.IsZero() {
		r.again = min(r.again, max(decision.Until.Sub(d.start), d.at+1))
	}
	return false, nil
}

// pass lets the next thing happen. A run in which nothing has for long is stuck.
func (d *groupDriver) pass(decision group.Decision) error {
	if d.at-max(d.active, d.turned) > groupPatience || d.at > year {
		d.stuck(decision)
		return nil
	}
	next := max(d.active, d.turned) + groupPatience + 1
	for _, r := range d.members {
		if r.phase == group.Progressing {
			next = min(next, max(r.again, d.at+1))
		}
	}
	before := d.at
	if !d.step(next) {
		d.at = max(d.at, next)
		return d.fault()
	}
	if d.at != before || d.active == d.at {
		d.sample()
	}
	return d.fault()
}

// stuck says what the members wait for that are in progress, or why none starts.
func (d *groupDriver) stuck(decision group.Decision) {
	var reasons []string
	for _, r := range d.members {
		if r.phase == group.Progressing && len(reasons) < mostReasons {
			reasons = append(reasons, d.group.Name(r.ref)+": "+r.reason)
		}
	}
	d.line.Outcome, d.line.Reason = group.HasFailed, cmp.Or(strings.Join(reasons, "; "), decision.Reason)
}

// fromSnapshots returns a world with the workloads of several snapshots, and what is known
// around them.
func fromSnapshots(list []plan.Snapshot, o Options) (*World, error) {
	w := New(o)
	pods := 0
	for _, s := range list {
		for name, labels := range s.Namespaces {
			w.Namespace(name, labels)
		}
		for _, name := range sortedNodes(s.Nodes) {
			w.AddNode(name, s.Nodes[name].Labels)
		}
		if err := w.keepObserved(s); err != nil {
			return nil, err
		}
		pods += len(s.Pods)
	}
	for _, s := range list {
		for _, p := range s.Pods {
			if w.pods[p.UID] == nil { // a SidecarSet has those of others
				w.loadPod(p)
			}
		}
	}
	w.enoughNodes(pods)
	w.loadSharedBudgets(list)
	w.calm()
	return w, nil
}

// loadSharedBudgets is loadBudgets for several snapshots, which may have a budget in common:
// what it covers beyond the first of them is less what the others know of.
func (w *World) loadSharedBudgets(list []plan.Snapshot) {
	index := map[string]int{}
	at := func(kind, namespace, name string, n int) (int, bool) {
		key := kind + "/" + namespace + "/" + name
		i, ok := index[key]
		if !ok {
			index[key] = n
		}
		return i, ok
	}
	for _, s := range list {
		namespace := s.Workload.Namespace
		one := plan.Snapshot{Workload: s.Workload}
		for _, b := range s.Budgets {
			i, ok := at("pub", namespace, b.Name, len(w.guards)+len(one.Budgets))
			if !ok {
				one.Budgets = append(one.Budgets, b)
				continue
			}
			have := &w.guards[i].beyond
			have.Expected, have.Available = max(0, have.Expected-b.Expected), max(0, have.Available-max(len(b.Pods), b.Expected))
		}
		for _, b := range s.Disruptions {
			i, ok := at("pdb", namespace, b.Name, len(w.disruptions)+len(one.Disruptions))
			if !ok {
				one.Disruptions = append(one.Disruptions, b)
				continue
			}
			have := &w.disruptions[i].beyond
			have.Expected, have.Available = max(0, have.Expected-b.Expected), max(0, have.Available-max(len(b.Pods), b.Expected))
		}
		w.addBudgets(one)
	}
	w.countBudgets()
}
