package plan_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	policyv1 "k8s.io/api/policy/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
)

const inService = `{app: web, kubectl-kruise.dev/in-service: "true"}`

// set is a ReplicaSet of four pods that have a label for their Service.
var set = strings.Replace(manifest(natives, "ReplicaSet", plain+"  replicas: 4\n"), "{app: web}}\n    spec", inService+"}\n    spec", 1)

// TestDrain: no container changes while its pod is in service, nor before the grace
// period is over, and every pod comes back.
func TestDrain(t *testing.T) {
	w, ref := world(t, simulate.Usual(), set)
	p := built(t, w, ref, strings.ReplaceAll(set, "web:1", newer), plan.Policy{Grace: 7 * time.Second})
	if p.Drain != plan.DrainLabel || p.Grace != 7*time.Second {
		t.Fatal(p.Drain, p.Grace)
	}
	left := map[string]time.Time{}
	changed := 0
	d, story := drive(t, w, ref, p, func(d plan.Decision) {
		for _, a := range d.Actions {
			switch {
			case a.Pod == nil:
			case len(a.Pod.Change.Images) > 0:
				changed++
				if since, ok := left[a.Pod.UID]; !ok || w.Now().Sub(since) < 6*time.Second {
					t.Errorf("%s changes %s after it left", a.Pod.Name, w.Now().Sub(since))
				}
			default:
				if v, ok := a.Pod.Change.Labels[kruise.InServiceLabel]; ok && v == nil {
					left[a.Pod.UID] = w.Now()
				}
			}
		}
	})
	if d.Verb != plan.Done || changed != 4 {
		t.Fatalf("%d changed\n%s", changed, strings.Join(story, "\n"))
	}
	for _, pod := range observe(t, w, ref).Pods {
		if pod.Labels[kruise.InServiceLabel] != "true" || rules.StateOf(pod) != rules.StateNormal {
			t.Errorf("%s stays out of service: %v", pod.Name, pod.Labels)
		}
	}
}

// carried is a rollout of the set in its first step, its pods as they are told.
func carried(t *testing.T, policy plan.Policy) (plan.Plan, plan.Snapshot) {
	t.Helper()
	next := strings.ReplaceAll(set, "web:1", newer)
	policy.Pull = plan.PullNever
	p, err := plan.Build(read(t, next), snapshotOf(t, set), policy)
	if err != nil {
		t.Fatal(err)
	}
	s := snapshotOf(t, next)
	rs := s.Workload.Template["metadata"].(map[string]any)["labels"].(map[string]any)
	rs["controller-revision-hash"] = p.Change.ToHash
	s.Workload = read(t, strings.Replace(next, inService, `{app: web, kubectl-kruise.dev/in-service: "true", controller-revision-hash: "`+p.Change.ToHash+`"}`, 1))
	s.Progress = plan.Progress{Step: 1, Started: noon}
	return p, s
}

// snapshotOf is a ReplicaSet with four pods of the old image.
func snapshotOf(t *testing.T, text string) plan.Snapshot {
	t.Helper()
	s := plan.Snapshot{Workload: read(t, text), Pods: pods(4, "x")}
	for _, p := range s.Pods {
		delete(p.Labels, "controller-revision-hash")
		p.Labels[kruise.InServiceLabel] = "true"
		p.Annotations = map[string]string{}
		p.Containers = p.Containers[:1]
	}
	return s
}

// TestClientPod: one pod through all its states, each read off the pod alone.
func TestClientPod(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(p *cluster.Pod, s *plan.Snapshot)
		at    time.Duration
		want  string
	}{
		"leaves":         {nil, 0, "act take web-00003 out of service"},
		"drained":        {func(p *cluster.Pod, _ *plan.Snapshot) { prepare(p, noon) }, 4 * time.Second, "wait grace web-00003: out of service, its containers change at 12:00:05"},
		"grace is over":  {func(p *cluster.Pod, _ *plan.Snapshot) { prepare(p, noon) }, 5 * time.Second, "act update web-00003 in place"},
		"no time on it":  {func(p *cluster.Pod, _ *plan.Snapshot) { prepare(p, noon); p.Annotations = nil }, 0, "act update web-00003 in place"},
		"starts":         {func(p *cluster.Pod, s *plan.Snapshot) { begin(p, s) }, time.Minute, "wait ready web-00003: container main does not run web:2 yet"},
		"runs, unready":  {func(p *cluster.Pod, s *plan.Snapshot) { begin(p, s); run(p); p.Containers[0].Ready = false }, time.Minute, "wait ready web-00003: is not ready"},
		"runs":           {func(p *cluster.Pod, s *plan.Snapshot) { begin(p, s); run(p) }, time.Minute, "act finish the update of web-00003"},
		"crashes":        {func(p *cluster.Pod, s *plan.Snapshot) { begin(p, s); p.Containers[0].Waiting = "CrashLoopBackOff" }, 40 * time.Second, "halt crash web-00003: CrashLoopBackOff: container main, image web:2"},
		"budget":         {func(_ *cluster.Pod, s *plan.Snapshot) { budget(s, 0) }, 0, "wait budget web-00003: budget web: 4 pods are available, 4 are wanted: web-00003 waits"},
		"unready by far": {func(p *cluster.Pod, s *plan.Snapshot) { unready(s.Pods[:3]) }, 0, "act take web-00002 out of service"},
	} {
		t.Run(name, func(t *testing.T) {
			p, s := carried(t, plan.Policy{Grace: 5 * time.Second, Steps: must(plan.ParseSteps("1,100%"))})
			if c.spoil != nil {
				c.spoil(s.Pods[3], &s)
			}
			d := decide(t, p, s, noon.Add(c.at))
			if got := string(d.Verb) + " " + d.Reason; got != c.want {
				t.Errorf("%s\nwant %s\n%+v", got, c.want, d.Blockers)
			}
		})
	}
}

// TestClient_WaitsForNoTimeThatHasPassed: a pod that is out of service, and ready for long
// enough, is not available; what comes next is the end of its grace period.
func TestClient_WaitsForNoTimeThatHasPassed(t *testing.T) {
	p, s := carried(t, plan.Policy{Grace: 5 * time.Second, Steps: must(plan.ParseSteps("1,100%"))})
	p.Limits.MinReady = 10 * time.Second
	now := noon.Add(time.Minute)
	prepare(s.Pods[3], now)
	if d := decide(t, p, s, now); d.Verb != plan.Wait || !d.Until.Equal(now.Add(5*time.Second)) {
		t.Errorf("%s until %s: %s", d.Verb, d.Until, d.Reason)
	}
}

// prepare is what the client has written when it took a pod out of service.
func prepare(p *cluster.Pod, at time.Time) {
	delete(p.Labels, kruise.InServiceLabel)
	p.Labels[kruise.LifecycleStateLabel] = "PreparingUpdate"
	p.Annotations = map[string]string{kruise.LifecycleTimestampAnnotation: at.Format(time.RFC3339)}
}

// begin is what it has written when it changed the image.
func begin(p *cluster.Pod, s *plan.Snapshot) {
	prepare(p, noon)
	p.Labels[kruise.LifecycleStateLabel] = "Updating"
	p.Labels["controller-revision-hash"] = plan.TemplateHash(unmarked(s.Workload.Template))
	p.Annotations[kruise.InPlaceUpdateStateAnnotation] = `{"lastContainerStatuses":{"main":{"imageID":"` + p.Containers[0].ImageID + `"}}}`
	p.Containers[0].Image, p.Containers[0].Ready = newer, false
	for i := range p.Conditions {
		if p.Conditions[i].Type == "Ready" {
			p.Conditions[i].Status, p.Conditions[i].Since = "False", noon
		}
	}
}

func run(p *cluster.Pod) {
	c := &p.Containers[0]
	c.ImageID, c.StatusImage, c.Ready = "sha256:2", newer, true
}

func unmarked(template map[string]any) map[string]any {
	meta := template["metadata"].(map[string]any)
	return map[string]any{
		"metadata": map[string]any{"labels": map[string]any{"app": "web", kruise.InServiceLabel: "true"}, "annotations": meta["annotations"]},
		"spec":     template["spec"],
	}
}

// written is the plan to a new template of the set, and what is seen once that is written.
func written(t *testing.T, next string) (plan.Plan, plan.Snapshot) {
	t.Helper()
	p, err := plan.Build(read(t, next), snapshotOf(t, set), plan.Policy{})
	if err != nil {
		t.Fatal(err)
	}
	s := snapshotOf(t, set)
	s.Workload = read(t, strings.Replace(next, inService, `{app: web, kubectl-kruise.dev/in-service: "true", controller-revision-hash: "`+p.Change.ToHash+`"}`, 1))
	s.Progress = plan.Progress{Step: 1, Started: noon}
	return p, s
}

// TestEvictionsAskBudgets: where pods are recreated both kinds of budget count.
func TestEvictionsAskBudgets(t *testing.T) {
	next := strings.Replace(strings.ReplaceAll(set, "web:1", newer), `"web:2"`, `"web:2", env: [{name: A, value: b}]`, 1)
	for name, c := range map[string]struct {
		spoil func(*plan.Snapshot)
		want  string
	}{
		"no budget":  {func(*plan.Snapshot) {}, "act evict web-00003"},
		"pub":        {func(s *plan.Snapshot) { budget(s, 0) }, "wait budget web-00003: budget web: 4 pods are available, 4 are wanted: web-00003 waits"},
		"disruption": {func(s *plan.Snapshot) { disruption(s, 0) }, "wait budget web-00003: budget pdb: 4 pods are healthy, 4 are wanted: web-00003 waits"},
		"enough":     {func(s *plan.Snapshot) { disruption(s, 50); budget(s, 50) }, "act evict web-00003"},
		"others'":    {func(s *plan.Snapshot) { disruption(s, 0); s.Disruptions[0].Pods = s.Disruptions[0].Pods[:3] }, "act evict web-00003"},
	} {
		p, s := written(t, next)
		c.spoil(&s)
		d := decide(t, p, s, noon)
		if got := string(d.Verb) + " " + d.Reason; got != c.want {
			t.Errorf("%s: %s\nwant %s", name, got, c.want)
		}
	}
}

// TestBudgetNever: a budget of either kind that wants every pod never lets one go, and one
// that has room does some day.
func TestBudgetNever(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*plan.Snapshot)
		never bool
	}{
		"no budget":           {func(*plan.Snapshot) {}, false},
		"pub of 0":            {func(s *plan.Snapshot) { budget(s, 0) }, true},
		"pub with room":       {func(s *plan.Snapshot) { budget(s, 50) }, false},
		"disruption of 0":     {func(s *plan.Snapshot) { disruption(s, 0) }, true},
		"disruption and room": {func(s *plan.Snapshot) { disruption(s, 50) }, false},
		"of others":           {func(s *plan.Snapshot) { disruption(s, 0); s.Disruptions[0].Pods = s.Disruptions[0].Pods[:3] }, false},
	} {
		s := snapshotOf(t, set)
		s.Revisions = []cluster.Revision{{Name: "web-x", Template: s.Workload.Template}}
		s.Workload = read(t, strings.Replace(strings.ReplaceAll(set, "web:1", newer), `"web:2"`, `"web:2", env: [{name: A, value: b}]`, 1))
		for _, pod := range s.Pods {
			pod.Labels["controller-revision-hash"] = "x"
		}
		c.spoil(&s)
		o, ok := plan.Look(s, noon)
		if !ok {
			t.Fatal("no outlook")
		}
		o.Driver = plan.DriverClient
		if got := o.BudgetNever(s.Pods[3]); got != c.never {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// TestLimitIsNoBudget: without any budget, what holds the next pod is maxUnavailable.
func TestLimitIsNoBudget(t *testing.T) {
	next := strings.ReplaceAll(set, "web:1", newer)
	p, s := written(t, next)
	first := s.Pods[0].With(cluster.PodChange{Conditions: []cluster.Condition{cluster.SetTo("Ready", "False", "Gone", "")}}, noon)
	first.Labels = map[string]string{"app": "web", kruise.InServiceLabel: "true", "controller-revision-hash": p.Change.ToHash}
	s.Pods[0] = first
	s.Progress.Step = len(p.Steps) - 1
	d := decide(t, p, s, noon)
	want := plan.Blocker{Gate: plan.GateMaxUnavailable, Why: "1 pods of the target revision are not available yet, at most 1: web-00003 waits"}
	if !slices.Contains(d.Blockers, want) || slices.ContainsFunc(d.Blockers, func(b plan.Blocker) bool { return b.Gate == plan.GateBudget }) {
		t.Errorf("%s: %v, want %v", d.Verb, d.Blockers, want)
	}
}

func disruption(s *plan.Snapshot, most int) {
	v := percent(most)
	s.Disruptions = []*rules.DisruptionBudget{{Name: "pdb", Spec: &policyv1.PodDisruptionBudgetSpec{MaxUnavailable: &v}, Expected: len(s.Pods), Pods: s.Pods}}
}

// TestHooks: what an outside actor holds is waited for.
func TestHooks(t *testing.T) {
	source := `
apiVersion: apps.kruise.io/v1beta1
kind: CloneSet
metadata: {name: web, namespace: shop}
spec:
  replicas: 4
  selector: {matchLabels: {app: web}}
  lifecycle: {inPlaceUpdate: {labelsHandler: {hold: "yes"}}, preDelete: {labelsHandler: {hold: "yes"}}}
  updateStrategy: {rollingUpdate: {podUpdatePolicy: InPlaceIfPossible, maxUnavailable: 1}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: main, image: "web:1"}]}}
`
	next := strings.ReplaceAll(set, "web:1", newer)
	before := snapshotOf(t, set)
	before.Carrier, before.Workload = before.Workload, read(t, source)
	p, err := plan.Build(read(t, next), before, plan.Policy{Steps: []plan.PolicyStep{{To: plan.All}}, Drain: plan.DrainNone})
	if err != nil {
		t.Fatal(err)
	}
	if p.Target.Kind != "CloneSet" || p.Target.Carrier.Kind != "ReplicaSet" || p.Limits.MaxUnavailable != 1 {
		t.Fatalf("%+v, %+v", p.Target, p.Limits)
	}
	for _, c := range []struct {
		state, want string
		released    bool
	}{
		{"", "act take web-00003 out of service", false},
		{"PreparingUpdate", "wait hook web-00003: lifecycle.inPlaceUpdate holds it in PreparingUpdate: label hold=yes has to be removed", false},
		{"PreparingUpdate", "act update web-00003 in place", true},
		{"PreparingDelete", "wait hook web-00003: lifecycle.preDelete holds it in PreparingDelete: label hold=yes has to be removed", false},
		{"PreparingDelete", "act evict web-00003", true},
	} {
		s := snapshotOf(t, set)
		s.Workload, s.Carrier = before.Workload, read(t, strings.Replace(next, inService, `{app: web, kubectl-kruise.dev/in-service: "true", controller-revision-hash: "`+p.Change.ToHash+`"}`, 1))
		s.Progress = plan.Progress{Step: 2, Started: noon}
		pod := s.Pods[3]
		if !c.released {
			pod.Labels["hold"] = "yes"
		}
		if c.state != "" {
			pod.Labels[kruise.LifecycleStateLabel] = c.state
		}
		d := decide(t, p, s, noon)
		if got := string(d.Verb) + " " + d.Reason; got != c.want {
			t.Errorf("%s, released %v: %s\nwant %s", c.state, c.released, got, c.want)
		}
	}
}

// TestRestartContainers: so many at once as may be down, each once.
func TestRestartContainers(t *testing.T) {
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
