package plan_test

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
)

const inService = `{app: web, kubectl-kruise.dev/in-service: "true"}`

// set is a ReplicaSet of four pods that have a label for their Service.
var set = strings.Replace(manifest(natives, "ReplicaSet", plain+"  replicas: 4\n"), "{app: web}}\n    spec", inService+"}\n    spec", 1)

// TestBuild_DrainAndGrace: no container changes while its pod is in service, nor before the grace
// period is over, and every pod comes back.
func TestBuild_DrainAndGrace(t *testing.T) {
	w, ref := world(t, simulate.DefaultOptions(), set)
	p := built(t, w, ref, strings.ReplaceAll(set, "web:1", newer), plan.Policy{Grace: plan.Duration(7 * time.Second)})
	if p.Drain != plan.DrainLabel || p.Grace != plan.Duration(7*time.Second) {
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

// TestClient_UpdatesOnePodStepByStep: one pod through all its states, each read off the pod alone.
func TestClient_UpdatesOnePodStepByStep(t *testing.T) {
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
		"crashes":        {func(p *cluster.Pod, s *plan.Snapshot) { begin(p, s); run(p); crash(p) }, 40 * time.Second, "halt crash web-00003: CrashLoopBackOff: container main, image web:2"},
		"still crashes":  {func(p *cluster.Pod, s *plan.Snapshot) { begin(p, s); crash(p) }, 40 * time.Second, "wait ready web-00003: container main does not run web:2 yet"},
		"budget":         {func(_ *cluster.Pod, s *plan.Snapshot) { budget(s, 0) }, 0, "wait budget web-00003: budget web: 4 pods are available, 4 are wanted: web-00003 waits"},
		"unready by far": {func(p *cluster.Pod, s *plan.Snapshot) { unready(s.Pods[:3]) }, 0, "act take web-00002 out of service"},
	} {
		t.Run(name, func(t *testing.T) {
			p, s := carried(t, plan.Policy{Grace: plan.Duration(5 * time.Second), Steps: must(plan.ParseSteps("1,100%"))})
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

// crash has the container wait after a crash.
func crash(p *cluster.Pod) {
	p.Containers[0].Ready, p.Containers[0].Waiting = false, "CrashLoopBackOff"
}

// TestClient_WaitsForNoTimeThatHasPassed: a pod that is out of service, and ready for long
// enough, is not available; what comes next is the end of its grace period.
func TestClient_WaitsForNoTimeThatHasPassed(t *testing.T) {
	p, s := carried(t, plan.Policy{Grace: plan.Duration(5 * time.Second), Steps: must(plan.ParseSteps("1,100%"))})
	p.Limits.MinReady = plan.Duration(10 * time.Second)
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

// TestClient_WaitsForHooks: what an outside actor holds is waited for.
func TestClient_WaitsForHooks(t *testing.T) {
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

// carriers are native objects whose pods the client updates.
var carriers = map[string]string{
	"ReplicaSet":  manifest(natives, "ReplicaSet", plain+"  replicas: 6\n"),
	"StatefulSet": manifest(natives, "StatefulSet", plain+"  replicas: 4\n  podManagementPolicy: Parallel\n  updateStrategy: {type: OnDelete}\n"),
	"DaemonSet":   manifest(natives, "DaemonSet", plain+"  updateStrategy: {type: OnDelete}\n"),
}

// TestClient_UpdatesEachCarrier: in place, drained, and by recreation, pod by pod.
func TestClient_UpdatesEachCarrier(t *testing.T) {
	for kind, text := range carriers {
		for name, change := range map[string]func(string) string{
			"in place": func(s string) string { return s },
			"drained": func(s string) string {
				return strings.Replace(s, "labels: {app: web}}\n    spec", "labels: {app: web, kubectl-kruise.dev/in-service: \"true\"}}\n    spec", 1)
			},
			"recreated": func(s string) string { return s },
		} {
			t.Run(kind+" "+name, func(t *testing.T) {
				text := change(text)
				next := strings.ReplaceAll(text, "web:1", newer)
				if name == "recreated" {
					next = strings.Replace(next, `"web:2"`, `"web:2", env: [{name: A, value: b}]`, 1)
				}
				w, ref := world(t, simulate.DefaultOptions(), text)
				p := built(t, w, ref, next, plan.Policy{Steps: must(plan.ParseSteps("1,50%,100%"))})
				if p.Driver != plan.DriverClient {
					t.Fatal(p.Driver)
				}
				d, story := drive(t, w, ref, p, nil)
				if d.Verb != plan.Done {
					t.Fatal(strings.Join(story, "\n"))
				}
				t.Log(strings.Join(story, "\n"))
				if n, all := updated(observe(t, w, ref)); n != all || all == 0 {
					t.Errorf("%d of %d pods run %s at the end", n, all, newer)
				}
			})
		}
	}
}

// TestClient_ForgedCountStaysWithinBudget: a status may be forged; missing pods do not use the
// budget.
func TestClient_ForgedCountStaysWithinBudget(t *testing.T) {
	for _, forged := range []int32{-1 << 22, -1, 1 << 22} {
		w, ref := world(t, simulate.DefaultOptions(), carriers["DaemonSet"])
		text := strings.ReplaceAll(carriers["DaemonSet"], "web:1", newer)
		p := built(t, w, ref, text, plan.Policy{Steps: must(plan.ParseSteps("100%")), Pull: plan.PullNever})
		s := observe(t, w, ref)
		set := s.Workload.Object.(*appsv1.DaemonSet).DeepCopy()
		set.Status.DesiredNumberScheduled = forged
		own := *s.Workload
		own.Object, s.Workload = set, &own
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		plan.Next(p, s, w.Now())
		s.Pods = nil
		if _, err := plan.Build(read(t, text), s, plan.Policy{}); err != nil {
			t.Log(err)
		}
		if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > 32<<20 {
			t.Errorf("%d pods that should be there: %d MiB", forged, (after.TotalAlloc-before.TotalAlloc)>>20)
		}
	}
}

// TestClient_ChangingPodsCountAsUnavailable: a pod whose new image was asked for counts as
// unavailable before its node has seen it, while its status still is ready; and so does one that
// is deleted and not recreated yet.
func TestClient_ChangingPodsCountAsUnavailable(t *testing.T) {
	unheard := cluster.PodChange{Conditions: []cluster.Condition{cluster.SetTo("Ready", "True", "", "")}}
	starts := func(d plan.Decision) (names []string) {
		for _, a := range d.Actions {
			if a.Pod != nil && len(a.Pod.Change.Images) > 0 {
				names = append(names, a.Pod.Name)
			}
		}
		return names
	}
	for kind, text := range carriers {
		t.Run(kind, func(t *testing.T) {
			w, ref := world(t, simulate.DefaultOptions(), text)
			p := built(t, w, ref, strings.ReplaceAll(text, "web:1", newer), plan.Policy{Steps: must(plan.ParseSteps("100%")), Pull: plan.PullNever})
			begun := 0
			drive(t, w, ref, p, func(d plan.Decision) {
				begun += len(starts(d))
				s := observe(t, w, ref)
				for i, pod := range s.Pods {
					if slices.Contains(starts(d), pod.Name) {
						s.Pods[i] = pod.With(unheard, w.Now())
					}
				}
				if more := starts(plan.Next(p, s, w.Now())); len(starts(d)) > 0 && len(more) > 0 {
					t.Errorf("right after %v, %v", starts(d), more)
				}
				s.Pods = slices.DeleteFunc(slices.Clone(s.Pods), func(pod *cluster.Pod) bool { return slices.Contains(starts(d), pod.Name) })
				if more := starts(plan.Next(p, s, w.Now())); len(starts(d)) > 0 && len(more) > 0 {
					t.Errorf("without %v, %v", starts(d), more)
				}
			})
			if begun == 0 {
				t.Error("no pod was changed")
			}
		})
	}
}

// TestClient_RollsBack: under a partition, a template that is taken back reaches the
// highest ordinals of a StatefulSet, however many others never left it.
func TestClient_RollsBack(t *testing.T) {
	text := strings.Replace(carriers["StatefulSet"], "podManagementPolicy: Parallel", "podManagementPolicy: OrderedReady", 1)
	w, ref := world(t, simulate.DefaultOptions(), text)
	policy := plan.Policy{Steps: must(plan.ParseSteps("3")), Pull: plan.PullNever}
	for _, next := range []string{strings.Replace(text, `"web:1"`, `"web:1", env: [{name: A, value: b}]`, 1), text} {
		d, story := drive(t, w, ref, built(t, w, ref, next, policy), nil)
		if d.Verb != plan.Done {
			t.Fatal(strings.Join(story, "\n"))
		}
		if err := w.Record(t.Context(), ref, observe(t, w, ref).Version, plan.Progress{}); err != nil {
			t.Fatal(err)
		}
	}
	revisions := map[string]int{}
	for _, p := range observe(t, w, ref).Pods {
		revisions[p.Labels["controller-revision-hash"]]++
	}
	if len(revisions) != 1 {
		t.Errorf("pods by revision: %v", revisions)
	}
}

// TestClient_RollsBackAPodThatIsBeingUpdated: a rollout ends while a pod changes in place, so that nothing puts it back into
// service. The way back does so first, and leads to the end.
func TestClient_RollsBackAPodThatIsBeingUpdated(t *testing.T) {
	list := maps.Clone(carriers)
	list["StatefulSet, ordered"] = strings.Replace(carriers["StatefulSet"], "podManagementPolicy: Parallel", "podManagementPolicy: OrderedReady", 1)
	for name, text := range list {
		t.Run(name, func(t *testing.T) {
			w, ref := world(t, simulate.DefaultOptions(), text)
			base := observe(t, w, ref).Workload.Template
			p := built(t, w, ref, strings.ReplaceAll(text, "web:1", newer), plan.Policy{Steps: must(plan.ParseSteps("1,100%")), Pull: plan.PullNever})
			begun := false
			for turns := 0; !begun && turns < 100; turns++ {
				s := observe(t, w, ref)
				d := plan.Next(p, s, w.Now())
				if err := w.Record(t.Context(), ref, s.Version, d.Progress); err != nil {
					t.Fatal(err)
				}
				s = observe(t, w, ref)
				for _, a := range d.Actions {
					begun = begun || a.Pod != nil && len(a.Pod.Change.Images) > 0
					if err := w.Do(t.Context(), ref, a); err != nil {
						t.Fatal(err)
					}
				}
				if d.Verb == plan.Wait {
					if err := w.Await(t.Context(), ref, s.Version, d.Until); err != nil {
						t.Fatal(err)
					}
				}
			}
			if !begun {
				t.Fatal("no container is changed")
			}
			if err := w.Run(w.Now().Add(time.Minute)); err != nil {
				t.Fatal(err)
			}
			s := observe(t, w, ref)
			s.Base = base
			back := must(plan.Rollback(p, s, "aborted"))
			if err := w.Record(t.Context(), ref, s.Version, plan.Progress{}); err != nil {
				t.Fatal(err)
			}
			d, story := drive(t, w, ref, back, nil)
			if d.Verb != plan.Done {
				t.Fatal(strings.Join(story, "\n"))
			}
			for _, pod := range observe(t, w, ref).Pods {
				if pod.Containers[0].Image != "web:1" || rules.StateOf(pod) != rules.StateNormal && rules.StateOf(pod) != rules.StateNone {
					t.Errorf("%s is %s with %s", pod.Name, rules.StateOf(pod), pod.Containers[0].Image)
				}
			}
		})
	}
}

// TestClient_InitImageRecreatesPods: an init container's image cannot change in a running pod, so
// the pod is recreated.
func TestClient_InitImageRecreatesPods(t *testing.T) {
	for kind, text := range carriers {
		t.Run(kind, func(t *testing.T) {
			of := func(tag int) string {
				return strings.Replace(text, "spec: {containers", fmt.Sprintf(`spec: {initContainers: [{name: prepare, image: "init:%d"}], containers`, tag), 1)
			}
			if of(1) == text {
				t.Fatalf("no template in %s", text)
			}
			w, ref := world(t, simulate.DefaultOptions(), of(1))
			before := map[string]bool{}
			for _, p := range observe(t, w, ref).Pods {
				before[p.UID] = true
			}
			d, story := drive(t, w, ref, built(t, w, ref, of(2), plan.Policy{Steps: must(plan.ParseSteps("100%")), Pull: plan.PullNever}), nil)
			if d.Verb != plan.Done {
				t.Fatal(strings.Join(story, "\n"))
			}
			for _, p := range observe(t, w, ref).Pods {
				if before[p.UID] {
					t.Errorf("%s was not made anew", p.Name)
				}
			}
		})
	}
}
