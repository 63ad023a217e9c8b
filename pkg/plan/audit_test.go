package plan_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// TestDecided: each transition of a person leaves an entry of its name, and what the
// driving process writes leaves one only where the rollout ends.
func TestDecided(t *testing.T) {
	now := time.Date(2026, 11, 23, 3, 0, 0, 0, time.UTC)
	of := plan.Plan{Steps: []plan.Step{{Name: "pause-1", Kind: plan.StepPause}, {Name: "half", Kind: plan.StepPartition}, {Name: "rest", Kind: plan.StepPartition}}}
	running := plan.Progress{Step: 1, Started: now}
	held := plan.Progress{Step: 1, Held: "by ann"}
	halted := plan.Progress{Step: 1, Halted: "a pod fails"}
	do := func(p plan.Progress, err error) plan.Progress {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	for name, c := range map[string]struct {
		before, after plan.Progress
		driven        bool
		want          string
	}{
		"promote":             {running, do(running.Promote(of, plan.Promotion{}, now)), false, "promote: step half"},
		"promote from a hold": {held, do(held.Promote(of, plan.Promotion{}, now)), false, "promote: step half"},
		"promote in full":     {running, do(running.Promote(of, plan.Promotion{Full: true}, now)), false, "promote: step half, and on to step 3 of 3"},
		"pause":               {running, do(running.Pause(of, "ann", now)), false, "pause: step half"},
		"resume":              {held, do(held.Resume(of, now)), false, "resume: step half"},
		"resume an orphan":    {running, do(running.Resume(of, now)), false, "resume: step half"},
		"retry":               {halted, do(halted.Retry(of, now)), false, "retry: step half"},
		"abort":               {running, do(running.Abort(of, "aborted by ann")), false, "abort: step half"},
		"step back":           {running, plan.Progress{Step: 0}, false, "stepback: step pause-1"},
		"halt":                {running, halted, true, "halt: a pod fails"},
		"finish":              {running, plan.Progress{Step: 3, Finished: now}, true, "finish: "},
		"a further step":      {running, plan.Progress{Step: 2, Started: now}, true, ": "},
		"a promoted step":     {do(running.Promote(of, plan.Promotion{}, now)), plan.Progress{Step: 2}, true, ": "},
		"nothing":             {running, running, false, ": "},
	} {
		what, detail := plan.Decided(c.before, c.after, of, c.driven)
		if got := what + ": " + detail; got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestAuditIsBounded: however often a rollout is paused, its first entry and the newest
// are kept, and no text makes it large.
func TestAuditIsBounded(t *testing.T) {
	var h plan.Audit
	for i := range 500 {
		h = h.With(plan.AuditEntry{By: "ann", What: "pause", Detail: fmt.Sprint(i) + " " + strings.Repeat("ü", 10_000)})
	}
	if len(h.Entries) != 50 || h.Dropped != 450 {
		t.Fatalf("%d kept, %d dropped", len(h.Entries), h.Dropped)
	}
	first, last := h.Entries[0].Detail, h.Entries[49].Detail
	if !strings.HasPrefix(first, "0 ") || !strings.HasPrefix(h.Entries[1].Detail, "451 ") || !strings.HasPrefix(last, "499 ") || len(last) > 210 {
		t.Errorf("%q, %q", first, last)
	}
}
