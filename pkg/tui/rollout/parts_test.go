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
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// TestEvents_OfSeveralPodsAreOneLine: the same of several pods within a minute is one line; what is about
// the workload, later or different stands alone.
func TestEvents_OfSeveralPodsAreOneLine(t *testing.T) {
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

// TestGridRows_BreakGroups: each group starts on a row of its own, and has its name on its first row.
func TestGridRows_BreakGroups(t *testing.T) {
	d := &world.Detail{}
	for i, node := range []string{"a", "b", "a", "a"} {
		d.Snapshot.Pods = append(d.Snapshot.Pods, &cluster.Pod{UID: fmt.Sprint(i), Name: fmt.Sprint("web-", i), Node: node})
	}
	list := listPods(d, podView{by: byNode})
	var got []string
	rows, label := list.gridRows(len("a") + 3 + 2)
	for _, r := range rows {
		line := r.label + ":"
		for _, p := range r.pods {
			line += " " + p.name
		}
		got = append(got, line)
	}
	if diff := cmp.Diff([]string{"a: /web-0 /web-2", ": /web-3", "b: /web-1"}, got); diff != "" || label != 1 {
		t.Errorf("labels of %d columns: %s", label, diff)
	}
	if rows, _ := listPods(&world.Detail{}, podView{}).gridRows(2); len(rows) != 0 {
		t.Errorf("%d rows without pods", len(rows))
	}
	for from, want := range []string{"2", "1", "3", "1"} { // in the order of the grid: 0 2 3 1
		if got := list.next(fmt.Sprint(from), 1); got != want {
			t.Errorf("after pod %d comes %s, want %s", from, got, want)
		}
	}
}

// TestTimeLeft_FromTheLastPods: ten pods that became ready every five seconds leave 50 s for ten
// more. There is no time for a rollout that waits, or from two pods.
func TestTimeLeft_FromTheLastPods(t *testing.T) {
	d := &world.Detail{Health: world.Progressing, Updated: map[string]bool{}}
	d.Pods.Desired, d.Pods.UpdatedReady = 20, 10
	for i := range 10 {
		uid := fmt.Sprint(i)
		d.Updated[uid] = true
		d.Snapshot.Pods = append(d.Snapshot.Pods, &cluster.Pod{UID: uid, Conditions: []cluster.Condition{
			{Type: "Ready", Status: corev1.ConditionTrue, Since: noon.Add(time.Duration(i) * 5 * time.Second)},
		}})
	}
	if left := timeLeft(d, d.Members()); left != 50*time.Second {
		t.Errorf("%v", left)
	}
	d.Health = world.Paused
	if timeLeft(d, d.Members()) != 0 {
		t.Error("a time is given although the rollout waits for approval")
	}
	d.Health, d.Snapshot.Pods = world.Progressing, d.Snapshot.Pods[:2]
	if timeLeft(d, d.Members()) != 0 {
		t.Error("a time is given from two pods")
	}
}

// TestStepList_KeepsTheCurrentStepWithoutRoom draws lists of less room than steps.
func TestStepList_KeepsTheCurrentStepWithoutRoom(t *testing.T) {
	d := &world.Detail{}
	d.Begun = true
	d.Plan.Steps = []plan.Step{{Name: "pull"}, {Name: "update"}, {Name: "rest"}}
	for at := range d.Plan.Steps {
		d.Snapshot.Progress.Step = at
		for height := range 5 {
			lines := stepList{d}.around(screen.Env{Theme: &draw.Theme{}, World: &world.World{}}, 40, height)
			shown := slices.ContainsFunc(lines[1:], func(l draw.Line) bool { return strings.Contains(l.String(), d.Plan.Steps[at].Name) })
			if want := height >= 2; shown != want {
				t.Errorf("step %d in %d lines: shown %v, want %v", at, height, shown, want)
			}
		}
	}
}

// rollout is a screen of a number of pods, of which every tenth crashes.
func rollout(pods int) (Screen, screen.Env) {
	d := &world.Detail{Ref: cluster.Ref{Kind: "CloneSet", Namespace: "shop", Name: "web"}, Updated: map[string]bool{}}
	for i := range pods {
		p := &cluster.Pod{
			UID: fmt.Sprint(i), Namespace: "shop", Name: fmt.Sprintf("web-%05d", i), Node: fmt.Sprintf("node-%d", i%7), Created: noon.Add(-time.Duration(i) * time.Second),
			Labels: map[string]string{cluster.RevisionLabel: "web-old"}, Containers: []cluster.Container{{Name: "app", Image: "web:1", Reported: true, Ready: true, Restarts: i % 5}},
			Conditions: []cluster.Condition{{Type: "Ready", Status: corev1.ConditionTrue, Since: noon}},
		}
		if i%10 == 0 {
			d.Updated[p.UID] = true
			p = crashed(p)
		}
		d.Snapshot.Pods = append(d.Snapshot.Pods, p)
	}
	d.Pods.Desired, d.Pods.Total = pods, pods
	env := screen.Env{Theme: draw.NewTheme(draw.ThemeOptions{}), World: &world.World{Now: noon, Detail: d}, Width: 120, Height: 36}
	s := New(screen.Open{Ref: d.Ref})
	return s.refresh(env), env
}

// crashed is a pod at the update revision that crashes.
func crashed(p *cluster.Pod) *cluster.Pod {
	out := *p
	out.Conditions, out.Labels = nil, map[string]string{cluster.RevisionLabel: "web-new"}
	out.Containers = []cluster.Container{{Name: "app", Image: "web:2", Reported: true, Waiting: "CrashLoopBackOff", Ended: "OOMKilled, exit code 137", Restarts: 7}}
	return &out
}

func names(s Screen) []string {
	var out []string
	for _, r := range s.pods.table {
		out = append(out, r.name)
	}
	return out
}

// TestPods_SortByEveryColumn: every column sorts, and the reverse order is the other way around.
func TestPods_SortByEveryColumn(t *testing.T) {
	for by, want := range map[string]string{
		"state": "web-00000", "name": "web-00000", "revision": "web-00000", "restarts": "web-00000", "age": "web-00000", "node": "web-00000", "ready": "web-00000", "why": "web-00000",
	} {
		s, env := rollout(20)
		s = s.ordered(env, screen.Order{Name: "sort", Args: []string{by}})
		if got := names(s); len(got) != 20 || got[0] != want || podSorts[s.view.sort.By].Name != by {
			t.Errorf("by %s: %s, %v", by, podSorts[s.view.sort.By].Name, got)
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

// TestPods_FilterKeepsTheCursor: a filter finds states, reasons, nodes, labels and images, and the
// cursor stays on a pod that is seen.
func TestPods_FilterKeepsTheCursor(t *testing.T) {
	for filter, want := range map[string]int{
		"": 20, "failing": 2, "crashloop": 2, "web-00013": 1, "node-3": 3, "controller-revision-hash=web-new": 2, "nothing-like-it": 0, "failing node-3": 1,
	} {
		s, env := rollout(20)
		next, _ := s.Update(env, screen.Filter{Text: filter})
		s = next.(Screen)
		if len(s.pods.table) != want || s.Filtered() != filter {
			t.Errorf("/%s: %d pods, want %d: %v", filter, len(s.pods.table), want, names(s))
		}
		if ok := s.pods.shown(s.at) != nil; ok != (want > 0) {
			t.Errorf("/%s: the cursor is at %q", filter, s.at)
		}
	}
}

// TestPods_AllCanBeReached: every pod can be reached, and the reason of the cursor's pod is whole.
func TestPods_AllCanBeReached(t *testing.T) {
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
	for _, want := range []string{"CrashLoopBackOff (7 restarts): app 2, ended with OOMKilled, exit code 137", "RESTARTS", "node-0", "20 failing"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
}

// TestDraw_KeepsToTheScreen: whatever the size, no more lines are drawn than there are, and the
// symbols of the bar are those of the grid.
func TestDraw_KeepsToTheScreen(t *testing.T) {
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

// TestFrame_CostIsIndependentOfPods: a frame of ten thousand pods costs what one of two thousand does.
func TestFrame_CostIsIndependentOfPods(t *testing.T) {
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

// BenchmarkRefresh is what the first state of a workload costs.
func BenchmarkRefresh(b *testing.B) {
	s, env := rollout(10000)
	for b.Loop() {
		s.pods = podList{}
		_ = s.refresh(env)
	}
}
