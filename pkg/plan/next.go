package plan

import (
	"fmt"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// Next decides what a rollout does now. It is a pure function: the same question
// has the same answer, and whoever asks may come back at any time, after a crash
// too, since what was done is read off the cluster and not remembered.
//
// Every decision carries the progress to record, whatever its verb; it is the
// snapshot's own where nothing has to be recorded.
func Next(p Plan, s Snapshot, now time.Time) Decision {
	r := &run{plan: &p, snap: &s, now: now, progress: s.Progress}
	if d, over := r.over(); over {
		return d
	}
	if d, bad := r.disowned(); bad {
		return d
	}
	if d, more := r.onHold(); more {
		return d
	}
	r.setBack()
	for r.progress.Step < len(p.Steps) {
		if r.progress.Started.IsZero() {
			r.progress.Started = now
		}
		d, done := r.step(&p.Steps[r.progress.Step])
		if !done {
			return d
		}
		before := r.progress
		r.progress, r.seen = Progress{Step: before.Step + 1, Started: now, Free: before.Free, Held: before.Held, HeldFrom: before.HeldFrom}, nil
		if d, more := r.onHold(); more {
			return d
		}
	}
	r.progress.Finished = now
	return r.decide(Done, "all steps are done")
}

// onHold answers while a hold keeps the present step from being taken, after the controller
// was stopped, and while the controller has to be let go.
func (r *run) onHold() (Decision, bool) {
	if r.progress.present(*r.plan) == nil {
		return Decision{}, false
	}
	if !r.progress.holds() {
		return r.lifting()
	}
	if d, more := r.stopping(); more {
		return d, true
	}
	return r.wait(time.Time{}, Blocker{Gate: GateHeld, Why: r.heldText()}), true
}

// setBack has the present step begin now where the record says that it will begin later:
// the clock was set back, or that of another machine is ahead. Else a pause of seconds
// would last until the clock has caught up.
func (r *run) setBack() {
	for _, t := range []*time.Time{&r.progress.Started, &r.progress.Resumed} {
		if r.now.Before(*t) {
			*t = r.now
		}
	}
}

// run is one question.
type run struct {
	plan     *Plan
	snap     *Snapshot
	now      time.Time
	progress Progress
	// seen is what the pods look like, worked out when it is asked for.
	seen *health
}

// over answers for rollouts that have ended, or have nothing to do.
func (r *run) over() (Decision, bool) {
	switch {
	case len(r.plan.Steps) == 0:
		return r.decide(Done, r.plan.Change.Why), true
	case r.progress.Halted != "":
		if d, more := r.stopping(); more {
			return d, true
		}
		d := r.decide(Halt, r.progress.Halted)
		if d.OnFailure = r.onFailure(); r.progress.Aborted {
			d.OnFailure = FailPause
		}
		return d, true
	case r.progress.Check(*r.plan) != nil:
		return r.halt(Blocker{Gate: GateProgress, Why: r.progress.Check(*r.plan).Error()}), true
	case !r.progress.Finished.IsZero() || r.progress.Step == len(r.plan.Steps):
		return r.decide(Done, "all steps are done"), true
	}
	return Decision{}, false
}

// disowned answers where the object is not the one that the plan was made for, or
// somebody else drives it.
func (r *run) disowned() (Decision, bool) {
	if why, bad := r.foreign(); bad {
		return r.halt(why), true
	}
	return Decision{}, false
}

// foreign is why the object is not this rollout's to write.
func (r *run) foreign() (why Blocker, bad bool) {
	w := r.object()
	if w == nil || w.Object == nil {
		return Blocker{Gate: GateObject, Why: "the object is gone"}, true
	}
	want := r.plan.Target.Object()
	switch owner := rolloutOwner(w); {
	case want.UID != "" && w.UID != "" && want.UID != w.UID:
		return Blocker{Gate: GateObject, Why: fmt.Sprintf("%s was deleted and created again: uid %s, not %s", title(w.Ref), w.UID, want.UID)}, true
	case metaOf(w).GetDeletionTimestamp() != nil:
		return Blocker{Gate: GateObject, Why: title(w.Ref) + " is being deleted"}, true
	case owner != "":
		return Blocker{Gate: GateOwner, Why: fmt.Sprintf("%s is now in the hands of %s", title(w.Ref), owner)}, true
	}
	return Blocker{}, false
}

// object is what patches go to.
func (r *run) object() *cluster.Workload {
	if r.plan.Target.Carrier != nil {
		return r.snap.Carrier
	}
	return r.snap.Workload
}

// present is the step that the rollout is at.
func (r *run) present() *Step { return &r.plan.Steps[r.progress.Step] }

func (r *run) onFailure() OnFailure {
	if i := r.progress.Step; i >= 0 && i < len(r.plan.Steps) && r.plan.Steps[i].OnFailure != "" {
		return r.plan.Steps[i].OnFailure
	}
	return FailPause
}

func (r *run) decide(v Verb, reason string) Decision {
	return Decision{Verb: v, Step: r.progress.Step, Progress: r.progress, Reason: reason}
}

// halt stops the rollout: the reason is recorded, so that it stays stopped.
func (r *run) halt(list ...Blocker) Decision {
	r.progress.Halted = list[0].String()
	d := r.decide(Halt, r.progress.Halted)
	d.Blockers, d.OnFailure = list, r.onFailure()
	return d
}

// wait looks again when something changes, and at a time if it is not zero.
func (r *run) wait(until time.Time, list ...Blocker) Decision {
	d := r.decide(Wait, list[0].String())
	d.Blockers, d.Until = list, until
	return d
}

// act carries out actions, which belong to the present step.
func (r *run) act(reason string, actions ...Action) Decision {
	d := r.decide(Act, reason)
	for i := range actions {
		actions[i].Step = r.present().Name
	}
	d.Actions = actions
	return d
}
