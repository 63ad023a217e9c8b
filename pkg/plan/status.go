package plan

import (
	"fmt"
	"strings"
	"time"
)

// The words of [Status.State], as docs/glossary.md#rollouts has them.
const (
	StatusProgressing = "progressing"
	StatusApproval    = "waiting for approval"
	StatusPaused      = "paused"
	StatusBlocked     = "blocked"
	StatusFailed      = "failed"
	StatusAborted     = "aborted"
	StatusCompleted   = "completed"
	StatusRolledBack  = "rolled back"
)

// Status is the status of a rollout in one sentence, the same for everything that shows it:
// its state, how far it is, what it waits for or why it failed, and what to do.
type Status struct {
	// State is one of the words above.
	State string
	// Step counts from 1; it is 0 where no rollout is recorded, or all steps are done.
	Step, Steps int
	// By is who paused or aborted the rollout and when: "by ann@host at ...".
	By string
	// Reason is what it waits for or why it failed; "" where the state says all.
	Reason string
	// Remedy is the command that continues a rollout which waits for a user; "" for none.
	Remedy string
}

// StatusOf is the status of a rollout, or of a workload where none is recorded, for which
// [Next] has decided d. of and p are what d was decided for; p.Finished may be zero.
func StatusOf(of *Plan, p Progress, d Decision, recorded bool) Status {
	s := Status{State: StatusProgressing, Reason: d.sentence()}
	gate := ""
	if len(d.Blockers) > 0 {
		gate = d.Blockers[0].Gate
	}
	switch {
	case d.Verb == Done:
		return done(of, p)
	case d.Verb == Halt && p.Halted != "" && p.Aborted:
		s.aborted(p)
	case d.Verb == Halt:
		s.State = StatusFailed
	case gate == GatePromote:
		s.State, s.Reason = StatusApproval, ""
	case gate == GateHeld:
		s.State, s.By, s.Reason = StatusPaused, p.Held, ""
	case gate == GatePaused:
		s.State = StatusPaused
	}
	if recorded {
		s.at(of, d.Step)
	}
	return s
}

// Status is the status as far as the record tells it, without a look at the pods.
func (p Progress) Status(of Plan) Status {
	s := Status{State: StatusProgressing}
	step := p.present(of)
	switch {
	case !p.Finished.IsZero():
		return done(&of, p)
	case p.Halted != "" && p.Aborted:
		s.aborted(p)
	case p.Halted != "":
		s.State, s.Reason = StatusFailed, ParseBlocker(p.Halted).Sentence()
	case step == nil:
		return done(&of, p)
	case p.holds():
		s.State, s.By = StatusPaused, p.Held
	case step.Kind == StepPause && (step.Pause == nil || step.Pause.For == 0):
		s.State = StatusApproval
	default:
		s.Reason = step.Title
	}
	if p.Held != "" && !p.holds() && s.State == StatusProgressing {
		s.Reason += "; paused after this step " + p.Held
	}
	s.Reason += p.Stop.suffix()
	s.Reason = strings.TrimPrefix(s.Reason, "; ")
	s.at(&of, p.Step)
	return s
}

func done(of *Plan, p Progress) Status {
	switch {
	case of.RollsBack != "":
		return Status{State: StatusRolledBack, Reason: of.RollsBack}
	case !p.Finished.IsZero():
		return Status{State: StatusCompleted, By: "at " + p.Finished.UTC().Format(time.RFC3339)}
	}
	return Status{State: StatusCompleted}
}

// aborted takes over who ended the rollout: the record says "aborted by ann@host".
func (s *Status) aborted(p Progress) {
	who, ok := strings.CutPrefix(p.Halted, "aborted ")
	s.State, s.By, s.Reason = StatusAborted, who, ""
	if !ok {
		s.By, s.Reason = "", ParseBlocker(p.Halted).Sentence()
	}
}

// at adds the step and what the user does next.
func (s *Status) at(of *Plan, step int) {
	s.Steps = len(of.Steps)
	s.Step = min(step+1, s.Steps)
	if verb, ok := remedies[s.State]; ok {
		s.Remedy = of.Target.Command(verb)
	}
}

// remedies are the verbs that continue a rollout, by its state.
var remedies = map[string]string{StatusApproval: "promote", StatusPaused: "resume", StatusFailed: "retry", StatusAborted: "retry"}

// Command is the command line of a verb of rollouts for the target: it can be copied.
func (t Target) Command(verb string) string {
	text := "kubectl kruise rollout " + verb + " " + t.Ref().String()
	if t.Namespace != "" {
		text += " -n " + t.Namespace
	}
	return text
}

// Blocked is the status of a rollout that something outside of it keeps from going on.
func (s Status) Blocked(reason string) Status {
	if s.State == StatusProgressing {
		s.State = StatusBlocked
	}
	s.Reason = reason
	return s
}

// Head is the state and how far the rollout is: "paused at step 3 of 5 by ann@host".
func (s Status) Head() string {
	text := s.State
	if s.Step > 0 {
		text += fmt.Sprintf(" at step %d of %d", s.Step, s.Steps)
	}
	if s.By != "" {
		text += " " + s.By
	}
	return text
}

// String is the sentence without the remedy.
func (s Status) String() string {
	if s.Reason == "" {
		return s.Head()
	}
	return s.Head() + ": " + s.Reason
}

// sentence is the reason of a decision in words, without the gate.
func (d Decision) sentence() string {
	switch {
	case len(d.Blockers) > 0:
		return d.Blockers[0].Sentence()
	case d.Verb == Halt, d.Verb == Wait:
		return ParseBlocker(d.Reason).Sentence()
	}
	return inWords(d.Reason)
}
