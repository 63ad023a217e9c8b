package apply

import (
	"slices"
	"strings"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// teller turns looks and decisions into events. It tells only what has changed.
type teller struct {
	emit   func(event.Event)
	target event.Workload
	// opened is whether the ladder was told, step the rung that was told last.
	opened bool
	step   int
	// from is where the run began: what was done before is no news.
	from   int
	counts event.Counts
	// waitingFor is what the last wait or halt said; blockers are its parts.
	waitingFor string
	blockers   []plan.Blocker
	refusal    string
}

// tell tells what a look has found.
func (t *teller) tell(now time.Time, p *plan.Plan, s plan.Snapshot, d plan.Decision) {
	t.open(now, p, s)
	t.count(now, *p, s)
	t.rungs(now, p, d)
	switch {
	case d.Verb == plan.Halt:
		t.blocked(now, event.Halted, d)
	case d.Verb == plan.Wait && awaitsPerson(d):
		t.blocked(now, event.Paused, d)
	case d.Verb == plan.Wait:
		t.blocked(now, event.Waiting, d)
	default:
		t.waitingFor, t.blockers = "", nil
	}
}

// open tells the whole ladder, once.
func (t *teller) open(now time.Time, p *plan.Plan, s plan.Snapshot) {
	if t.opened {
		return
	}
	t.opened = true
	t.target = event.Workload{Kind: p.Target.Kind, Namespace: p.Target.Namespace, Name: p.Target.Name}
	t.step, t.from = s.Progress.Step-1, s.Progress.Step
	counts := countsOf(*p, s)
	t.counts = counts
	t.send(event.Event{Time: now, Type: event.Opened, Step: -1, Plan: ladder(p, s.Progress.Step), Counts: &counts, Text: p.RollsBack})
}

// turnBack tells the ladder of the way back.
func (t *teller) turnBack(now time.Time, p *plan.Plan) {
	t.step, t.from = -1, 0
	t.send(event.Event{Time: now, Type: event.RollingBack, Step: -1, Plan: ladder(p, 0), Text: p.RollsBack})
}

// ladder is a plan as the stream opens with it.
func ladder(p *plan.Plan, at int) *event.Plan {
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

func (t *teller) count(now time.Time, p plan.Plan, s plan.Snapshot) {
	if counts := countsOf(p, s); counts != t.counts && plan.Observed(s) {
		t.counts = counts
		t.send(event.Event{Time: now, Type: event.Pods, Step: s.Progress.Step, Counts: &counts})
	}
}

// rungs tells which steps have ended and begun since the last look.
func (t *teller) rungs(now time.Time, p *plan.Plan, d plan.Decision) {
	at := d.Progress.Step
	if d.Verb == plan.Done {
		at = len(p.Steps)
	}
	for t.step < at && t.step < len(p.Steps) {
		if t.step >= t.from {
			t.rung(now, event.StepDone, p, t.step)
		}
		t.step++
		if t.step >= 0 && t.step < len(p.Steps) {
			t.rung(now, event.StepBegun, p, t.step)
		}
	}
}

func (t *teller) rung(now time.Time, kind event.Type, p *plan.Plan, i int) {
	t.send(event.Event{Time: now, Type: kind, Step: i, StepName: p.Steps[i].Name, Text: p.Steps[i].Title})
}

// blocked tells what is missing, if that has changed.
func (t *teller) blocked(now time.Time, kind event.Type, d plan.Decision) {
	if t.waitingFor == d.Reason && slices.Equal(t.blockers, d.Blockers) {
		return
	}
	t.waitingFor, t.blockers = d.Reason, d.Blockers
	e := event.Event{Time: now, Type: kind, Step: d.Step, Text: d.Reason}
	for _, b := range d.Blockers {
		e.Blockers = append(e.Blockers, event.Blocker(b))
	}
	t.send(e)
}

// acted tells of one write.
func (t *teller) acted(now time.Time, d plan.Decision, a *plan.Action) {
	t.refusal = ""
	t.send(event.Event{Time: now, Type: event.Acted, Step: d.Step, StepName: a.Step, Text: d.Reason, Request: t.requestOf(a)})
}

// refused tells why a write was turned down, once in a row.
func (t *teller) refused(now time.Time, err error) {
	if text := err.Error(); text != t.refusal {
		t.refusal = text
		t.send(event.Event{Time: now, Type: event.Refused, Step: t.step, Text: text})
	}
}

// end tells how the run ended.
func (t *teller) end(now time.Time, r Result) {
	counts := t.counts
	t.send(event.Event{Time: now, Type: event.Ended, Step: t.step, Outcome: r.Outcome, Text: r.Reason, Counts: &counts})
}

func (t *teller) send(e event.Event) {
	if t.emit == nil {
		return
	}
	e.Workload = t.target
	t.emit(e)
}

// requestOf says in one line what an action writes. Values of env may be secret, so
// a patch is not written out.
func (t *teller) requestOf(a *plan.Action) string {
	switch {
	case a.Patch != nil && a.Patch.Target == nil:
		return "patch " + objectText(t.target.Kind, t.target.Namespace, t.target.Name)
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
