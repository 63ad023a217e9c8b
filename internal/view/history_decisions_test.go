package view

import (
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// TestPastRollouts_SayUponWhatWasDecided: who approved a step, after what time, after how long a wait, and which check had
// passed before; and how long a rollout was paused that was resumed.
func TestPastRollouts_SayUponWhatWasDecided(t *testing.T) {
	at := func(minutes int) time.Time { return noon.Add(time.Duration(minutes) * time.Minute) }
	p := plan.PastRollout{
		Begun: at(0), Ended: at(30), Result: plan.RolloutCompleted, By: "ann@desk",
		Steps: []plan.PastStep{
			{Name: "update", Title: "update 1 of 4 pods", Begun: at(0), Took: time.Minute, Done: true},
			{Name: "verify-1", Title: "ask: http://web", Begun: at(1), Took: time.Minute, Done: true},
			{Name: "pause-1", Title: "wait for approval", Begun: at(2), Took: 8 * time.Minute, Done: true},
			{Name: "step-100%", Title: "update 3 more pods", Begun: at(10), Took: 20 * time.Minute, Done: true},
		},
		Decisions: []plan.AuditEntry{
			{At: at(0), By: "ann@desk", What: "begin", Detail: "4 steps to template aa"},
			{At: at(10), By: "ben@desk", What: "promote", Detail: "step pause-1"},
			{At: at(12), By: "ann@desk", What: "pause", Detail: "step step-100%"},
			{At: at(17), By: "ann@desk", What: "resume", Detail: "step step-100%"},
		},
	}
	var out strings.Builder
	if err := PastRollouts(&out, "cloneset/web", []plan.PastRollout{p}, "", at(30), Style{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"started by ann@desk: 4 steps to template aa\n",
		"promoted by ben@desk, 10m after the start; it had waited 8m, and verify-1 had passed: step pause-1\n",
		"paused by ann@desk, 12m after the start: step step-100%\n",
		"resumed by ann@desk, 17m after the start; it had been paused for 5m: step step-100%\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("without %q:\n%s", want, &out)
		}
	}
}
