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
	d.finishSamples(&p)
	return w.Timeline(), nil
}

// newDriver carries out the plan of one workload, whose timeline is recorded.
func newDriver(w *World, p plan.Plan, o RolloutOptions) (*driver, error) {
	d := &driver{World: w, rollout: plan.Rollout{Members: []plan.Member{{Ref: p.Target.Ref(), Plan: p}}}, opt: o, recorded: true}
	if err := d.enlist(); err != nil {
		return nil, err
	}
	return d, w.Watch(p.Target.Ref())
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

// finishSamples takes the last sample, and counts as old whatever was there before the new
// template was written: until then, pods at the present one looked up to date.
func (d *driver) finishSamples(p *plan.Plan) {
	r := d.recorder
	r.sample()
	if d.opt.begun || p.Change.FromHash == p.Change.ToHash {
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

// driver carries a rollout out over one cluster: every member by [plan.Next], and which of them start
// by [plan.Rollout.Start].
type driver struct {
	*World
	rollout plan.Rollout
	members []*member
	opt     RolloutOptions
	// recorded is true if the timeline of the only member is kept.
	recorded bool
	line     GroupTimeline
	peaks    peaks
	// started is when a member was started last, end when the run has taken too long.
	started, end time.Duration
}

// member carries out the plan of one member.
type member struct {
	*plan.Member

	phase    plan.Phase
	reason   string
	decision plan.Decision
	// seen is the version of the last look. The next one is at a time, or when something has
	// changed, but not before notBefore.
	seen                version
	nextLook, notBefore time.Duration
	// timed is true if the member waits for a time, however long.
	timed bool
	// asked counts the requests of one moment, askedAt.
	asked   map[request]int
	askedAt time.Duration
	// pulls is true if a step pulls images, so that decisions need the nodes of these.
	pulls bool
	// refusal is why the last request was refused.
	refusal string
}

// version changes whenever the snapshot of an object does.
type version struct{ own, all uint64 }

func (d *driver) versionOf(o *object) version { return version{o.version, d.store.version} }

// enlist makes the members of the rollout.
func (d *driver) enlist() error {
	total, hooks, ready := 0, plan.HookAnswer(0), plan.Duration(0)
	for i := range d.rollout.Members {
		p := &d.rollout.Members[i].Plan
		total, hooks, ready = total+p.Limits.Replicas, max(hooks, p.HookAnswer), max(ready, p.Limits.MinReady)
		pulls := slices.ContainsFunc(p.Steps, func(s plan.Step) bool { return s.Pull != nil })
		d.members = append(d.members, &member{Member: &d.rollout.Members[i], phase: plan.PhasePending, pulls: pulls})
		d.line.Runs = append(d.line.Runs, GroupRun{Begin: -1, End: -1})
	}
	if total > MostPods {
		return fmt.Errorf("%d pods are more than the %d that a model of a cluster holds", total, MostPods)
	}
	d.pods.answerHooks(hooks)
	d.opt.Patience = cmp.Or(d.opt.Patience, patience+2*time.Duration(ready))
	d.started, d.end = d.clock.at, d.clock.at+cmp.Or(d.opt.Limit, longestRun)
	return nil
}

// step starts what may start, and does what is due of what is in progress; where that is
// nothing, time passes.
func (d *driver) step() error {
	// The states of the members.
	out := make([]plan.MemberStatus, len(d.members))
	for i, m := range d.members {
		out[i] = plan.MemberStatus{Phase: m.phase}
		if !d.recorded { // one alone waits for no others
			out[i].Unavailable = d.unavailable(m.Ref)
		}
		if o := d.store.objects[m.Ref]; o != nil && m.phase != plan.PhaseProgressing {
			m.seen = d.versionOf(o)
		}
	}
	start, now := d.rollout.Start(out)
	for _, i := range start {
		d.members[i].phase, d.members[i].nextLook, d.started = plan.PhaseProgressing, d.clock.at, d.clock.at
	}
	active, did := 0, len(start) > 0
	for i, m := range d.members {
		if m.phase != plan.PhaseProgressing {
			continue
		}
		if active++; d.line.Runs[i].Begin < 0 {
			d.line.Runs[i].Begin = d.clock.at
		}
		acted, err := d.advance(m)
		if err != nil {
			return fmt.Errorf("%s: %w", m.Ref, err)
		}
		if did = did || acted; m.phase != plan.PhaseProgressing {
			d.line.Runs[i].End = d.clock.at
		}
	}
	d.line.MostActive = max(d.line.MostActive, active)
	switch {
	case did:
		return nil
	case active == 0 && now.Phase != plan.PhaseProgressing:
		d.line.Phase, d.line.Reason = now.Phase, now.Reason
		for _, m := range d.members {
			if m.phase == plan.PhaseFailed {
				d.line.Reason += "; " + d.rollout.MemberName(m.Ref) + ": " + m.reason
			}
		}
		return nil
	}
	return d.passTime(now.Reason)
}

// advance looks at one member where that is due, and does what is decided. It reports whether more
// can happen at this moment.
func (d *driver) advance(m *member) (acted bool, err error) {
	o, err := d.store.lookup(m.Ref)
	if err != nil || d.clock.at < m.notBefore || d.versionOf(o) == m.seen && d.clock.at < m.nextLook {
		return false, err
	}
	snap, err := d.observe(m, o)
	if err != nil {
		return false, err
	}
	if d.recorded && d.World.opt.Progress != nil {
		d.World.opt.Progress(d.recorder.part())
	}
	m.decision = plan.Next(m.Plan, snap, d.clock.now())
	if d.recorded {
		d.markSteps(m)
	}
	if m.decision.Progress != snap.Progress {
		if err := d.Record(context.Background(), m.Ref, snap.Version, m.decision.Progress); err != nil {
			return false, err
		}
	}
	switch m.decision.Verb {
	case plan.Act:
		return d.act(m, snap)
	case plan.Wait:
		m.seen = d.versionOf(o)
		return d.wait(m)
	case plan.Halt:
		d.finish(m, Failed, d.reasons(m))
	case plan.Done:
		d.finish(m, Completed, "")
	default:
		return false, fmt.Errorf("no decision is called %q", m.decision.Verb)
	}
	return true, nil
}

// observe returns what a decision needs.
func (d *driver) observe(m *member, o *object) (plan.Snapshot, error) {
	if d.opt.Did != nil { // which may keep it
		return d.Snapshot(m.Ref)
	}
	snap := d.World.observe(o)
	if m.pulls {
		snap.Pulled = d.pulledBy(o, snap.Pods)
	}
	return snap, nil
}

// markSteps keeps when steps begin and end.
func (d *driver) markSteps(m *member) {
	r, steps := d.recorder, m.Plan.Steps
	now, at := m.decision.Progress.Step, d.clock.at-r.base
	if !m.decision.Progress.Finished.IsZero() {
		now = len(steps)
	}
	for i := len(r.steps); i <= now && i < len(steps); i++ {
		r.steps = append(r.steps, StepMark{Index: i, Name: steps[i].Name, Title: steps[i].Title, Begin: at, End: -1, First: len(r.records)})
	}
	for i := range min(now, len(r.steps)) {
		if r.steps[i].End < 0 {
			r.steps[i].End = at
		}
	}
}

func (d *driver) act(m *member, snap plan.Snapshot) (acted bool, err error) {
	m.refusal, m.nextLook = "", d.clock.at
	if m.repeats(d.clock.at) {
		d.finish(m, Blocked, m.decision.Reason+": asked for again and again, without effect")
		return true, nil
	}
	for _, a := range m.decision.Actions {
		err := d.Do(context.Background(), m.Ref, a)
		switch {
		case errors.Is(err, plan.ErrRefused), errors.Is(err, plan.ErrConflict):
			m.refusal = err.Error()
			m.nextLook, m.notBefore = d.clock.at+retryInterval, d.clock.at+retryInterval
			return false, nil
		case err != nil && !errors.Is(err, plan.ErrNotFound):
			return false, err
		case d.opt.Did != nil:
			d.opt.Did(snap, a)
		}
	}
	return true, nil
}

// maxRequests is how often a plan may make one request at one moment. An in-place
// update writes one pod a few times at once. More than this is a request that has no
// effect, such as a patch of a field that the object does not have, in a plan that a
// user has edited. The clock moves only while the plan waits, so nothing else ends
// such a run.
const maxRequests = 100

// repeats reports whether the plan makes one request again and again, and no time passes.
func (m *member) repeats(at time.Duration) bool {
	if m.asked == nil || at != m.askedAt {
		m.asked, m.askedAt = map[request]int{}, at
	}
	for i := range m.decision.Actions {
		// Name the request of an action.
		a := &m.decision.Actions[i]
		r := request{step: m.decision.Step}
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
		if m.asked[r]++; m.asked[r] > maxRequests {
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

// wait decides when to look again: after a change, at the time that the decision names, or when a
// user has approved. A time that has come already is an error: the clock does not move, and the run
// never ends.
func (d *driver) wait(m *member) (acted bool, err error) {
	m.nextLook, m.timed = forever, false
	gate := ""
	if len(m.decision.Blockers) > 0 {
		gate = m.decision.Blockers[0].Gate
	}
	if gate == plan.GatePromote {
		// Approve the pause according to the options, or end the run.
		if d.opt.Promote == nil {
			d.finish(m, Waiting, m.decision.Reason)
			return true, nil
		}
		if due := m.decision.Progress.Started.Add(*d.opt.Promote).Sub(d.clock.start); d.clock.at < due {
			m.nextLook, m.notBefore, m.timed = due, due, true
			return false, nil
		}
		m.nextLook = d.clock.at
		return true, d.Promote(m.Ref, m.Plan)
	}
	if until := m.decision.Until; !until.IsZero() {
		if !d.clock.now().Before(until) {
			return false, fmt.Errorf("the rollout waits until %s, and it is %s: %s", until.UTC().Format(time.RFC3339Nano), d.clock.now().UTC().Format(time.RFC3339Nano), m.decision.Reason)
		}
		m.nextLook, m.timed = until.Sub(d.clock.start), gate == plan.GateTime
	}
	if !d.recorded && len(d.budgets.unavailable.list)+len(d.budgets.disruptions.list) > 0 {
		// What waits for a budget is looked at every second, since nothing of its own changes.
		m.nextLook = min(m.nextLook, d.clock.at+retryInterval)
	}
	return false, nil
}

// passTime lets things happen until a member is to be looked at, which is as late as a controller
// learns of a change. A run in which nothing has for long is blocked, unless a member waits for a time.
func (d *driver) passTime(why string) error {
	patient, limit, timed := max(d.clock.active, d.started)+d.opt.Patience, forever, false
	for _, m := range d.members {
		if m.phase == plan.PhaseProgressing {
			limit, timed = min(limit, max(m.nextLook, m.notBefore)), timed || m.timed
		}
	}
	if !timed {
		limit = min(limit, patient)
	}
	changed := d.changed()
	for ; changed == nil; changed = d.changed() {
		if !d.clock.step(limit) {
			d.clock.at = max(d.clock.at, limit)
			break
		}
		if err := d.happened(); err != nil {
			return err
		}
	}
	if changed != nil {
		late := min(d.clock.at+d.World.opt.latency(len(d.store.podsOf(changed))), limit)
		for d.clock.step(late) {
			if err := d.happened(); err != nil {
				return err
			}
		}
		d.clock.at = max(d.clock.at, late)
	}
	if d.clock.at > d.end || !timed && d.clock.at >= patient {
		d.block(why)
	}
	return d.clock.fault()
}

// happened is called after each event.
func (d *driver) happened() error {
	if !d.recorded && d.clock.active == d.clock.at {
		d.sample()
	}
	return d.clock.fault()
}

// changed is the workload of a member of which something has changed since it was looked at.
func (d *driver) changed() *object {
	for _, m := range d.members {
		if o := d.store.objects[m.Ref]; o != nil && d.clock.at >= m.notBefore && d.versionOf(o) != m.seen {
			return o
		}
	}
	return nil
}

// block ends the run. It reports what the members wait for that are in progress, or why none starts.
func (d *driver) block(why string) {
	var reasons []string
	for i, m := range d.members {
		if m.phase != plan.PhaseProgressing {
			continue
		}
		d.finish(m, Blocked, d.reasons(m))
		d.line.Runs[i].End = d.clock.at
		if len(reasons) < maxReasons {
			reasons = append(reasons, d.rollout.MemberName(m.Ref)+": "+m.reason)
		}
	}
	d.line.Phase, d.line.Reason = plan.PhaseFailed, cmp.Or(strings.Join(reasons, "; "), why)
}

// reasons reports what a run waits for that goes no further, and what was refused last.
func (d *driver) reasons(m *member) string {
	reasons := []string{m.decision.Reason}
	for _, b := range m.decision.Blockers {
		if text := b.String(); !slices.Contains(reasons, text) && len(reasons) < maxReasons {
			reasons = append(reasons, text)
		}
	}
	if o := d.store.objects[m.Ref]; o != nil && o.refusal != "" {
		reasons = append(reasons, o.refusal)
	}
	if m.refusal != "" {
		reasons = append(reasons, m.refusal)
	}
	return strings.Join(reasons, "; ")
}

// maxReasons is how many reasons are reported.
const maxReasons = 3

// finish ends the run of a member. The clock stays at the moment of the last decision.
func (d *driver) finish(m *member, o Outcome, reason string) {
	m.phase, m.reason = plan.PhaseFailed, reason
	if o == Completed {
		m.phase = plan.PhaseCompleted
	}
	if r := d.recorder; d.recorded {
		r.outcome, r.reason, r.end = o, reason, d.clock.at
	}
}
