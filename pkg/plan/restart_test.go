package plan_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
)

// podNames are the pods of a step, without what they share.
func podNames(s *plan.Step) string {
	var out []string
	for _, p := range s.Pods {
		out = append(out, p.Name[strings.LastIndexAny(p.Name, "-0")+1:])
	}
	return strings.Join(out, " ")
}

// TestBuildRestart_StepsAndPods: which pods, in which order, in which steps.
func TestBuildRestart_StepsAndPods(t *testing.T) {
	for name, c := range map[string]struct {
		text   string
		spoil  func(*plan.Snapshot)
		r      plan.RestartRequest
		steps  string
		want   string
		titled string
	}{
		"all, in the order of an update": {text: clones(""), want: "restart-100%: 4 3 2 1 ", titled: "restart main, side in 5 pods: 5 of 5"},
		"in steps":                       {text: clones(""), steps: "1,50%,100%", want: "restart-1: 4|restart-50%: 3 2|restart-100%: 1 "},
		"paused and partitioned":         {text: clones(", paused: true, partition: 100%"), want: "restart-100%: 4 3 2 1 "},
		"some":                           {text: clones(""), r: plan.RestartRequest{Pods: []string{"web-00001", "web-00003"}}, want: "restart-100%: 3 1"},
		"by priority": {
			text:  clones(", priorityStrategy: {weightPriority: [{weight: 5, matchSelector: {matchLabels: {first: 'yes'}}}]}"),
			spoil: func(s *plan.Snapshot) { s.Pods[2].Labels["first"] = "yes" }, want: "restart-100%: 2 4 3 1 ",
		},
		"unready first": {text: clones(""), spoil: func(s *plan.Snapshot) { unready(s.Pods[1:2]) }, want: "restart-100%: 1 4 3 2 "},
		"Advanced StatefulSet": {
			text: manifest(beta, "StatefulSet", plain+"  replicas: 5\n  updateStrategy: {rollingUpdate: {partition: 5}}\n"), want: "restart-100%: 4 3 2 1 ",
		},
		"StatefulSet":       {text: manifest(natives, "StatefulSet", plain+"  replicas: 5\n"), want: "restart-100%: 4 3 2 1 "},
		"Deployment":        {text: manifest(natives, "Deployment", plain+"  replicas: 5\n"), want: "restart-100%:  1 2 3 4"},
		"ReplicaSet":        {text: manifest(natives, "ReplicaSet", plain+"  replicas: 5\n"), want: "restart-100%: 4 3 2 1 "},
		"DaemonSet":         {text: manifest(natives, "DaemonSet", plain), want: "restart-100%: 4 3 2 1 "},
		"one being deleted": {text: clones(""), spoil: func(s *plan.Snapshot) { s.Pods[4].Deleting = true }, want: "restart-100%: 3 2 1 "},
		"no pods":           {text: clones(""), spoil: func(s *plan.Snapshot) { s.Pods = nil }, want: ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := snapshot(t, c.text, 5)
			if strings.Contains(name, "StatefulSet") {
				for i, p := range s.Pods {
					p.Name = fmt.Sprintf("web-%d", i)
				}
			}
			if c.spoil != nil {
				c.spoil(&s)
			}
			var policy plan.Policy
			if c.steps != "" {
				policy.Steps = must(plan.ParseSteps(c.steps))
			}
			p, err := plan.BuildRestart(s, c.r, policy)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for i := range p.Steps {
				if p.Steps[i].Kind == plan.StepRecreateContainers {
					got = append(got, p.Steps[i].Name+": "+podNames(&p.Steps[i]))
				}
			}
			if text := strings.Join(got, "|"); strings.Join(strings.Fields(text), " ") != strings.Join(strings.Fields(c.want), " ") {
				t.Errorf("%q, want %q", text, c.want)
			}
			if c.titled != "" && p.Steps[0].Title != c.titled {
				t.Error(p.Steps[0].Title)
			}
			if p.Change.FromHash != p.Change.ToHash {
				t.Error("the template changes")
			}
		})
	}
}

// TestBuildRestart_RefusesContainers: with pod, container and reason.
func TestBuildRestart_RefusesContainers(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*cluster.Pod)
		r     plan.RestartRequest
		want  string
	}{
		"no such container": {nil, plan.RestartRequest{Containers: []string{"other"}}, `the pods have no container "other"`},
		"no such pod":       {nil, plan.RestartRequest{Pods: []string{"web-9"}}, "the workload has no pod web-9"},
		"init container": {
			func(p *cluster.Pod) { p.InitContainers = []cluster.Container{{Name: "setup"}} },
			plan.RestartRequest{Containers: []string{"setup"}},
			"container setup of pod web-00001: it is an init container: those run once",
		},
		"native sidecar": {
			func(p *cluster.Pod) { p.InitContainers = []cluster.Container{{Name: "mesh", Native: true}} },
			plan.RestartRequest{Pods: []string{"web-00001"}, Containers: []string{"mesh"}},
			"it is a native sidecar",
		},
		"not started": {func(p *cluster.Pod) { p.Containers[0].Reported = false }, plan.RestartRequest{}, "container main of pod web-00001: the container has not been started yet"},
		"pulls its image": {
			func(p *cluster.Pod) { p.Containers[0].Waiting, p.Containers[0].ImageID = "ContainerCreating", "" },
			plan.RestartRequest{},
			"container main of pod web-00001: the container has not been started yet",
		},
		"ephemeral container": {
			func(p *cluster.Pod) { p.Ephemeral = []string{"debug"} },
			plan.RestartRequest{Pods: []string{"web-00001"}, Containers: []string{"debug"}},
			"container debug of pod web-00001: it is an ephemeral container",
		},
		"never restarted": {func(p *cluster.Pod) { p.Containers[0].Final = true }, plan.RestartRequest{}, "container main of pod web-00001: it would not start again"},
		"no node":         {func(p *cluster.Pod) { p.Node = "" }, plan.RestartRequest{}, "web-00001: the pod is on no node yet"},
	} {
		t.Run(name, func(t *testing.T) {
			s := snapshot(t, clones(""), 5)
			if c.spoil != nil {
				c.spoil(s.Pods[1])
			}
			if _, err := plan.BuildRestart(s, c.r, plan.Policy{}); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
	s := snapshot(t, mesh, 2)
	if _, err := plan.BuildRestart(s, plan.RestartRequest{}, plan.Policy{}); err == nil || !strings.Contains(err.Error(), "containers of others") {
		t.Errorf("%v", err)
	}
}

// TestRestart_RunsToTheEnd carries restarts out: each pod once, never too many down, and the
// pods stay.
func TestRestart_RunsToTheEnd(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		down int
	}{
		"CloneSet":             {manifest(beta, "CloneSet", plain+"  replicas: 6\n  updateStrategy: {rollingUpdate: {maxUnavailable: 2}}\n"), 2},
		"Advanced StatefulSet": {manifest(beta, "StatefulSet", plain+"  replicas: 4\n"), 1},
		"Deployment":           {manifest(natives, "Deployment", plain+"  replicas: 4\n  strategy: {rollingUpdate: {maxUnavailable: 1}}\n"), 1},
		"no pod may be down":   {manifest(natives, "Deployment", plain+"  replicas: 4\n  strategy: {rollingUpdate: {maxUnavailable: 0, maxSurge: 1}}\n"), 1},
		"DaemonSet":            {manifest(natives, "DaemonSet", plain), 1},
		"ReplicaSet":           {manifest(natives, "ReplicaSet", plain+"  replicas: 10\n"), 2},
		"slow to be available": {manifest(beta, "CloneSet", plain+"  replicas: 4\n  minReadySeconds: 30\n  updateStrategy: {rollingUpdate: {maxUnavailable: 1}}\n"), 1},
	} {
		t.Run(name, func(t *testing.T) {
			w, ref := world(t, simulate.DefaultOptions(), c.text)
			if err := w.Run(w.Now().Add(time.Minute)); err != nil {
				t.Fatal(err)
			}
			before := observe(t, w, ref)
			p, err := plan.BuildRestart(before, plan.RestartRequest{}, plan.Policy{Steps: must(plan.ParseSteps("1,100%"))})
			if err != nil {
				t.Fatal(err)
			}
			worst := 0
			d, story := drive(t, w, ref, p, func(d plan.Decision) {
				worst = max(worst, unavailable(observe(t, w, ref), time.Duration(p.Limits.MinReady), w.Now()))
				for _, b := range d.Blockers {
					if b.Gate == plan.GateBudget {
						t.Errorf("%s, and there is no budget", b)
					}
				}
			})
			if d.Verb != plan.Done {
				t.Fatal(strings.Join(story, "\n"))
			}
			if worst > c.down || worst == 0 {
				t.Errorf("%d pods were down at once, want up to %d", worst, c.down)
			}
			after := observe(t, w, ref)
			for i, pod := range after.Pods {
				if pod.UID != before.Pods[i].UID || pod.Containers[0].Restarts != before.Pods[i].Containers[0].Restarts+1 {
					t.Errorf("%s: %d restarts", pod.Name, pod.Containers[0].Restarts)
				}
			}
		})
	}
}

func unavailable(s plan.Snapshot, minReady time.Duration, now time.Time) int {
	return len(slices.DeleteFunc(slices.Clone(s.Pods), func(p *cluster.Pod) bool { return rules.Available(p, minReady, now) }))
}

// TestRestart_KeepsBudgets: no controller asks the budgets when a container restarts, so the
// decision does; pods that are asked to restart and still look well count.
func TestRestart_KeepsBudgets(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*plan.Snapshot)
		want  string
	}{
		"room for two":            {nil, "act 2"},
		"a strict one":            {func(s *plan.Snapshot) { budget(s, 0) }, "wait budget web-00004: "},
		"room for one":            {func(s *plan.Snapshot) { budget(s, 20) }, "act 1"},
		"evictions":               {func(s *plan.Snapshot) { disruption(s, 0) }, "wait budget web-00004: "},
		"one under way":           {func(s *plan.Snapshot) { restarting(s, 4) }, "act 1"},
		"room for one, under way": {func(s *plan.Snapshot) { budget(s, 20); restarting(s, 4) }, "wait ready web-00004: its containers restart"},
		"one eviction, under way": {func(s *plan.Snapshot) { disruption(s, 20); restarting(s, 4) }, "wait ready web-00004: its containers restart"},
		"a later one":             {func(s *plan.Snapshot) { restarting(s, 0); restarting(s, 1) }, "wait ready web-00001: its containers restart"},
		"one is down":             {func(s *plan.Snapshot) { unready(s.Pods[:1]) }, "act 2"},
		"crashes": {func(s *plan.Snapshot) {
			restarting(s, 4)
			unready(s.Pods[4:])
			s.Pods[4].Created = noon.Add(-time.Hour)
			s.Pods[4].Containers[0].Waiting = "CrashLoopBackOff"
		}, "halt crash web-00004: CrashLoopBackOff: container main, image web:1"},
		"begins to crash": {func(s *plan.Snapshot) {
			for i := range 2 {
				restarting(s, i)
			}
			s.Pods[1].Conditions = []cluster.Condition{{Type: "Ready", Status: corev1.ConditionFalse, Since: noon.Add(time.Minute - time.Second)}}
			s.Pods[1].Containers[0].Waiting = "ErrImagePull"
		}, "wait image web-00001: ErrImagePull: container main, image web:1"},
	} {
		t.Run(name, func(t *testing.T) {
			s := snapshot(t, clones(", maxUnavailable: 2"), 5)
			p, err := plan.BuildRestart(s, plan.RestartRequest{}, plan.Policy{})
			if err != nil {
				t.Fatal(err)
			}
			s.Progress.Started = noon
			if c.spoil != nil {
				c.spoil(&s)
			}
			d := decide(t, p, s, noon.Add(time.Minute))
			got := string(d.Verb) + " " + d.Reason
			if d.Verb == plan.Act {
				got = fmt.Sprintf("act %d", len(d.Actions))
			}
			if !strings.HasPrefix(got, c.want) {
				t.Errorf("%s, want %s", got, c.want)
			}
			if name == "begins to crash" && !d.Until.Equal(noon.Add(time.Minute-time.Second+time.Minute)) {
				t.Errorf("looks again at %s", d.Until)
			}
		})
	}
}

// TestRestart_WaitsForNoTimeThatHasPassed: a pod that its lifecycle state keeps from
// being available has been ready for long enough already.
func TestRestart_WaitsForNoTimeThatHasPassed(t *testing.T) {
	for name, c := range map[string]struct {
		state string
		ready time.Duration
		until time.Duration
	}{
		"updating, ready for long":        {"Updating", time.Minute, 0},
		"held by a hook, ready for long":  {"PreparingUpdate", time.Minute, 0},
		"ready, but not for long enough":  {"", 10 * time.Second, 20*time.Second + time.Millisecond},
		"ready for exactly long enough":   {"", 30 * time.Second, time.Millisecond},
		"updating, and not for long, too": {"Updating", 10 * time.Second, 20*time.Second + time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			s := snapshot(t, clones(", maxUnavailable: 1")+"  minReadySeconds: 30\n", 2)
			p, err := plan.BuildRestart(s, plan.RestartRequest{Pods: []string{s.Pods[1].Name}}, plan.Policy{})
			if err != nil {
				t.Fatal(err)
			}
			p.Steps[0].Timeout = 0
			now := noon.Add(time.Hour)
			s.Pods[0].Labels[kruise.LifecycleStateLabel] = c.state
			s.Pods[0].Conditions = []cluster.Condition{{Type: "Ready", Status: corev1.ConditionTrue, Since: now.Add(-c.ready)}}
			var want time.Time
			if c.until > 0 {
				want = now.Add(c.until)
			}
			if d := decide(t, p, s, now); d.Verb != plan.Wait || !d.Until.Equal(want) {
				t.Errorf("%s until %s, want until %s: %s", d.Verb, d.Until, want, d.Reason)
			}
		})
	}
}

func restarting(s *plan.Snapshot, i int) {
	if s.Verified == nil {
		s.Verified = map[string]plan.Result{}
	}
	s.Verified[plan.RestartKey("restart-100%", s.Pods[i].Name)] = plan.Result{}
}

// TestRestartMethod_ByImages: Kruise first, then what needs nothing of the image.
func TestRestartMethod_ByImages(t *testing.T) {
	const digest = "@sha256:0f2b36cd4a9e4ab0b7d3d5a6a6bd6a0b9b9a3f1c6d2e5f7a8b9c0d1e2f3a4b5c"
	s := snapshot(t, clones(""), 2)
	for i, p := range s.Pods {
		p.Containers[0].ImageID = "docker.io/library/web" + digest
		if method, why := plan.RestartMethod(true, s.Pods, []string{"main"}); method != plan.RestartCRR || why == "" {
			t.Errorf("%s: %s", method, why)
		}
		want := []string{plan.RestartSignal, plan.RestartAlias}[i]
		if method, why := plan.RestartMethod(false, s.Pods, []string{"main"}); method != want || why == "" {
			t.Errorf("%s: %s", method, why)
		}
	}
}

// TestCheck_CountsPodsOutsideTheWorkload: whether a plan can finish counts what budgets cover of others.
func TestCheck_CountsPodsOutsideTheWorkload(t *testing.T) {
	for name, c := range map[string]struct {
		beyond rules.OutsidePods
		want   string
	}{
		"alone":       {rules.OutsidePods{}, "the plan cannot finish"},
		"with others": {rules.OutsidePods{Expected: 7, Available: 7}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w, ref := world(t, simulate.DefaultOptions(), manifest(beta, "CloneSet", plain+"  replicas: 5\n"))
			if err := w.Run(w.Now().Add(time.Minute)); err != nil {
				t.Fatal(err)
			}
			s, err := w.Snapshot(ref)
			if err != nil {
				t.Fatal(err)
			}
			s.Budgets = []*rules.Budget{{
				Name: "both", Pods: s.Pods, Expected: 5, Beyond: c.beyond,
				Spec: &kruise.PodUnavailableBudgetSpec{MinAvailable: new(intstr.FromInt32(11)), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}},
			}}
			p, err := plan.BuildRestart(s, plan.RestartRequest{}, plan.Policy{})
			if err != nil {
				t.Fatal(err)
			}
			o := simulate.DefaultOptions()
			o.Gates, o.Start = s.Gates, w.Now()
			if err := simulate.Check(p, s, o); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// TestRestart_ReadsResultsOfPods: so many at once as may be down, each once.
func TestRestart_ReadsResultsOfPods(t *testing.T) {
	s := snapshot(t, clones(""), 5)
	step := plan.Step{Name: "r", Kind: plan.StepRecreateContainers, Title: "restart main", Containers: &plan.Containers{Names: []string{"main"}, Method: "crr"}}
	for _, p := range s.Pods {
		step.Pods = append(step.Pods, plan.PodStep{Name: p.Name, UID: p.UID})
	}
	step.Pods = append(step.Pods, plan.PodStep{Name: "gone"})
	p := plan.Plan{Target: plan.Target{Kind: "CloneSet"}, Limits: plan.Limits{MaxUnavailable: 2}, Steps: []plan.Step{step}}
	d := decide(t, p, s, noon)
	if d.Verb != plan.Act || len(d.Actions) != 2 || d.Actions[0].Restart.Name != s.Pods[0].Name || d.Actions[0].Restart.Method != "crr" {
		t.Fatalf("%+v", d)
	}
	s.Verified = map[string]plan.Result{
		plan.RestartKey("r", s.Pods[0].Name): {Done: true, Good: true}, plan.RestartKey("r", s.Pods[1].Name): {Text: "is stopping"},
	}
	if d = decide(t, p, s, noon); len(d.Actions) != 1 || d.Actions[0].Restart.Name != s.Pods[2].Name {
		t.Errorf("%+v", d)
	}
	s.Verified[plan.RestartKey("r", s.Pods[2].Name)] = plan.Result{Text: "is stopping"}
	if d = decide(t, p, s, noon); d.Verb != plan.Wait || d.Reason != "ready web-00001: is stopping" {
		t.Errorf("%+v", d)
	}
	s.Verified[plan.RestartKey("r", s.Pods[2].Name)] = plan.Result{Done: true, Text: "exit 1"}
	if d = decide(t, p, s, noon); d.Verb != plan.Halt || d.Reason != "ready web-00002: exit 1" {
		t.Errorf("%+v", d)
	}
	for _, pod := range s.Pods {
		s.Verified[plan.RestartKey("r", pod.Name)] = plan.Result{Done: true, Good: true}
	}
	if d = decide(t, p, s, noon); d.Verb != plan.Done {
		t.Errorf("%+v", d)
	}
}

// TestRestart_WaitsUntilThePodIsReadyAgain: a pod that was held unready for its restart counts as restarted when that is over;
// what another gate or container holds is waited for by no restart.
func TestRestart_WaitsUntilThePodIsReadyAgain(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*cluster.Pod)
		want  plan.Verb
	}{
		"ready":             {func(*cluster.Pod) {}, plan.Done},
		"held unready":      {func(p *cluster.Pod) { heldUnready(p, "KruisePodReady", corev1.ConditionFalse) }, plan.Wait},
		"not reported yet":  {func(p *cluster.Pod) { heldUnready(p, "KruisePodReady", corev1.ConditionTrue) }, plan.Wait},
		"another gate":      {func(p *cluster.Pod) { heldUnready(p, "example.com/served", corev1.ConditionFalse) }, plan.Done},
		"another container": {func(p *cluster.Pod) { heldUnready(p, "", ""); p.Containers[1].Ready = false }, plan.Done},
	} {
		t.Run(name, func(t *testing.T) {
			s := snapshot(t, clones(""), 1)
			for i := range s.Pods[0].Containers {
				s.Pods[0].Containers[i].Ready = true
			}
			p, err := plan.BuildRestart(s, plan.RestartRequest{Containers: []string{"main"}}, plan.Policy{})
			if err != nil {
				t.Fatal(err)
			}
			step := p.Steps[0].Name
			s.Verified = map[string]plan.Result{plan.RestartKey(step, s.Pods[0].Name): {Done: true, Good: true}}
			s.Progress.Started = noon
			c.spoil(s.Pods[0])
			if d := plan.Next(p, s, noon.Add(time.Second)); d.Verb != c.want {
				t.Errorf("%s: %s", d.Verb, d.Reason)
			}
		})
	}
}

// heldUnready takes readiness from a pod, and gives it a readiness gate with a condition.
func heldUnready(p *cluster.Pod, gate string, is corev1.ConditionStatus) {
	p.Conditions = []cluster.Condition{{Type: "Ready", Status: corev1.ConditionFalse, Since: noon}}
	if gate != "" {
		p.ReadinessGates = []string{gate}
		p.Conditions = append(p.Conditions, cluster.Condition{Type: gate, Status: is})
	}
}
