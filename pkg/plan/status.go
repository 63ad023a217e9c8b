package plan

import (
	"fmt"
	"regexp"
	"slices"
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
	// Reason is what it waits for or why it failed; "" if the state needs no reason.
	Reason string
	// Remedy is what a user does about a rollout that waits for one: a command, or a sentence with
	// commands in quotes; "" for none.
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
		return doneStatus(of, p)
	case d.Verb == Halt && p.Failed != "" && p.Aborted:
		s.setAborted(p)
	case d.Verb == Halt:
		s.State = StatusFailed
	case gate == GatePromote:
		s.State, s.Reason = StatusApproval, ""
	case gate == GateHeld:
		s.State, s.By, s.Reason = StatusPaused, p.PausedBy, ""
	case gate == GatePaused:
		s.State = StatusPaused
	}
	if recorded {
		s.setStep(of, d.Step, d.Reason)
	}
	return s
}

// Status returns the status as far as the record has it, without a look at the pods.
func (p Progress) Status(of Plan) Status {
	s := Status{State: StatusProgressing}
	step := p.currentStep(of)
	switch {
	case !p.Finished.IsZero():
		return doneStatus(&of, p)
	case p.Failed != "" && p.Aborted:
		s.setAborted(p)
	case p.Failed != "":
		s.State, s.Reason = StatusFailed, ParseBlocker(p.Failed).Sentence()
	case step == nil:
		return doneStatus(&of, p)
	case p.holds():
		s.State, s.By = StatusPaused, p.PausedBy
	case step.Kind == StepPause && (step.Pause == nil || step.Pause.For == 0):
		s.State = StatusApproval
	default:
		s.Reason = step.Title
	}
	if p.PausedBy != "" && !p.holds() && s.State == StatusProgressing {
		s.Reason += "; paused after this step " + p.PausedBy
	}
	s.Reason += p.Stop.suffix()
	s.Reason = strings.TrimPrefix(s.Reason, "; ")
	s.setStep(&of, p.Step, p.Failed)
	return s
}

func doneStatus(of *Plan, p Progress) Status {
	switch {
	case of.RollbackReason != "":
		return Status{State: StatusRolledBack, Reason: of.RollbackReason}
	case !p.Finished.IsZero():
		return Status{State: StatusCompleted, By: "at " + p.Finished.UTC().Format(time.RFC3339)}
	}
	return Status{State: StatusCompleted}
}

// setAborted sets who ended the rollout: the record has "aborted by ann@host".
func (s *Status) setAborted(p Progress) {
	who, ok := strings.CutPrefix(p.Failed, "aborted ")
	s.State, s.By, s.Reason = StatusAborted, who, ""
	if !ok {
		s.By, s.Reason = "", ParseBlocker(p.Failed).Sentence()
	}
}

// setStep adds the step and what the user does next; reason is that of a failure.
func (s *Status) setStep(of *Plan, step int, reason string) {
	s.Steps = len(of.Steps)
	s.Step = min(step+1, s.Steps)
	if s.State == StatusFailed && ParseBlocker(reason).Gate == GateTemplate {
		s.Remedy = of.FailureHint(reason, of.Target.Command) // another try would fail again
	} else if s.State == StatusAborted {
		s.Remedy = fmt.Sprintf("'%s --rollback' rolls it back, '%s' continues it", of.Target.Command("abort"), of.Target.Command("retry"))
	} else if verb, ok := remedies[s.State]; ok {
		s.Remedy = of.Target.Command(verb)
	}
}

// remedies are the verbs that continue a rollout, by its state.
var remedies = map[string]string{StatusApproval: "promote", StatusPaused: "resume", StatusFailed: "retry"}

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
	return withPlainWords(d.Reason)
}

// Sentence reports why a rollout waits or has failed: the cause first, then the pods that it
// is about, without names of status fields. A gate that is about no pod has only its reason.
//
//	CrashLoopBackOff: container app in pod web-1; image web:2
func Sentence(gate, why string, pods ...string) string {
	why = withPlainWords(why)
	if len(pods) == 0 {
		return why
	}
	reason, rest, ok := strings.Cut(why, ": ")
	if !ok || !slices.Contains([]string{GateCrash, GateImage}, gate) {
		return Names(pods) + ": " + why
	}
	in := " in pod "
	if len(pods) > 1 {
		in = " in pods "
	}
	container, image, ok := strings.Cut(rest, ", image ")
	text := reason + ": " + container + in + Names(pods)
	if ok {
		text += "; image " + image
	}
	return text
}

// Sentence returns the blocker in the words of [Sentence].
func (b Blocker) Sentence() string {
	if b.Pod == "" {
		return Sentence(b.Gate, b.Why)
	}
	return Sentence(b.Gate, b.Why, b.Pod)
}

// InWords is a reason that [Blocker.String] has written, or several with semicolons between
// them, as sentences.
func InWords(reason string) string {
	parts := strings.Split(reason, "; ")
	for i, part := range parts {
		parts[i] = ParseBlocker(part).Sentence()
	}
	return strings.Join(parts, "; ")
}

// maxNames is how many names a sentence has.
const maxNames = 3

// Names lists the first few names.
func Names(list []string) string {
	if len(list) > maxNames+1 {
		return fmt.Sprintf("%s and %d more", strings.Join(list[:maxNames], ", "), len(list)-maxNames)
	}
	return strings.Join(list, ", ")
}

// plainWords are conditions of a status in words, without the names of its fields. The fields
// themselves are those of rules/*_done.go.
var plainWords = []struct {
	field *regexp.Regexp
	words string
}{
	{regexp.MustCompile(`\bupdatedAvailableReplicas is (\d+) of (\d+)`), "$1 of $2 updated pods are available"},
	{regexp.MustCompile(`\bupdatedReadyReplicas is (\d+) of (\d+)`), "$1 of $2 updated pods are ready"},
	{regexp.MustCompile(`\bexpectedUpdatedReplicas is (\d+) of (\d+)`), "Kruise still aims for $1 updated pods; this step wants $2"},
	{regexp.MustCompile(`\bupdatedReplicas is (\d+) of (\d+)`), "$1 of $2 pods are updated"},
	{regexp.MustCompile(`\bupdatedReadyPods is (\d+) of (\d+)`), "$1 of $2 updated pods are ready"},
	{regexp.MustCompile(`\bupdatedPods is (\d+) of (\d+)`), "$1 of $2 pods are updated"},
	{regexp.MustCompile(`\bupdatedNumberScheduled is (\d+) of (\d+)`), "$1 of $2 pods are updated"},
	{regexp.MustCompile(`\bnumberAvailable is (\d+) of (\d+)`), "$1 of $2 pods are available"},
	{regexp.MustCompile(`\bavailableReplicas is (\d+) of (\d+)`), "$1 of $2 pods are available"},
	{regexp.MustCompile(`\bnumberUnavailable is 1\b`), "1 pod is not available"},
	{regexp.MustCompile(`\bnumberUnavailable is (\d+)`), "$1 pods are not available"},
	{regexp.MustCompile(`\bunavailableReplicas is 1\b`), "1 pod is not available"},
	{regexp.MustCompile(`\bunavailableReplicas is (\d+)`), "$1 pods are not available"},
	{regexp.MustCompile(`\bcurrentRevision is still \S+`), "the controller has not made the new revision the current one yet"},
	{regexp.MustCompile(`the controller has not seen generation \d+ yet \(observedGeneration \d+\)`), "the controller has not processed the latest change yet"},
}

// singular is the number 1 with its nouns.
var singular = strings.NewReplacer(
	" of 1 updated pods are", " of 1 updated pod is", " of 1 pods are", " of 1 pod is", " aims for 1 updated pods", " aims for 1 updated pod",
)

// withPlainWords replaces conditions on fields of a status by plain sentences.
func withPlainWords(why string) string {
	for _, p := range plainWords {
		why = p.field.ReplaceAllString(why, p.words)
	}
	return singular.Replace(why)
}
