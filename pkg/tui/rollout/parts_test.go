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
		oldBad:   {Containers: []cluster.Container{{Waiting: "ErrImagePull"}}},
		oldReady: {Conditions: ready},
		oldDown:  {},
		leaving:  {Deleting: true, Conditions: ready},
	} {
		d := &world.Detail{Updated: map[string]bool{"new": true}}
		if got := look(d, p, d.Failing()); got != want {
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
			lines := Screen{detail: d}.around(screen.Env{Theme: &theme.Theme{}, World: &world.World{}}, 40, height)
			shown := slices.ContainsFunc(lines[1:], func(l draw.Line) bool { return strings.Contains(l.String(), d.Plan.Steps[at].Name) })
			if want := height >= 2; shown != want {
				t.Errorf("step %d in %d lines: shown %v, want %v", at, height, shown, want)
			}
		}
	}
}

// rollout is a screen of so many pods, of which every tenth crashes.
func rollout(pods int) (Screen, screen.Env) {
	d := &world.Detail{Ref: cluster.Ref{Kind: "CloneSet", Namespace: "shop", Name: "web"}, Updated: map[string]bool{}}
	for i := range pods {
		p := &cluster.Pod{
			UID: fmt.Sprint(i), Namespace: "shop", Name: fmt.Sprintf("web-%05d", i), Node: fmt.Sprintf("node-%d", i%7), Created: noon.Add(-time.Duration(i) * time.Second),
			Labels: map[string]string{cluster.RevisionLabel: "web-old"}, Containers: []cluster.Container{{Name: "app", Image: "web:1", Reported: true, Ready: true, Restarts: i % 5}},
			Conditions: []cluster.Condition{{Type: "Ready", Status: corev1.ConditionTrue, Since: noon}},
		}
		if i%10 == 0 {
			p.Conditions, d.Updated[p.UID], p.Labels[cluster.RevisionLabel] = nil, true, "web-new"
			p.Containers[0] = cluster.Container{Name: "app", Image: "web:2", Reported: true, Waiting: "CrashLoopBackOff", Ended: "OOMKilled, exit code 137", Restarts: 7}
		}
		d.Snapshot.Pods = append(d.Snapshot.Pods, p)
	}
	d.Pods.Desired, d.Pods.Total = pods, pods
	env := screen.Env{Theme: theme.New(theme.Options{}), World: &world.World{Now: noon, Detail: d}, Width: 120, Height: 36}
	s := New(screen.Open{Ref: d.Ref})
	return s.refresh(env), env
}

func names(s Screen) []string {
	var out []string
	for _, r := range s.table.rows {
		out = append(out, r.name)
	}
	return out
}

// TestPods_Sorted: every column sorts, and the reverse order is the other way around.
func TestPods_Sorted(t *testing.T) {
	for by, want := range map[string]string{
		"state": "web-00000", "name": "web-00000", "revision": "web-00000", "restarts": "web-00000", "age": "web-00000", "node": "web-00000", "ready": "web-00000", "why": "web-00000",
	} {
		s, env := rollout(20)
		s = s.ordered(env, screen.Order{Name: "sort", Args: []string{by}})
		if got := names(s); len(got) != 20 || got[0] != want || s.order.name() != by {
			t.Errorf("by %s: %s, %v", by, s.order.name(), got)
		}
	}
	s, env := rollout(20)
	next, _ := s.key(env, "O")
	if got := names(next.(Screen)); got[0] != "web-00001" || got[19] != "web-00010" {
		t.Errorf("by state, reversed: %v", got)
	}
	s = s.ordered(env, screen.Order{Name: "sort", Args: []string{"restarts"}})
	if got := names(s); got[0] != "web-00000" || got[1] != "web-00010" || got[2] != "web-00004" {
		t.Errorf("by restarts: %v", got)
	}
}

// TestPods_Filtered: a filter finds states, reasons, nodes, labels and images, and the
// cursor stays on a pod that is seen.
func TestPods_Filtered(t *testing.T) {
	for filter, want := range map[string]int{
		"": 20, "failing": 2, "crashloop": 2, "web-00013": 1, "node-3": 3, "controller-revision-hash=web-new": 2, "nothing-like-it": 0, "failing node-3": 1,
	} {
		s, env := rollout(20)
		next, _ := s.Update(env, screen.Filter{Text: filter})
		s = next.(Screen)
		if len(s.table.rows) != want || s.Filtered() != filter {
			t.Errorf("/%s: %d pods, want %d: %v", filter, len(s.table.rows), want, names(s))
		}
		if _, ok := s.table.place[s.at]; ok != (want > 0) {
			t.Errorf("/%s: the cursor is at %q", filter, s.at)
		}
	}
}

// TestPods_All: every pod can be reached, and the reason of the cursor's pod is whole.
func TestPods_All(t *testing.T) {
	s, env := rollout(200)
	seen := map[string]bool{}
	for range 200 {
		seen[s.at] = true
		next, _ := s.key(env, "j")
		s = next.(Screen)
	}
	if len(seen) != 200 {
		t.Errorf("%d of 200 pods were reached", len(seen))
	}
	next, _ := s.key(env, "g")
	text := ""
	for _, l := range next.(Screen).Draw(env) {
		text += l.String() + "\n"
	}
	for _, want := range []string{"CrashLoopBackOff x7: app 2, ended with OOMKilled, exit code 137", "RESTARTS", "node-0", "20 failing"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
}

// TestDraw_WholeScreen: whatever the size, no more lines are drawn than there are, and the
// symbols of the bar are those of the grid.
func TestDraw_WholeScreen(t *testing.T) {
	s, env := rollout(50)
	for _, width := range []int{60, 80, 99, 100, 120, 200, 300} {
		for height := 3; height < 80; height++ {
			env.Width, env.Height = width, height
			for p := range panels {
				s.panel = p
				if got := len(s.refresh(env).Draw(env)); got > max(height, 6) {
					t.Fatalf("%dx%d, panel %d: %d lines", width, height, p, got)
				}
			}
		}
	}
}

// TestFrame_CostsTheSame: a frame of ten thousand pods costs what one of two thousand does.
func TestFrame_CostsTheSame(t *testing.T) {
	cost := func(pods int) float64 {
		s, env := rollout(pods)
		return testing.AllocsPerRun(20, func() { _ = s.Draw(env) })
	}
	few, many := cost(2000), cost(10000)
	if many > few*1.1 {
		t.Errorf("%.0f allocations for a frame of 10,000 pods, %.0f for 2,000", many, few)
	}
}

func BenchmarkFrame(b *testing.B) {
	for _, pods := range []int{100, 10000} {
		b.Run(fmt.Sprint(pods), func(b *testing.B) {
			s, env := rollout(pods)
			b.ReportAllocs()
			for b.Loop() {
				_ = s.Draw(env)
			}
		})
	}
}

// BenchmarkRefresh is what a change of the world costs.
func BenchmarkRefresh(b *testing.B) {
	s, env := rollout(10000)
	for b.Loop() {
		s.detail = nil
		_ = s.refresh(env)
	}
}
