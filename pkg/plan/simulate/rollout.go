package simulate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// RolloutOptions define how a plan is run.
type RolloutOptions struct {
	// Promote is after how long each pause that waits for approval is promoted,
	// after it began; nil lets the run end there.
	Promote *time.Duration
	// Patience is how long nothing may happen before the run counts as blocked; 0 is a quarter of
	// an hour and twice the time that a pod has to be ready.
	Patience time.Duration
	// Limit is how long the run may take; 0 is a year.
	Limit time.Duration
	// Did is called with every action of the plan that was carried out, with what was
	// known when it was decided; it may be nil.
	Did func(plan.Snapshot, plan.Action)
	// begun is true where the new template is there from the beginning.
	begun bool
}

const (
	patience   = 15 * time.Minute
	longestRun = 365 * 24 * time.Hour
	// retryInterval is when a refused action is tried again.
	retryInterval = time.Second
)

// MostPods is how many pods of a workload, and how many nodes, a model holds at the most: the
// documented limit of pods in a Kubernetes cluster. More are a typing error, and would use up the
// memory.
const MostPods = 150_000

// Rollout runs a plan as the executor will: take a snapshot, ask [plan.Next], act, repeat. The
// result, also of failed and blocked runs, is in the timeline; an error is something that no plan
// should lead to, or more pods than [MostPods].
func Rollout(w *World, p plan.Plan, o RolloutOptions) (Timeline, error) {
	d, err := newDriver(w, p, o)
	if err != nil {
		return Timeline{}, err
	}
	for d.recorder.outcome == "" {
		if err := d.step(); err != nil {
			return w.Timeline(), err
		}
	}
	if err := d.settleCompleted(); err != nil {
		return w.Timeline(), err
	}
	d.finishSamples()
	return w.Timeline(), nil
}

// settleCompleted waits for what the controllers do after the last step: some fields, such as
// reserved ordinals, change pods without a condition that a step waits for.
func (d *driver) settleCompleted() error {
	r := d.recorder
	if r.outcome != Completed {
		return nil
	}
	before := len(r.records)
	_, err := d.Settle(patience)
	if slices.ContainsFunc(r.records[before:], func(rec Record) bool { return rec.Op == OpDelete || rec.Op == OpCreate || rec.Op == OpInPlace }) {
		r.end = d.clock.active
	}
	return err
}

// driver is one run.
type driver struct {
	*World
	plan plan.Plan
	opt  RolloutOptions
	ref  cluster.Ref
	end  time.Duration
	// asked counts the requests of one moment, askedAt.
	asked   map[request]int
	askedAt time.Duration
	// pulls is true if a step pulls images, so that decisions need the nodes of these.
	pulls bool
	// refusal is why the rollout's own last request was refused.
	refusal string
}

func newDriver(w *World, p plan.Plan, o RolloutOptions) (*driver, error) {
	if n := p.Limits.Replicas; n > MostPods {
		return nil, fmt.Errorf("%d pods are more than the %d that a model of a cluster holds", n, MostPods)
	}
	d := &driver{World: w, plan: p, opt: o, ref: p.Target.Ref()}
	d.pulls = slices.ContainsFunc(p.Steps, func(s plan.Step) bool { return s.Pull != nil })
	if o.Patience == 0 {
		d.opt.Patience = patience + 2*time.Duration(p.Limits.MinReady)
	}
	if o.Limit == 0 {
		d.opt.Limit = longestRun
	}
	if err := w.Watch(d.ref); err != nil {
		return nil, err
	}
	w.pods.answerHooks(p.HookAnswer)
	d.end = w.clock.at + d.opt.Limit
	return d, nil
}

// step looks once and does what is due.
func (d *driver) step() error {
	snap, err := d.observe()
	if err != nil {
		return err
	}
	if d.World.opt.Progress != nil {
		d.World.opt.Progress(d.recorder.part())
	}
	decision := plan.Next(d.plan, snap, d.clock.now())
	// Keep when steps begin and end.
	r := d.recorder
	now, at := decision.Progress.Step, d.clock.at-r.base
	if !decision.Progress.Finished.IsZero() {
		now = len(d.plan.Steps)
	}
	for i := len(r.steps); i <= now && i < len(d.plan.Steps); i++ {
		r.steps = append(r.steps, StepMark{Index: i, Name: d.plan.Steps[i].Name, Title: d.plan.Steps[i].Title, Begin: at, End: -1, First: len(r.records)})
	}
	for i := range min(now, len(r.steps)) {
		if r.steps[i].End < 0 {
			r.steps[i].End = at
		}
	}
	if decision.Progress != snap.Progress {
		if err := d.Record(context.Background(), d.ref, snap.Version, decision.Progress); err != nil {
			return err
		}
	}
	switch decision.Verb {
	case plan.Act:
		return d.act(snap, decision)
	case plan.Wait:
		return d.wait(decision)
	case plan.Halt:
		d.finish(Failed, d.reasons(decision))
	case plan.Done:
		d.finish(Completed, "")
	default:
		return fmt.Errorf("no decision is called %q", decision.Verb)
	}
	return nil
}

// observe returns what a decision needs.
func (d *driver) observe() (plan.Snapshot, error) {
	if d.opt.Did != nil { // which may keep it
		return d.Snapshot(d.ref)
	}
	o, err := d.store.lookup(d.ref)
	if err != nil {
		return plan.Snapshot{}, err
	}
	snap := d.rollouts.observe(o)
	if d.pulls {
		snap.Pulled = d.rollouts.pulledBy(o, snap.Pods)
	}
	return snap, nil
}

func (d *driver) act(snap plan.Snapshot, decision plan.Decision) error {
	d.refusal = ""
	if d.repeats(decision) {
		d.finish(Blocked, decision.Reason+": asked for again and again, without effect")
		return nil
	}
	for _, a := range decision.Actions {
		err := d.Do(context.Background(), d.ref, a)
		switch {
		case errors.Is(err, plan.ErrRefused), errors.Is(err, plan.ErrConflict):
			d.refusal = err.Error()
			// Let some time pass, unless nothing has happened for too long.
			reason := decision.Reason + ": " + err.Error()
			if d.clock.at-max(d.clock.active, d.recorder.base) > d.opt.Patience || d.clock.at > d.end {
				d.finish(Blocked, reason)
				return nil
			}
			return d.Run(d.clock.now().Add(retryInterval))
		case err != nil && !errors.Is(err, plan.ErrNotFound):
			return err
		case d.opt.Did != nil:
			d.opt.Did(snap, a)
		}
	}
	return nil
}

// maxRequests is how often a plan may make one request at one moment. An in-place
// update writes one pod a few times at once. More than this is a request that has no
// effect, such as a patch of a field that the object does not have, in a plan that a
// user has edited. The clock moves only while the plan waits, so nothing else ends
// such a run.
const maxRequests = 100

// repeats reports whether the plan makes one request again and again, and no time passes.
func (d *driver) repeats(decision plan.Decision) bool {
	if d.asked == nil || d.clock.at != d.askedAt {
		d.asked, d.askedAt = map[request]int{}, d.clock.at
	}
	for i := range decision.Actions {
		// Name the request of an action.
		a := &decision.Actions[i]
		r := request{step: decision.Step}
		switch {
		case a.Pod != nil:
			r.pod = a.Pod.PodRef
		case a.Evict != nil:
			r.pod = *a.Evict
		case a.Delete != nil:
			r.pod = *a.Delete
		case a.Restart != nil:
			r.pod = a.Restart.PodRef
		}

		if d.asked[r]++; d.asked[r] > maxRequests {
			return true
		}
	}
	return false
}

// request is what an action asks for, without its details: the step and the pod that it
// is about. pod is empty for what is not about one pod.
type request struct {
	step int
	pod  plan.PodRef
}

// wait waits for a change, for the time that the decision names, or for approval. A
// time that has come already is an error: the clock does not move, and the run never ends.
func (d *driver) wait(decision plan.Decision) error {
	if len(decision.Blockers) > 0 && decision.Blockers[0].Gate == plan.GatePromote {
		// Approve the pause according to the options, or end the run.
		if d.opt.Promote == nil {
			d.finish(Waiting, decision.Reason)
			return nil
		}
		due := decision.Progress.Started.Add(*d.opt.Promote)
		if err := d.Run(latest(due, d.clock.now())); err != nil {
			return err
		}
		return d.Promote(d.ref, d.plan)
	}
	if until := decision.Until; !until.IsZero() && !d.clock.now().Before(until) {
		return fmt.Errorf("the rollout waits until %s, and it is %s: %s", until.UTC().Format(time.RFC3339Nano), d.clock.now().UTC().Format(time.RFC3339Nano), decision.Reason)
	}
	o, err := d.store.lookup(d.ref)
	if err != nil {
		return err
	}
	patient := d.clock.start.Add(max(d.clock.active, d.recorder.base) + d.opt.Patience)
	timed := len(decision.Blockers) > 0 && decision.Blockers[0].Gate == plan.GateTime
	until := decision.Until
	if !timed && (until.IsZero() || patient.Before(until)) {
		until = patient
	}
	err = d.Await(context.Background(), d.ref, d.store.versionOf(o), until)
	if err != nil && !errors.Is(err, errStuck) {
		return err
	}
	if errors.Is(err, errStuck) || d.clock.at > d.end || (!timed && !d.clock.now().Before(patient)) {
		d.finish(Blocked, d.reasons(decision))
	}
	return nil
}

func latest(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// reasons reports what a run waits for that goes no further, and what was refused last.
func (d *driver) reasons(decision plan.Decision) string {
	reasons := []string{decision.Reason}
	for _, b := range decision.Blockers {
		if text := b.String(); !slices.Contains(reasons, text) && len(reasons) < maxReasons {
			reasons = append(reasons, text)
		}
	}
	if o := d.store.objects[d.ref]; o != nil && o.refusal != "" {
		reasons = append(reasons, o.refusal)
	}
	if d.refusal != "" {
		reasons = append(reasons, d.refusal)
	}
	return strings.Join(reasons, "; ")
}

// maxReasons is how many reasons are reported.
const maxReasons = 3

// finish ends the run. The clock stays at the moment of the last decision.
func (d *driver) finish(o Outcome, reason string) {
	d.recorder.outcome, d.recorder.reason, d.recorder.end = o, reason, d.clock.at
}

// finishSamples takes the last sample, and counts as old whatever was there before the new
// template was written: until then, pods at the present one looked up to date.
func (d *driver) finishSamples() {
	r := d.recorder
	r.sample()
	if d.opt.begun || d.plan.Change.FromHash == d.plan.Change.ToHash {
		return
	}
	for i := range r.samples {
		s := &r.samples[i]
		if r.retargeted >= 0 && s.At >= r.retargeted {
			break
		}
		s.Old, s.OldDown, s.New, s.NewDown = s.Old+s.New, s.OldDown+s.NewDown, 0, 0
	}
}
