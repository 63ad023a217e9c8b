package simulate

import (
	"fmt"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// Check runs a plan over what is known of the cluster, with pods that behave, and
// returns why it cannot finish: a budget that never allows anything, a partition
// that cannot converge, pods that would never be ready. nil means that it can.
// Pauses that wait for a person are taken to be promoted at once.
func Check(p plan.Plan, s plan.Snapshot, o Options) error {
	_, err := Predict(p, s, o)
	return err
}

// Predict is [Check] with what would happen.
func Predict(p plan.Plan, s plan.Snapshot, o Options) (Timeline, error) {
	w, err := FromSnapshot(s, o)
	if err != nil {
		return Timeline{}, err
	}
	at := time.Duration(0)
	line, err := Rollout(w, p, RolloutOptions{Promote: &at})
	if err != nil || line.Summary.Outcome == Completed {
		return line, err
	}
	return line, fmt.Errorf("the plan cannot finish: after %s it is %s%s: %s",
		line.Summary.Duration.Round(time.Second), line.Summary.Outcome, atStep(line), line.Summary.Reason)
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
