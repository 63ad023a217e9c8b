package apply

import (
	"slices"
	"strings"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// reporter turns looks and decisions into events. It tells only what has changed.
type reporter struct {
	emit   func(event.Event)
	target event.Workload
	// opened is whether the steps were reported, step the one that was reported last.
	opened bool
	step   int
	// from is where the run began: what was done before is no news.
	from   int
	counts event.Counts
	// waitingFor is the reason of the last wait or halt; blockers are its parts.
	waitingFor string
	blockers   []plan.Blocker
	refusal    string
}

// report tells what a look has found.
func (r *reporter) report(now time.Time, p *plan.Plan, s plan.Snapshot, d plan.Decision) {
	r.reportOpened(now, p, s)
	r.reportPods(now, *p, s)
	r.reportSteps(now, p, d)
	switch {
	case d.Verb == plan.Halt:
		r.reportBlockers(now, event.Halted, d)
	case d.Verb == plan.Wait && awaitsApproval(d):
		r.reportBlockers(now, event.Paused, d)
	case d.Verb == plan.Wait:
		r.reportBlockers(now, event.Waiting, d)
	default:
		r.waitingFor, r.blockers = "", nil
	}
}

// reportOpened tells the whole ladder, once.
func (r *reporter) reportOpened(now time.Time, p *plan.Plan, s plan.Snapshot) {
	if r.opened {
		return
	}
	r.opened = true
	r.target = event.Workload{Kind: p.Target.Kind, Namespace: p.Target.Namespace, Name: p.Target.Name}
	r.step, r.from = s.Progress.Step-1, s.Progress.Step
	counts := countsOf(*p, s)
	r.counts = counts
	r.send(event.Event{Time: now, Type: event.Opened, Step: -1, Plan: eventPlan(p, s.Progress.Step), Counts: &counts, Text: p.RollbackReason})
}

// reportRollback tells the ladder of the way back.
func (r *reporter) reportRollback(now time.Time, p *plan.Plan) {
	r.step, r.from = -1, 0
	r.send(event.Event{Time: now, Type: event.RollingBack, Step: -1, Plan: eventPlan(p, 0), Text: p.RollbackReason})
}

// eventPlan is a plan as the stream opens with it.
func eventPlan(p *plan.Plan, at int) *event.Plan {
	out := &event.Plan{
		Driver: string(p.Driver), From: p.Change.FromRevision, To: p.Change.ToRevision,
		Mode: string(p.Change.Mode), Why: p.Change.Why, Restarts: p.Change.Restarts, At: at, Steps: []event.Step{},
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		out.Steps = append(out.Steps, event.Step{Name: s.Name, Kind: string(s.Kind), Title: s.Title, Updated: s.Updated})
	}
	return out
}

// countsOf counts the pods of a rollout for an event.
func countsOf(p plan.Plan, s plan.Snapshot) event.Counts {
	return event.Counts(plan.Count(p, s))
}

func (r *reporter) reportPods(now time.Time, p plan.Plan, s plan.Snapshot) {
	if counts := countsOf(p, s); counts != r.counts && plan.Observed(s) {
		r.counts = counts
		r.send(event.Event{Time: now, Type: event.Pods, Step: s.Progress.Step, Counts: &counts})
	}
}

// reportSteps tells which steps have ended and begun since the last look.
func (r *reporter) reportSteps(now time.Time, p *plan.Plan, d plan.Decision) {
	at := d.Progress.Step
	if d.Verb == plan.Done {
		at = len(p.Steps)
	}
	for r.step < at && r.step < len(p.Steps) {
		if r.step >= r.from {
			r.reportStep(now, event.StepDone, p, r.step)
		}
		r.step++
		if r.step >= 0 && r.step < len(p.Steps) {
			r.reportStep(now, event.StepBegun, p, r.step)
		}
	}
}

func (r *reporter) reportStep(now time.Time, kind event.Type, p *plan.Plan, i int) {
	r.send(event.Event{Time: now, Type: kind, Step: i, StepName: p.Steps[i].Name, Text: p.Steps[i].Title})
}

// reportBlockers tells what is missing, if that has changed.
func (r *reporter) reportBlockers(now time.Time, kind event.Type, d plan.Decision) {
	if r.waitingFor == d.Reason && slices.Equal(r.blockers, d.Blockers) {
		return
	}
	r.waitingFor, r.blockers = d.Reason, d.Blockers
	if kind == event.Halted && len(d.Blockers) == 0 { // a failure that was recorded before
		d.Blockers = []plan.Blocker{plan.ParseBlocker(d.Reason)}
	}
	e := event.Event{Time: now, Type: kind, Step: d.Step, Text: d.Reason}
	for _, b := range d.Blockers {
		e.Blockers = append(e.Blockers, event.Blocker(b))
	}
	r.send(e)
}

// reportAction reports one write.
func (r *reporter) reportAction(now time.Time, d plan.Decision, a *plan.Action) {
	r.refusal = ""
	r.send(event.Event{Time: now, Type: event.Acted, Step: d.Step, StepName: a.Step, Text: d.Reason, Request: r.requestOf(a)})
}

// reportRefusal tells why a write was turned down, once in a row.
func (r *reporter) reportRefusal(now time.Time, err error) {
	if text := err.Error(); text != r.refusal {
		r.refusal = text
		r.send(event.Event{Time: now, Type: event.Refused, Step: r.step, Text: text})
	}
}

// reportEnd tells how the run ended.
func (r *reporter) reportEnd(now time.Time, res Result) {
	counts := r.counts
	r.send(event.Event{Time: now, Type: event.Ended, Step: r.step, Outcome: res.Outcome, Text: res.Reason, Counts: &counts})
}

func (r *reporter) send(e event.Event) {
	if r.emit == nil {
		return
	}
	e.Workload = r.target
	r.emit(e)
}

// requestOf says in one line what an action writes. Values of env may be secret, so
// a patch is not written out.
func (r *reporter) requestOf(a *plan.Action) string {
	switch {
	case a.Patch != nil && a.Patch.Target == nil:
		return "patch " + objectText(r.target.Kind, r.target.Namespace, r.target.Name)
	case a.Patch != nil:
		return "patch " + objectText(a.Patch.Target.Kind, a.Patch.Target.Namespace, a.Patch.Target.Name)
	case a.Pod != nil:
		return "patch pod " + a.Pod.Namespace + "/" + a.Pod.Name
	case a.Evict != nil:
		return "evict pod " + a.Evict.Namespace + "/" + a.Evict.Name
	case a.Delete != nil:
		return "delete pod " + a.Delete.Namespace + "/" + a.Delete.Name
	case a.Pull != nil:
		return "pull " + strings.Join(a.Pull.Images, ", ")
	case a.Restart != nil:
		return "restart " + strings.Join(a.Restart.Containers, ", ") + " in pod " + a.Restart.Namespace + "/" + a.Restart.Name
	}
	return "verify"
}

func objectText(kind, namespace, name string) string {
	if namespace != "" {
		name = namespace + "/" + name
	}
	return strings.ToLower(kind) + " " + name
}
