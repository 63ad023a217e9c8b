package plan

import (
	"fmt"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// State is the state of a recorded rollout. A workload without a recorded rollout has
// none.
type State string

// The states.
const (
	// StateRunning: steps are left, and the executor carries them out.
	StateRunning State = "running"
	// StateHeld: steps are left, and none starts before the rollout is resumed.
	StateHeld State = "held"
	// StateHalted: the rollout has failed or was aborted; what was requested before that
	// is kept.
	StateHalted State = "halted"
	// StateDone: no step is left.
	StateDone State = "done"
)

// States returns all states.
func States() []State { return []State{StateRunning, StateHeld, StateHalted, StateDone} }

// State returns the state of a rollout of this progress. A halt hides all else, as it does
// in [Next].
func (p Progress) State(of Plan) State {
	switch {
	case p.Failed != "":
		return StateHalted
	case !p.Finished.IsZero() || p.Step >= len(of.Steps):
		return StateDone
	case p.PausedBy != "":
		return StateHeld
	}
	return StateRunning
}

// Transition is something that a user does to a recorded rollout. Each is a method of
// [Progress], except for those that put another plan in its place.
type Transition string

// The transitions.
const (
	// TransitionPromote passes the present step, or pauses ahead: [Progress.Promote].
	TransitionPromote Transition = "promote"
	// TransitionPause keeps further steps from starting: [Progress.Pause].
	TransitionPause Transition = "pause"
	// TransitionResume ends a pause, or continues what has no executor: [Progress.Resume].
	TransitionResume Transition = "resume"
	// TransitionRetry continues after a halt: [Progress.Retry].
	TransitionRetry Transition = "retry"
	// TransitionAbort ends the rollout and leaves pods as they are: [Progress.Abort].
	TransitionAbort Transition = "abort"
	// TransitionRollBack ends the rollout before the plan of [Back] takes its place:
	// [Progress.RollBack].
	TransitionRollBack Transition = "rollback"
	// TransitionUndo replaces the recorded plan by one to an older revision.
	TransitionUndo Transition = "undo"
	// TransitionBegin replaces the recorded plan by any other plan.
	TransitionBegin Transition = "begin"
)

// Transitions returns all transitions.
func Transitions() []Transition {
	return []Transition{
		TransitionPromote, TransitionPause, TransitionResume, TransitionRetry, TransitionAbort,
		TransitionRollBack, TransitionUndo, TransitionBegin,
	}
}

// refusal is the error of a transition in a state; nil allows it, and so does an empty msg.
type refusal func(p Progress, of Plan) (msg, hint string)

// refusals is the table of transitions: which is allowed in which state, and what it is
// error otherwise. A state that a row does not name allows it.
var refusals = map[Transition]map[State]refusal{
	TransitionPromote:  {StateHalted: refuseHalted, StateDone: refuseDone},
	TransitionPause:    {StateHalted: refuseHalted, StateDone: refuseDone},
	TransitionResume:   {StateHalted: refuseHalted, StateDone: refuseDone},
	TransitionRetry:    {StateRunning: refuseNotHalted, StateHeld: refuseNotHalted, StateDone: refuseNotHalted},
	TransitionAbort:    {StateDone: refuseDoneForGood},
	TransitionRollBack: {StateRunning: refuseBackInFlight, StateHeld: refuseBackInFlight, StateHalted: refuseBackFailed},
	TransitionUndo:     {StateRunning: refuseInFlight(hintRollBack), StateHeld: refuseInFlight(hintRollBack)},
	TransitionBegin:    {StateRunning: refuseInFlight(hintContinue), StateHeld: refuseInFlight(hintContinue)},
}

func hintContinue(of Target) string {
	return fmt.Sprintf("'%s' continues it, '%s' ends it", of.Command("resume"), of.Command("abort"))
}

func hintRollBack(of Target) string {
	return fmt.Sprintf("'%s --rollback' rolls it back; for another revision, first end it: '%s'", of.Command("abort"), of.Command("abort"))
}

func refuseHalted(p Progress, of Plan) (msg, hint string) {
	return "the rollout has failed: " + ParseBlocker(p.Failed).Sentence(),
		of.FailureHint(p.Failed, of.Target.Command)
}

func refuseDone(Progress, Plan) (msg, hint string) { return "the rollout is completed", "" }

func refuseDoneForGood(_ Progress, of Plan) (msg, hint string) {
	return "the rollout is completed", fmt.Sprintf("'%s' rolls back to the previous revision", of.Target.Command("undo"))
}

func refuseNotHalted(Progress, Plan) (msg, hint string) {
	return "the rollout has not failed: there is nothing to retry", ""
}

// refuseBackInFlight refuses to undo a rollback that is not completed: a second request, after the first process was
// interrupted, means the same rollback.
func refuseBackInFlight(p Progress, of Plan) (msg, hint string) {
	if of.RollbackReason == "" {
		return "", ""
	}
	return fmt.Sprintf("%s is being rolled back already: %s", of.Target.Ref(), p.Describe(of)), hintContinue(of.Target)
}

func refuseBackFailed(p Progress, of Plan) (msg, hint string) {
	if of.RollbackReason == "" {
		return "", ""
	}
	return "the rollback has failed: " + ParseBlocker(p.Failed).Sentence(), of.FailureHint(p.Failed, of.Target.Command)
}

func refuseInFlight(hint func(Target) string) refusal {
	return func(p Progress, of Plan) (string, string) {
		return fmt.Sprintf("%s has a rollout already: %s", of.Target.Ref(), p.Describe(of)), hint(of.Target)
	}
}

// Allows reports whether a rollout of this progress allows a transition now; the error is
// a [TransitionError].
func (p Progress) Allows(t Transition, of Plan) error {
	row, ok := refusals[t]
	if !ok {
		return fmt.Errorf("no transition is called %q", t)
	}
	state := p.State(of)
	refused := row[state]
	if refused == nil {
		return nil
	}
	if msg, hint := refused(p, of); msg != "" {
		return &TransitionError{Transition: t, State: state, Msg: msg, Hint: hint}
	}
	return nil
}

// TransitionError is a transition that the state of a rollout does not allow.
type TransitionError struct {
	Transition Transition
	State      State
	// Msg is the reason, Hint what to do instead; Hint may be empty.
	Msg, Hint string
}

// Error is Msg.
func (e *TransitionError) Error() string { return e.Msg }

// Unwrap returns it as the error that all pure packages return, which carries a hint.
func (e *TransitionError) Unwrap() error { return &tree.Error{Msg: e.Msg, Hint: e.Hint} }

// Consequence is what a decision of a user does to a workload, in numbers: what is shown
// in a question before the decision is carried out.
type Consequence struct {
	// Transition is what the decision comes to, such as retry for a toggle of a halted
	// rollout; empty where no rollout is recorded.
	Transition Transition
	// Step is the name of the step that the decision is about, At its number from 1 on
	// and Steps how many there are.
	Step      string
	At, Steps int
	// Pods is how many pods change, Updated how many of Total have the new revision then, and
	// Next how many of them once the next step that changes pods is done.
	Pods, Updated, Total, Next int
	// AtOnce is how many of them may be unavailable at a time; 0 where that is not known.
	AtOnce int
	// From and To are revisions, Images what they differ in.
	From, To string
	// ToHash pins the template of To, which is "" where the plan is older than its revision.
	ToHash string
	Images []ImageChange
	// Was and Becomes are the values of a field that is set; empty for other decisions.
	Was, Becomes string
}

// ImageChange is an image that another replaces.
type ImageChange struct{ From, To string }

// ConsequenceOf is the consequence of a transition of the rollout of a plan.
func ConsequenceOf(t Transition, p Plan, at Progress) Consequence {
	c := changeConsequence(p)
	c.Transition, c.Steps = t, len(p.Steps)
	if len(p.Steps) == 0 {
		return c
	}
	i := max(0, min(at.Step, len(p.Steps)-1))
	c.Step, c.At = p.Steps[i].Name, i+1
	c.Updated = p.Steps[i].Updated
	if t == TransitionPromote {
		before := c.Updated
		c.Next, c.Updated = untilPause(p.Steps, i+1, before)
		c.Pods = max(c.Updated-before, 0)
	}
	return c
}

// ConsequenceOfPlan is the consequence of carrying a plan out from its beginning.
func ConsequenceOfPlan(p Plan, t Transition) Consequence {
	c := changeConsequence(p)
	c.Transition, c.Steps = t, len(p.Steps)
	seen := map[string]bool{}
	for _, s := range p.Steps {
		for _, pod := range s.Pods {
			seen[pod.Name] = true
		}
		c.Updated = s.Updated
	}
	c.Pods = len(seen)
	c.AtOnce = min(max(p.Limits.MaxUnavailable, 1), c.Pods)
	return c
}

func changeConsequence(p Plan) Consequence {
	c := Consequence{Total: p.Limits.Replicas, From: p.Change.FromRevision, To: p.Change.ToRevision, ToHash: p.Change.ToHash}
	for _, f := range p.Change.Fields {
		from, _ := f.Old.(string)
		if to, ok := f.New.(string); ok && f.Effect == rules.EffectImage {
			c.Images = append(c.Images, ImageChange{from, to})
		}
	}
	return c
}

// untilPause is how many pods are updated after the next step that changes some, and when
// the next pause begins that waits, or the last step ends.
func untilPause(steps []Step, from, updated int) (next, all int) {
	next, all = updated, updated
	for _, s := range steps[min(from, len(steps)):] {
		if s.Kind == StepPause {
			break
		}
		if next == updated {
			next = max(next, s.Updated)
		}
		all = max(all, s.Updated)
	}
	return next, all
}
