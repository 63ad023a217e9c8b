package plan

import (
	"fmt"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// step decides about one step; done is true when the rollout goes on to the next.
func (r *run) step(s *Step) (d Decision, done bool) {
	if d, bad := r.drifted(s); bad {
		return d, false
	}
	switch s.Kind {
	case StepPause:
		return r.pause(s)
	case StepVerify:
		return r.verify(s)
	case StepPullImages:
		return r.pull(s)
	case StepInPlace, StepRecreate:
		return r.pods(s)
	case StepRecreateContainers:
		return r.containers(s)
	}
	return r.patches(s)
}

// pause waits for time, or for a person; pods that fail meanwhile end it.
func (r *run) pause(s *Step) (Decision, bool) {
	if r.progress.Promoted || r.progress.Step < r.progress.Free {
		return Decision{}, true
	}
	if bad := r.failures(); len(bad) > 0 {
		return r.halt(bad...), false
	}
	if s.Pause == nil || s.Pause.For == 0 {
		return r.wait(r.nextGrace(), Blocker{Gate: GatePromote, Why: "waiting for approval"}), false
	}
	end := r.progress.Started.Add(s.Pause.For)
	if !r.now.Before(end) {
		return Decision{}, true
	}
	why := fmt.Sprintf("continues at %s, after a pause of %s", end.UTC().Format(time.TimeOnly), s.Pause.For)
	return r.wait(earliest(end, r.nextGrace()), Blocker{Gate: GateTime, Why: why}), false
}

// verify asks, until there is an answer.
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
	return r.unfinished(s, Blocker{Gate: GateVerify, Why: orText(answer.Text, "no answer yet")}), false
}

func orText(text, byDefault string) string {
	if text == "" {
		return byDefault
	}
	return text
}

// unfinished waits, or halts when the step has taken too long.
func (r *run) unfinished(s *Step, list ...Blocker) Decision {
	end := r.deadline(s)
	if !end.IsZero() && !r.now.Before(end) {
		late := Blocker{Gate: GateDeadline, Why: fmt.Sprintf("step %s is not done after %s", s.Name, s.Timeout)}
		return r.halt(append([]Blocker{late}, list...)...)
	}
	return r.wait(earliest(end, r.nextGrace()), list...)
}

// deadline is when a step has taken too long; zero is never.
func (r *run) deadline(s *Step) time.Time {
	if s.Timeout <= 0 {
		return time.Time{}
	}
	return r.driven().Add(s.Timeout)
}

// driven is since when somebody has driven the present step.
func (r *run) driven() time.Time { return later(r.progress.Started, r.progress.Resumed) }

// nextAvailable is when the next pod that is ready has been so for long enough; zero
// is never. It is always later than now: a pod that has been ready for long enough and
// that only its lifecycle state keeps from being available waits for a change of its state.
func (r *run) nextAvailable() (next time.Time) {
	minReady := r.plan.Limits.MinReady
	for _, p := range r.snap.Members() {
		if rules.Active(p) && rules.Ready(p) && !rules.ReadyFor(p, minReady, r.now) {
			next = earliest(next, p.ReadySince().Add(minReady+time.Millisecond)) // later than that is long enough
		}
	}
	return next
}

// earliest returns the earlier of two times; zero is none.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
