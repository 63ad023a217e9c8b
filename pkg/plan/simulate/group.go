package simulate

import (
	"fmt"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
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

// Group carries out a group over one cluster, with pods that behave. Pauses that wait for a user are
// taken to be approved at once. The error is why the group could not end.
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

func newGroupDriver(g plan.Rollout, members []GroupMember, o Options) (*driver, error) {
	if err := g.Check(); err != nil {
		return nil, err
	}
	var known []plan.Snapshot
	for _, m := range members {
		known = append(known, m.Snapshot)
	}
	w, err := fromSnapshots(known, o)
	if err != nil {
		return nil, err
	}
	d := &driver{World: w, rollout: g, opt: RolloutOptions{Promote: new(time.Duration)}, peaks: peaks{}}
	if err := d.enlist(); err != nil {
		return nil, err
	}
	for i, m := range d.members {
		if members[i].Begun {
			target, err := w.store.lookup(m.Ref)
			if err != nil {
				return nil, err
			}
			target.progress, m.phase = unblocked(members[i].Snapshot.Progress, m.Plan, w.clock.now()), plan.PhaseProgressing
		}
	}
	d.sample()
	return d, nil
}

// unavailable is how many pods of a workload are missing from those that should be available.
func (d *driver) unavailable(ref cluster.Ref) int {
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
