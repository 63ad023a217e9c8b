package simulate

import (
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// Check runs a plan over what is known of the cluster, with pods that behave, and
// returns why it cannot finish: a budget that never allows anything, a partition
// that cannot converge, pods that would never be ready. nil means that it can.
// Pauses that wait for approval are taken to be promoted at once.
func Check(p plan.Plan, s plan.Snapshot, o Options) error {
	_, err := Predict(p, s, o)
	return err
}

// Predict is [Check] with what would happen.
func Predict(p plan.Plan, s plan.Snapshot, o Options) (Timeline, error) {
	s.Progress = plan.Progress{}
	return Continue(p, s, o)
}

// Continue is [Predict] of what is left of a plan: from its current step on,
// as if nothing had put it on hold or halted it.
func Continue(p plan.Plan, s plan.Snapshot, o Options) (Timeline, error) {
	line, err := RunRest(p, s, o, RolloutOptions{Promote: new(time.Duration)})
	if err != nil || line.Summary.Outcome == Completed {
		return line, err
	}
	return line, &UnfinishedError{Summary: line.Summary, At: atStep(line)}
}

// RunRest runs the rest of a plan, as [Continue] does, and accepts any outcome.
func RunRest(p plan.Plan, s plan.Snapshot, o Options, r RolloutOptions) (Timeline, error) {
	w, err := FromSnapshot(s, o)
	if err != nil {
		return Timeline{}, err
	}
	if target, err := w.store.lookup(p.Target.Ref()); err == nil {
		target.progress = unblocked(s.Progress, p, w.clock.now())
	}
	now := s.Progress
	i := slices.IndexFunc(p.Steps, func(s plan.Step) bool { return s.Kind == plan.StepUpdate })
	r.begun = i >= 0 && (now.Step > i || now.Step == i && now.Sent > 0)
	return Rollout(w, p, r)
}

// unblocked is the progress of a rollout that is retried where it has halted, and resumed where
// it is on hold.
func unblocked(now plan.Progress, of plan.Plan, at time.Time) plan.Progress {
	if retried, err := now.Retry(of, at); err == nil {
		now = retried
	}
	if now.PausedBy == "" {
		return now
	}
	if resumed, err := now.Resume(of, at); err == nil {
		now = resumed
	}
	return now
}

// atStep names the step at which a run ended.
func atStep(t Timeline) string {
	for _, s := range t.Steps {
		if s.End < 0 {
			return fmt.Sprintf(" at step %s", s.Name)
		}
	}
	return ""
}
