package plan

import (
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// Next decides what a rollout does now. It is a pure function: the same question
// has the same answer, and an executor can ask again at any time, after a crash
// too, since what was done is read off the cluster and not remembered.
//
// Every decision carries the progress to record, whatever its verb; it is the
// snapshot's own where nothing has to be recorded.
func Next(p Plan, s Snapshot, now time.Time) Decision {
	r := &run{rollout: rollout{plan: &p, snap: &s, now: now, progress: s.Progress}}
	if d, over := r.ended(); over {
		return d
	}
	if why, bad := r.ownershipProblem(); bad {
		return r.halt(why)
	}
	if d, more := r.hold(); more {
		return d
	}
	r.clampClock()
	for r.progress.Step < len(p.Steps) {
		if r.progress.Started.IsZero() {
			r.progress.Started = now
		}
		d, done := r.step(&p.Steps[r.progress.Step])
		if !done {
			return d
		}
		before := r.progress
		r.progress, r.examined = Progress{Step: before.Step + 1, Started: now, FirstCountingPause: before.FirstCountingPause, PausedBy: before.PausedBy, PausedFrom: before.PausedFrom}, nil
		if d, more := r.hold(); more {
			return d
		}
	}
	r.progress.Finished = now
	return r.decide(Done, "all steps are done")
}

// run decides what a rollout does now.
type run struct {
	rollout
	// examined is the health of the updated pods, worked out once when it is needed.
	examined *health
}

// rollout is a plan with what is observed of its workload at one moment.
type rollout struct {
	plan     *Plan
	snap     *Snapshot
	now      time.Time
	progress Progress
}

// ended decides about rollouts that have ended, or have no steps.
func (r *run) ended() (Decision, bool) {
	switch {
	case len(r.plan.Steps) == 0:
		return r.decide(Done, r.plan.Change.Why), true
	case r.progress.Failed != "":
		if d, more := r.ensureStopped(); more {
			return d, true
		}
		d := r.decide(Halt, r.progress.Failed)
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

// clampClock sets the start of the current step to now if the recorded start is in the future: the
// clock was set back, or that of another machine is ahead. Otherwise a pause of seconds would last
// until the clock has caught up.
func (r *run) clampClock() {
	for _, t := range []*time.Time{&r.progress.Started, &r.progress.Resumed} {
		if r.now.Before(*t) {
			*t = r.now
		}
	}
}

// step decides about one step; done is true when the rollout continues with the next.
func (r *run) step(s *Step) (d Decision, done bool) {
	if d, bad := r.checkDrift(s); bad {
		return d, false
	}
	switch s.Kind {
	case StepPause:
		return r.pause(s)
	case StepVerify:
		return r.verify(s)
	case StepPullImages:
		return r.pullImages(s)
	case StepInPlace, StepRecreate:
		return r.updatePods(s)
	case StepRecreateContainers:
		return r.restartContainers(s)
	}
	return r.sendPatches(s)
}

// pause waits for time, or for approval; pods that fail meanwhile end it.
func (r *run) pause(s *Step) (Decision, bool) {
	if r.progress.Promoted || r.progress.Step < r.progress.FirstCountingPause {
		return Decision{}, true
	}
	if bad := r.failures(); len(bad) > 0 {
		return r.halt(bad...), false
	}
	if s.Pause == nil || s.Pause.For == 0 {
		return r.wait(r.nextGrace(), Blocker{Gate: GatePromote, Why: "waiting for approval"}), false
	}
	end := r.progress.Started.Add(time.Duration(s.Pause.For))
	if !r.now.Before(end) {
		return Decision{}, true
	}
	why := fmt.Sprintf("continues at %s, after a pause of %s", end.UTC().Format(time.TimeOnly), s.Pause.For)
	return r.wait(earliest(end, r.nextGrace()), Blocker{Gate: GateTime, Why: why}), false
}

// verify requests a check, until there is a result.
func (r *run) verify(s *Step) (Decision, bool) {
	if r.progress.Promoted || s.Verify == nil {
		return Decision{}, true
	}
	answer, asked := r.snap.Verified[s.Name]
	switch {
	case !asked || answer.At.Before(r.progress.Started):
		return r.act("ask: "+questionText(s.Verify), Action{Verify: s.Verify}), false
	case answer.Done && answer.Good:
		return Decision{}, true
	case answer.Done:
		return r.halt(Blocker{Gate: GateVerify, Why: answer.Text}), false
	}
	return r.waitOrTimeOut(s, Blocker{Gate: GateVerify, Why: orDefault(answer.Text, "no answer yet")}), false
}

// pullImages requests that images are pulled, until the cluster shows that the pull was requested;
// the pull itself continues without further requests.
func (r *run) pullImages(s *Step) (Decision, bool) {
	if r.progress.Promoted || s.Pull == nil {
		return Decision{}, true
	}
	missing := r.missing(s)
	if len(missing) == 0 {
		return Decision{}, true
	}
	for _, image := range s.Pull.Images {
		if !r.snap.Pulling[image] {
			return r.act(s.Title, Action{Pull: s.Pull}), false
		}
	}
	failed, next := r.pullFailures(s.Pull.Images)
	if len(failed) > 0 {
		return r.halt(failed...), false
	}
	d := r.waitOrTimeOut(s, missing...)
	if d.Verb == Wait {
		d.Until = earliest(d.Until, next)
	}
	return d, false
}

// pullFailures are the nodes that will not get an image, and when the next one will
// have failed: a registry may answer again.
func (r *rollout) pullFailures(images []string) (failed []Blocker, next time.Time) {
	for _, image := range images {
		for _, t := range r.snap.Pulls[image].Troubles {
			due := later(t.Since, r.stepStart()).Add(imageGrace)
			switch {
			case !t.Final && r.now.Before(due):
				next = earliest(next, due)
			case len(failed) < maxNamed:
				failed = append(failed, Blocker{Gate: GateImage, Why: fmt.Sprintf("%s cannot be pulled on node %s: %s", image, t.Node, orDefault(t.Why, "no reason is given"))})
			}
		}
	}
	return failed, next
}

// sendPatches sends a step's patches one after the other, and waits for what must hold
// afterwards. Whether one was sent is read from the object, so a decision whose
// action got lost is made again; Progress.Sent counts those that were seen there.
func (r *run) sendPatches(s *Step) (Decision, bool) {
	for r.progress.Sent < len(s.Patches) {
		p := &s.Patches[r.progress.Sent]
		if !inForce(p, r.object()) {
			return r.send(s, p), false
		}
		r.progress.Sent++
	}
	return r.settle(s)
}

// send decides about a patch that is not in force.
func (r *run) send(s *Step, p *Patch) Decision {
	if err := r.plan.checkPatch(s.Kind, p); err != nil {
		return r.halt(Blocker{Gate: GateProgress, Why: fmt.Sprintf("step %s is not of a plan that may be carried out: %v", s.Name, err)})
	}
	switch n := r.updatedReplicas(); {
	case s.Kind == StepUpdate && r.plan.Change.Mode == rules.ModeNotAllowed:
		return r.halt(Blocker{Gate: GateNotAllowed, Why: r.plan.Change.Why + "; the update policy forbids to recreate pods"})
	case n < p.Reached:
		if bad := r.failures(); len(bad) > 0 {
			return r.halt(bad...)
		}
		return r.waitOrTimeOut(s, Blocker{Gate: GateUpdated, Why: fmt.Sprintf("%d of %s updated", n, counted.PodsAre(p.Reached))})
	}
	// The resource version is not pinned: status changes all the time.
	return r.act(s.Title, Action{Patch: p, Precondition: Precondition{UID: r.object().UID}})
}

// updatedReplicas is how many pods are up to date by the status.
func (r *rollout) updatedReplicas() int {
	if o, ok := r.object().Object.(*appsv1.Deployment); ok && rules.Observed(o) {
		return int(o.Status.UpdatedReplicas)
	}
	return 0
}

// settle waits for what must hold after a step.
func (r *run) settle(s *Step) (Decision, bool) {
	if r.progress.Promoted {
		return Decision{}, true
	}
	missing := r.missing(s)
	if len(missing) == 0 {
		return Decision{}, true
	}
	if bad := append(r.failures(), r.health().overdue...); len(bad) > 0 {
		return r.halt(bad...), false
	}
	budgets, never := r.blockedByBudget()
	if never {
		return r.waitOrTimeOut(s, slices.Concat(budgets, r.health().held, missing, r.health().waiting)...), false
	}
	return r.waitOrTimeOut(s, slices.Concat(r.health().held, missing, budgets, r.health().waiting)...), false
}

// waitOrTimeOut waits, or halts when the step has taken too long.
func (r *run) waitOrTimeOut(s *Step, list ...Blocker) Decision {
	end := r.deadline(s)
	if !end.IsZero() && !r.now.Before(end) {
		late := Blocker{Gate: GateDeadline, Why: fmt.Sprintf("step %s is not done after %s", s.Name, s.Timeout)}
		return r.halt(append([]Blocker{late}, list...)...)
	}
	return r.wait(earliest(end, r.nextGrace()), list...)
}

// deadline is when a step has taken too long; zero is never.
func (r *rollout) deadline(s *Step) time.Time {
	if s.Timeout <= 0 {
		return time.Time{}
	}
	return r.stepStart().Add(time.Duration(s.Timeout))
}

func (r *run) decide(v Verb, reason string) Decision {
	return Decision{Verb: v, Step: r.progress.Step, Progress: r.progress, Reason: reason}
}

// halt stops the rollout: the reason is recorded, so that it stays stopped.
func (r *run) halt(list ...Blocker) Decision {
	r.progress.Failed = list[0].String()
	d := r.decide(Halt, r.progress.Failed)
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
		actions[i].Step = r.currentStep().Name
	}
	d.Actions = actions
	return d
}

func (r *rollout) onFailure() OnFailure {
	if i := r.progress.Step; i >= 0 && i < len(r.plan.Steps) && r.plan.Steps[i].OnFailure != "" {
		return r.plan.Steps[i].OnFailure
	}
	return FailPause
}

// object is the object that patches are sent to.
func (r *rollout) object() *cluster.Workload {
	if r.plan.Target.Carrier != nil {
		return r.snap.Carrier
	}
	return r.snap.Workload
}

// currentStep is the step that the rollout is at.
func (r *rollout) currentStep() *Step { return &r.plan.Steps[r.progress.Step] }
