package view

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// noon is twelve o'clock wherever the test runs: lines have local times.
var noon = time.Date(2026, 7, 1, 12, 0, 0, 0, time.Local)

var target = event.Workload{Kind: "CloneSet", Namespace: "shop", Name: "web"}

// ladderOf is a plan of three steps for four pods.
func ladderOf() *event.Plan {
	return &event.Plan{
		Driver: "kruise", From: "web-1", To: "web-2", Mode: string(rules.ModeInPlace), Restarts: []string{"main"},
		Steps: []event.Step{
			{Name: "update", Kind: "update", Title: "update the template and 1 of 4 pods", Updated: 1},
			{Name: "pause-1", Kind: "pause", Title: "wait for approval", Updated: 1},
			{Name: "step-100%", Kind: "partition", Title: "update 3 more pods: 4 of 4", Updated: 4},
		},
	}
}

func pods(updated, ready, all int) *event.Counts {
	return &event.Counts{Desired: 4, Total: 4, Ready: all, Updated: updated, UpdatedReady: ready}
}

// after is an event so many seconds after noon.
func after(seconds float64, kind event.Type, e event.Event) event.Event {
	e.Time, e.Type, e.Workload = noon.Add(time.Duration(seconds*float64(time.Second))), kind, target
	return e
}

func opened() event.Event {
	return after(0, event.Opened, event.Event{Step: -1, Plan: ladderOf(), Counts: pods(0, 0, 4)})
}

func begun(at float64, step int) event.Event {
	return after(at, event.StepBegun, event.Event{Step: step, Text: ladderOf().Steps[step].Title})
}

func done(at float64, step int) event.Event {
	return after(at, event.StepDone, event.Event{Step: step})
}

func counts(at float64, c *event.Counts) event.Event {
	return after(at, event.Pods, event.Event{Counts: c})
}

func blocked(at float64, kind event.Type, list ...event.Blocker) event.Event {
	return after(at, kind, event.Event{Blockers: list, Text: list[0].Why})
}

func ended(at float64, o event.Outcome, why string, c *event.Counts) event.Event {
	return after(at, event.Ended, event.Event{Outcome: o, Text: why, Counts: c})
}

// beat is the ticker among events.
const beat event.Type = "beat"

// printed are the lines of a pipe.
func printed(t *testing.T, list ...event.Event) string {
	t.Helper()
	var b bytes.Buffer
	l := &RolloutLines{Out: &b}
	for _, e := range list {
		if e.Type == beat {
			l.Beat(e.Time)
			continue
		}
		l.Event(e)
	}
	if l.Err() != nil {
		t.Fatal(l.Err())
	}
	return b.String()
}

const opening = "12:00:00 cloneset shop/web, driver kruise, 3 steps, in place, main restarts inside the pod; 0 of 4 updated, 4 ready\n"

func TestRolloutLines(t *testing.T) {
	crash := event.Blocker{Gate: plan.GateCrash, Pod: "web-3", Why: "CrashLoopBackOff: container main, image web:2"}
	updated := func(n int) event.Blocker {
		return event.Blocker{Gate: plan.GateUpdated, Why: fmt.Sprintf("updatedReplicas is %d of 4", n)}
	}
	for name, c := range map[string]struct {
		events []event.Event
		want   string
	}{
		"from begin to end": {[]event.Event{
			begun(0, 0), after(0.1, event.Acted, event.Event{Request: "patch cloneset shop/web"}), counts(2, pods(1, 1, 4)), done(2, 0),
			begun(2, 1), blocked(2, event.Paused, event.Blocker{Gate: plan.GatePromote, Why: "waiting for approval"}), done(60, 1),
			begun(60, 2), counts(70, pods(4, 4, 4)), done(70, 2), ended(70, event.Completed, "", pods(4, 4, 4)),
		}, `12:00:00 step 1/3 update: update the template and 1 of 4 pods
12:00:00   patch cloneset shop/web
12:00:02   1 of 4 updated, 4 ready
12:00:02 step 1/3 update is done
12:00:02 step 2/3 pause-1: wait for approval
12:00:02   waiting for approval
12:01:00 step 2/3 pause-1 is done
12:01:00 step 3/3 step-100%: update 3 more pods: 4 of 4
12:01:10   4 of 4 updated, 4 ready
12:01:10 step 3/3 step-100% is done
12:01:10 completed after 1m10s: 4 of 4 updated, 4 ready
`},
		"counts are said once a second": {[]event.Event{
			counts(1, pods(1, 0, 3)), counts(1.2, pods(1, 1, 4)), counts(1.4, pods(2, 1, 3)), after(1.9, beat, event.Event{}), after(2.1, beat, event.Event{}), after(3.2, beat, event.Event{}),
		}, "12:00:01   1 of 4 updated, 3 ready\n12:00:02   2 of 4 updated, 3 ready\n"},
		"a done step says its counts": {[]event.Event{counts(1, pods(1, 0, 3)), counts(1.2, pods(1, 1, 4)), done(1.3, 0)}, `12:00:01   1 of 4 updated, 3 ready
12:00:01   1 of 4 updated, 4 ready
12:00:01 step 1/3 update is done
`},
		"numbers that go up are no news": {[]event.Event{blocked(1, event.Waiting, updated(1)), blocked(2, event.Waiting, updated(2)), blocked(3, event.Waiting, updated(3))}, "12:00:01   waiting: 1 of 4 pods are updated\n"},
		"trouble is news": {
			[]event.Event{blocked(1, event.Waiting, updated(1)), blocked(2, event.Waiting, updated(1), crash), blocked(3, event.Waiting, updated(1), crash)},
			"12:00:01   waiting: 1 of 4 pods are updated\n12:00:02   waiting: 1 of 4 pods are updated; CrashLoopBackOff: container main in pod web-3; image web:2\n",
		},
		"a sign of life": {
			[]event.Event{blocked(1, event.Waiting, updated(1)), after(10.9, beat, event.Event{}), after(11, beat, event.Event{}), after(15, beat, event.Event{}), after(21, beat, event.Event{})},
			"12:00:01   waiting: 1 of 4 pods are updated\n12:00:11   waiting: 1 of 4 pods are updated; 0 of 4 updated, 4 ready\n12:00:21   waiting: 1 of 4 pods are updated; 0 of 4 updated, 4 ready\n",
		},
		"life without a reason": {[]event.Event{after(10, beat, event.Event{})}, "12:00:10   in progress; 0 of 4 updated, 4 ready\n"},
		"many blockers": {
			[]event.Event{blocked(1, event.Waiting, updated(1), crash, event.Blocker{Why: "a"}, event.Blocker{Why: "b"}, event.Blocker{Why: "c"})},
			"12:00:01   waiting: 1 of 4 pods are updated; CrashLoopBackOff: container main in pod web-3; image web:2; a; and 2 more\n",
		},
		"halts": {
			[]event.Event{blocked(5, event.Halted, crash), ended(5, event.Failed, "crash web-3: it crashed", pods(1, 0, 3))},
			"12:00:05 failed: CrashLoopBackOff: container main in pod web-3; image web:2\n12:00:05 failed after 5s: 1 of 4 updated, 3 ready; web-3: it crashed\n",
		},
		"goes back": {[]event.Event{
			after(5, event.RollingBack, event.Event{Plan: &event.Plan{Driver: "kruise", Steps: ladderOf().Steps[:1]}, Text: "it crashed"}), begun(5, 0), done(8, 0), ended(8, event.RolledBack, "it crashed", pods(0, 0, 4)),
		}, `12:00:05 rolling back, because it crashed
12:00:05 step 1/1 update: update the template and 1 of 4 pods
12:00:08 step 1/1 update is done
12:00:08 rolled back after 8s: 0 of 4 updated, 4 ready; it crashed
`},
		"refused and noted": {[]event.Event{after(1, event.Refused, event.Event{Text: "conflict"}), after(2, event.Note, event.Event{Text: "look"})}, "12:00:01   refused for now, trying again: conflict\n12:00:02 look\n"},
		"an odd step":       {[]event.Event{done(1, 7)}, "12:00:01 step is done\n"},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(opening+c.want, printed(t, append([]event.Event{opened()}, c.events...)...)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestRolloutLines_NameTheStepOfAResume: a rollout that was resumed says where.
func TestRolloutLines_NameTheStepOfAResume(t *testing.T) {
	e := opened()
	e.Plan.At = 2
	if got := printed(t, e); !strings.HasSuffix(got, "12:00:00 continuing at step 3/3 step-100%\n") {
		t.Error(got)
	}
}

type closed struct{}

func (closed) Write([]byte) (int, error) { return 0, errors.New("closed") }

// TestRolloutLines_RememberAWriteError: a reader that went away is remembered, and no matter.
func TestRolloutLines_RememberAWriteError(t *testing.T) {
	l := &RolloutLines{Out: closed{}}
	l.Event(opened())
	l.Event(done(1, 0))
	if l.Err() == nil {
		t.Error("no error")
	}
}
