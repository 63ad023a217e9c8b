package view

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// TestRecordPage: what each step has come to and how long it took, in every state.
func TestRecordPage(t *testing.T) {
	at := func(minutes int) time.Time { return noon.Add(time.Duration(minutes) * time.Minute) }
	times := func(n int) map[string]time.Time {
		out := map[string]time.Time{}
		for i, name := range []string{"pull", "1", "pause-1", "100%"}[:n] {
			out[name] = at(i * 2)
		}
		return out
	}
	for name, c := range map[string]struct {
		progress plan.Progress
		times    map[string]time.Time
		history  []plan.AuditEntry
		took     string
		want     string
	}{
		"running": {progress: plan.Progress{Step: 1, Started: at(2)}, times: times(2), want: "done 2m, current , pending , pending "},
		"held":    {progress: plan.Progress{Step: 2, Started: at(4), PausedBy: "ann"}, times: times(3), want: "done 2m, done 2m, current , pending "},
		"halted": {
			progress: plan.Progress{Step: 3, Started: at(6), Failed: "deadline"}, times: times(4), history: []plan.AuditEntry{{At: at(16), What: plan.AuditHalt}},
			took: "16m", want: "done 2m, done 2m, done 2m, failed 10m",
		},
		"halted at an unknown time": {
			progress: plan.Progress{Step: 3, Started: at(6), Failed: "deadline"}, times: times(4), want: "done 2m, done 2m, done 2m, failed ",
		},
		"done":                      {progress: plan.Progress{Step: 4, Finished: at(9)}, times: times(4), took: "9m", want: "done 2m, done 2m, done 2m, done 3m"},
		"done, of an older version": {progress: plan.Progress{Step: 4, Finished: at(9)}, took: "9m", want: "done , done , done , done "},
	} {
		rec := plan.Record{Plan: planOf(5), Begun: noon, Progress: c.progress, Times: c.times}
		rec.Entries = c.history
		page := NewRecordPage(rec, "sha256:01")
		var got []string
		for _, s := range page.Steps {
			got = append(got, fmt.Sprintf("%s %s", s.State, s.Took))
		}
		if text := strings.Join(got, ", "); text != c.want || page.Took != c.took || page.Failed != c.progress.Failed || page.Digest != "sha256:01" {
			t.Errorf("%s: %s; took %q, failed %q; want %s; %q", name, text, page.Took, page.Failed, c.want, c.took)
		}
	}
}
