package rollout

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// TestDocs_StatesAreThoseOfTheRules: the table in docs/rollout-states.md allows and refuses what the rules do.
func TestDocs_StatesAreThoseOfTheRules(t *testing.T) {
	text, err := os.ReadFile("../../../docs/rollout-states.md")
	if err != nil {
		t.Fatal(err)
	}
	of := recordOf(0).Plan
	columns := []plan.Progress{{Step: 1}, {Step: 1, PausedBy: "by ann"}, {Step: 1, Failed: "x"}, {Step: 5, Finished: time.Unix(9, 0)}}
	for row, transition := range map[string]plan.Transition{
		"`promote`": plan.TransitionPromote, "`pause`": plan.TransitionPause, "`resume`": plan.TransitionResume, "`retry`": plan.TransitionRetry,
		"`abort`": plan.TransitionAbort, "`abort --rollback`": plan.TransitionRollBack,
		"`undo`, `run` and all others that begin a rollout": plan.TransitionBegin,
	} {
		_, after, ok := strings.Cut(string(text), "\n| "+row+" | ")
		line, _, _ := strings.Cut(after, "\n")
		cells := strings.Split(strings.TrimSuffix(line, " |"), " | ")
		if !ok || len(cells) != len(columns) {
			t.Errorf("the page has no row of %s", row)
			continue
		}
		for i, p := range columns {
			if says, rule := strings.HasPrefix(cells[i], "yes"), p.Allows(transition, of) == nil; says != rule {
				t.Errorf("%s, %s: the page says %q, the rules %v", row, p.State(of), cells[i], p.Allows(transition, of))
			}
		}
	}
}
