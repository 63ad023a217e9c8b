package apply_test

import (
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
)

// TestWatch_ReportsAFailureOfAnUnattendedRollout: the template was changed in the middle of a rollout
// that no process drives. Who watches sees why it halts, and that it ended.
func TestWatch_ReportsAFailureOfAnUnattendedRollout(t *testing.T) {
	b := newBed(t, cloneSet, simulate.DefaultOptions(), plan.Policy{Pull: plan.PullNever})
	must(t, b.Begin(t.Context(), b.ref, b.plan))
	s, err := b.Snapshot(b.ref)
	must(t, err)
	d := plan.Next(b.plan, s, b.Now())
	must(t, b.Record(t.Context(), b.ref, s.Version, d.Progress))
	must(t, b.Do(t.Context(), b.ref, d.Actions[0]))
	must(t, b.Apply(node(t, strings.ReplaceAll(cloneSet, "web:1", "web:3"))))
	began := b.Now()
	halts := 0
	res, err := apply.Watch(t.Context(), b, b.ref, b.plan, apply.Options{Until: began.Add(time.Hour), Emit: func(e event.Event) {
		if e.Type == event.Halted {
			halts++
		}
	}})
	must(t, err)
	if res.Outcome != event.Failed || !strings.Contains(res.Reason, "template") || halts != 1 {
		t.Errorf("ended as %s: %s, after %d halts", res.Outcome, res.Reason, halts)
	}
	if took := b.Now().Sub(began); took > time.Minute {
		t.Errorf("took %s", took)
	}
}
