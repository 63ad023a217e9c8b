package rollout

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/theme"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// TestClustered: the same of several pods within a minute is one line; what is about
// the workload, later or different stands alone.
func TestClustered(t *testing.T) {
	event := func(pod, reason string, ago time.Duration) world.Event {
		return world.Event{At: noon.Add(-ago), Pod: pod, Reason: reason, Text: reason, Count: 2}
	}
	got := clustered([]world.Event{
		event("a", "Ready", 0), event("", "Step", time.Second), event("b", "Ready", 2*time.Second), event("a", "Ready", 3*time.Second),
		event("", "Step", 4*time.Second), event("c", "Ready", 2*time.Minute),
	})
	var lines []string
	for _, h := range got {
		lines = append(lines, fmt.Sprint(h.Reason, " ", h.Count, " ", h.pods))
	}
	if diff := cmp.Diff([]string{"Ready 6 [a b]", "Step 2 []", "Step 2 []", "Ready 2 [c]"}, lines); diff != "" {
		t.Error(diff)
	}
}

func TestRows(t *testing.T) {
	got := rows([]string{"a", "a", "a", "b"}, 2)
	want := []row{{"a", 0, 2}, {"", 2, 3}, {"b", 3, 4}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(row{})); diff != "" {
		t.Error(diff)
	}
	if len(rows(nil, 2)) != 0 {
		t.Error("no pods have rows")
	}
}

// TestToGo: ten pods that became ready every five seconds leave 50 s for ten more, and
// nothing is said of what waits, or of a pace that nobody knows yet.
func TestToGo(t *testing.T) {
	d := &world.Detail{Health: world.Progressing, Updated: map[string]bool{}}
	d.Pods.Desired, d.Pods.UpdatedReady = 20, 10
	for i := range 10 {
		uid := fmt.Sprint(i)
		d.Updated[uid] = true
		d.Snapshot.Pods = append(d.Snapshot.Pods, &cluster.Pod{UID: uid, Conditions: []cluster.Condition{
			{Type: "Ready", Status: corev1.ConditionTrue, Since: noon.Add(time.Duration(i) * 5 * time.Second)},
		}})
	}
	if left, ok := toGo(d); !ok || left != 50*time.Second {
		t.Errorf("%v %v", left, ok)
	}
	d.Health = world.Paused
	if _, ok := toGo(d); ok {
		t.Error("a time is given although somebody is waited for")
	}
	d.Health, d.Snapshot.Pods = world.Progressing, d.Snapshot.Pods[:2]
	if _, ok := toGo(d); ok {
		t.Error("a time is given from two pods")
	}
}

// TestLook: every state of a pod has a picture of its own.
func TestLook(t *testing.T) {
	ready := []cluster.Condition{{Type: "Ready", Status: corev1.ConditionTrue}}
	for want, p := range map[cell]*cluster.Pod{
		newReady: {UID: "new", Conditions: ready},
		newDown:  {UID: "new"},
		newBad:   {UID: "new", Containers: []cluster.Container{{Waiting: "CrashLoopBackOff"}}},
		oldReady: {Conditions: ready},
		oldDown:  {},
		leaving:  {Deleting: true, Conditions: ready},
	} {
		if got := look(&world.Detail{Updated: map[string]bool{"new": true}}, p); got != want {
			t.Errorf("%+v: %v, want %v", p, got, want)
		}
	}
}

// TestStepsWithoutRoom: the step that the rollout is at is the last to go.
func TestStepsWithoutRoom(t *testing.T) {
	d := &world.Detail{}
	d.Begun = true
	d.Plan.Steps = []plan.Step{{Name: "pull"}, {Name: "update"}, {Name: "rest"}}
	for at := range d.Plan.Steps {
		d.Snapshot.Progress.Step = at
		for height := range 5 {
			lines := Screen{detail: d}.steps(screen.Env{Theme: &theme.Theme{}}, height)
			shown := slices.ContainsFunc(lines[1:], func(l draw.Line) bool { return strings.Contains(l.String(), d.Plan.Steps[at].Name) })
			if want := height >= 2; shown != want {
				t.Errorf("step %d in %d lines: shown %v, want %v", at, height, shown, want)
			}
		}
	}
}
