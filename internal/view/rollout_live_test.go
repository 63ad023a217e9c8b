package view

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/internal/text"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

func live(events ...event.Event) *RolloutLive {
	l := &RolloutLive{}
	for _, e := range append([]event.Event{opened()}, events...) {
		l.Event(e)
	}
	return l
}

func noonAnd(seconds int) time.Time { return noon.Add(time.Duration(seconds) * time.Second) }

func TestRolloutLive(t *testing.T) {
	crash := event.Blocker{Gate: plan.GateCrash, Pod: "web-3", Why: "CrashLoopBackOff: container main, image web:2"}
	slow := event.Blocker{Gate: plan.GateUpdated, Why: "updatedReplicas is 2 of 4"}
	first := []event.Event{begun(0, 0), counts(10, pods(1, 1, 4)), done(10, 0), begun(10, 1)}
	second := slices.Concat(first, []event.Event{blocked(10, event.Paused, event.Blocker{Gate: plan.GatePromote, Why: "waiting for approval"}), done(110, 1), begun(110, 2)})
	for name, c := range map[string]struct {
		events []event.Event
		now    int
		want   string
	}{
		"begins": {[]event.Event{begun(0, 0), after(0, event.Acted, event.Event{Request: "patch cloneset shop/web"})}, 3, `cloneset shop/web  driver kruise, in place, main restarts inside the pod
|- web-1 (old)  4 pods, 4 ready
` + "`" + `- web-2 (new)  0 pods, 0 ready
  oooooooooooooooooooooooooooooo 0 of 4 updated, 0 of these ready; 4 ready in all
  > 1 update: update the template and 1 of 4 pods  3s
  . 2 pause-1: wait for approval
  . 3 step-100%: update 3 more pods: 4 of 4
last: patch cloneset shop/web
3s so far`},
		"paused": {second[:5], 70, `cloneset shop/web  driver kruise, in place, main restarts inside the pod
|- web-1 (old)  3 pods, 3 ready
` + "`" + `- web-2 (new)  1 pod, 1 ready
  #######ooooooooooooooooooooooo 1 of 4 updated, 1 of these ready; 4 ready in all
  + 1 update: update the template and 1 of 4 pods  10s
  = 2 pause-1: wait for approval  1m
  . 3 step-100%: update 3 more pods: 4 of 4
waiting for approval
1m10s so far`},
		"waits, with trouble": {append(slices.Clip(second), counts(120, pods(2, 1, 3)), blocked(120, event.Waiting, slow, crash)), 120, `cloneset shop/web  driver kruise, in place, main restarts inside the pod
|- web-1 (old)  2 pods, 2 ready
` + "`" + `- web-2 (new)  2 pods, 1 ready
   ` + "`" + `- CrashLoopBackOff: container main in pod web-3; image web:2
  #######%%%%%%%oooooooooooooooo 2 of 4 updated, 1 of these ready; 3 ready in all
  + 1 update: update the template and 1 of 4 pods  10s
  + 2 pause-1: wait for approval  1m40s
  > 3 step-100%: update 3 more pods: 4 of 4  10s
waiting: 2 of 4 pods are updated; CrashLoopBackOff: container main in pod web-3; image web:2
2m so far, about 1m left at this pace`},
		"halts": {append(slices.Clip(second), blocked(125, event.Halted, crash), ended(125, event.Failed, "crash web-3: it crashed", pods(2, 1, 3))), 999, `cloneset shop/web  driver kruise, in place, main restarts inside the pod
|- web-1 (old)  2 pods, 2 ready
` + "`" + `- web-2 (new)  2 pods, 1 ready
   ` + "`" + `- CrashLoopBackOff: container main in pod web-3; image web:2
  #######%%%%%%%oooooooooooooooo 2 of 4 updated, 1 of these ready; 3 ready in all
  + 1 update: update the template and 1 of 4 pods  10s
  + 2 pause-1: wait for approval  1m40s
  X 3 step-100%: update 3 more pods: 4 of 4  15s
failed after 2m5s: web-3: it crashed`},
		"completes": {append(slices.Clip(second), done(130, 2), ended(130, event.Completed, "", pods(4, 4, 4))), 999, `cloneset shop/web  driver kruise, in place, main restarts inside the pod
|- web-1 (old)  0 pods, 0 ready
` + "`" + `- web-2 (new)  4 pods, 4 ready
  ############################## 4 of 4 updated, 4 of these ready; 4 ready in all
  + 1 update: update the template and 1 of 4 pods  10s
  + 2 pause-1: wait for approval  1m40s
  + 3 step-100%: update 3 more pods: 4 of 4  20s
completed after 2m10s`},
		"goes back": {append(slices.Clip(first), after(20, event.RollingBack, event.Event{Plan: &event.Plan{Driver: "kruise", From: "web-2", To: "web-1", Steps: ladderOf().Steps[:1]}, Text: "it crashed"}), after(20, event.Refused, event.Event{Text: "conflict"})), 21, `cloneset shop/web  driver kruise  rolling back: it crashed
|- web-2 (old)  3 pods, 3 ready
` + "`" + `- web-1 (new)  1 pod, 1 ready
  #######ooooooooooooooooooooooo 1 of 4 updated, 1 of these ready; 4 ready in all
  > 1 update: update the template and 1 of 4 pods
last: refused for now, trying again: conflict
21s so far`},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, strings.Join(live(c.events...).Frame(noonAnd(c.now), 0, 0), "\n")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestRolloutLive_FitsTheTerminal: whatever the terminal's size, no line is as wide, and no
// picture as high; the present step is in it.
func TestRolloutLive_FitsTheTerminal(t *testing.T) {
	p := ladderOf()
	p.Steps = nil
	for i := range 40 {
		p.Steps = append(p.Steps, event.Step{Name: fmt.Sprintf("step-%d", i), Title: strings.Repeat("x", 90), Updated: i})
	}
	l := &RolloutLive{Style: Style{Color: true}}
	l.Event(after(0, event.Opened, event.Event{Step: -1, Plan: p, Counts: pods(0, 0, 4)}))
	for i := range 40 {
		l.Event(after(float64(i), event.StepBegun, event.Event{Step: i}))
		for _, size := range [][2]int{{80, 24}, {40, 12}, {20, 5}, {200, 60}, {2, 2}} {
			frame := l.Frame(noonAnd(i), size[0], size[1])
			if len(frame) > size[1]-1 {
				t.Fatalf("step %d: %d lines in %d rows", i, len(frame), size[1])
			}
			for _, line := range frame {
				if Columns(line) >= size[0] {
					t.Fatalf("step %d: %d columns in %d: %q", i, Columns(line), size[0], line)
				}
			}
			if text := strings.Join(frame, "\n"); size[1] > 11 && !strings.Contains(text, fmt.Sprintf("> %d ", i+1)) {
				t.Fatalf("step %d is not in\n%s", i, text)
			}
		}
	}
}

func TestRolloutLive_IsEmptyBeforeTheStart(t *testing.T) {
	if got := (&RolloutLive{}).Frame(noon, 80, 24); got != nil {
		t.Errorf("%q", got)
	}
}

func TestCutTo(t *testing.T) {
	for _, c := range []struct {
		in    string
		width int
		want  string
	}{
		{"abcdef", 6, "abcdef"},
		{"abcdef", 4, "abc~"},
		{"äöüß", 3, "äö~"},
		{text.Paint("31", "abcdef"), 4, text.Paint("31", "abc~")},
		{text.Paint("31", "ab"), 2, text.Paint("31", "ab")},
		{"abc", 0, "abc"},
		{"", 5, ""},
	} {
		if got := cutTo(c.in, c.width); got != c.want {
			t.Errorf("cutTo(%q, %d) = %q, want %q", c.in, c.width, got, c.want)
		}
	}
}
