package simulate

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

const cloneSet = `
apiVersion: apps.kruise.io/v1alpha1
kind: CloneSet
metadata: {name: web, namespace: shop}
spec:
  replicas: 4
  selector: {matchLabels: {app: web}}
  updateStrategy: {type: InPlaceIfPossible, maxUnavailable: 1}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: "web:1"}]}
`

const guardDoc = `
apiVersion: policy.kruise.io/v1alpha1
kind: PodUnavailableBudget
metadata: {name: web, namespace: shop}
spec: {selector: {matchLabels: {app: web}}, minAvailable: %s}
`

var shopWeb = cluster.Ref{Group: "apps.kruise.io", Kind: "CloneSet", Namespace: "shop", Name: "web"}

// ready is a settled world with the CloneSet and what else is given, and a plan
// for another image.
func ready(t *testing.T, o Options, policy plan.Policy, docs ...string) (*World, plan.Plan) {
	t.Helper()
	w := New(o)
	w.AddNode("n1", nil)
	w.AddNode("n2", nil)
	for _, text := range append(docs, cloneSet) {
		must(t, w.Apply(documents(t, text)...))
	}
	if ok, err := w.Settle(time.Hour); !ok || err != nil {
		t.Fatal(ok, err)
	}
	return w, planFor(t, w, policy, "web:2")
}

func planFor(t *testing.T, w *World, policy plan.Policy, image string) plan.Plan {
	t.Helper()
	p, err := planOfImage(w, shopWeb, image, policy)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// planOfImage is the plan that brings a workload to an image of its container main.
func planOfImage(w *World, ref cluster.Ref, image string, policy plan.Policy) (plan.Plan, error) {
	s, err := w.Snapshot(ref)
	if err != nil {
		return plan.Plan{}, err
	}
	next, err := patched(w.store.objects[ref], plan.Patch{Body: templateImage(image)})
	if err != nil {
		return plan.Plan{}, err
	}
	desired, err := cluster.ReadWorkload(next)
	if err != nil {
		return plan.Plan{}, err
	}
	return plan.Build(desired, s, policy)
}

func templateImage(image string) map[string]any {
	containers := []any{map[string]any{"name": "main", "image": image}}
	return map[string]any{"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"containers": containers}}}}
}

func steps(t *testing.T, text ...string) plan.Policy {
	t.Helper()
	var out plan.Policy
	for _, s := range text {
		to, pause, _ := strings.Cut(s, " ")
		amount, err := plan.ParseAmount(to)
		if err != nil {
			t.Fatal(err)
		}
		step := plan.PolicyStep{To: amount}
		if pause != "" {
			d, _ := time.ParseDuration(pause)
			step.Pause = &plan.Pause{For: plan.Duration(d)}
		}
		out.Steps = append(out.Steps, step)
	}
	return out
}

// TestContinue: what is left of a rollout begins at its current step, and what
// was updated before is new from the beginning.
func TestContinue(t *testing.T) {
	w, p := ready(t, DefaultOptions(), steps(t, "1 10m", "100%"))
	w2, err := FromSnapshot(snapshot(t, w), DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	line, err := Rollout(w2, p, RolloutOptions{Limit: 5 * time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	before := len(line.Steps) - 1
	s := snapshot(t, w2)
	s.Progress.PausedBy = "by somebody"
	left, err := Continue(p, s, DefaultOptions())
	if err != nil || left.Summary.Outcome != Completed || left.Steps[before].Begin != 0 || left.Samples[0].New != 1 || left.Samples[0].Old != 3 {
		t.Errorf("%v, %+v, %+v, %+v", err, left.Summary, left.Steps, left.Samples[:1])
	}
	if left.Summary.Restarts != 3 {
		t.Errorf("%d restarts", left.Summary.Restarts)
	}
}

// TestContinue_AfterTheLastStep: what has halted is tried again, and what is on hold resumed: the time
// of the step counts from then.
func TestContinue_AfterTheLastStep(t *testing.T) {
	w, p := ready(t, DefaultOptions(), steps(t, "1", "100%"))
	for i := range p.Steps {
		p.Steps[i].Timeout = plan.Duration(5 * time.Minute)
	}
	if _, err := Rollout(w, p, RolloutOptions{Limit: 3 * time.Second}); err != nil {
		t.Fatal(err)
	}
	s := snapshot(t, w)
	if i := s.Progress.Step; i >= len(p.Steps) || p.Steps[i].Kind == plan.StepPause {
		t.Fatalf("it is at no step that has a limit: %+v", s.Progress)
	}
	for name, change := range map[string]func(*plan.Progress){
		"halted":          func(p *plan.Progress) { p.Failed = "deadline: step is not done after 5m0s" },
		"held":            func(p *plan.Progress) { p.PausedBy = "by ann" },
		"halted and held": func(p *plan.Progress) { p.Failed, p.PausedBy = "deadline: x", "by ann" },
	} {
		late := s
		late.Progress.Started = s.Progress.Started.Add(-time.Hour)
		change(&late.Progress)
		if line, err := Continue(p, late, DefaultOptions()); err != nil || line.Summary.Outcome != Completed {
			t.Errorf("%s: %v, %+v", name, err, line.Summary)
		}
	}
}

func snapshot(t *testing.T, w *World) plan.Snapshot {
	t.Helper()
	s, err := w.Snapshot(shopWeb)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestRollout_Completes(t *testing.T) {
	w, p := ready(t, DefaultOptions(), steps(t, "1 10m", "100%"))
	line, err := Rollout(w, p, RolloutOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s := line.Summary
	if s.Outcome != Completed || s.MostDown != 1 || s.MostPods != 4 || s.Restarts != 4 || s.Recreated != 0 || s.Pulls != 2 {
		t.Errorf("summary %+v", s)
	}
	if s.Duration < 10*time.Minute || s.Duration > 11*time.Minute {
		t.Errorf("it took %v", s.Duration)
	}
	for i, m := range line.Steps {
		if m.End < m.Begin || (i > 0 && m.Begin != line.Steps[i-1].End) {
			t.Errorf("step %+v", m)
		}
	}
	if len(line.Steps) != len(p.Steps) {
		t.Errorf("%d of %d steps", len(line.Steps), len(p.Steps))
	}
	last := line.Samples[len(line.Samples)-1]
	if last.New != 4 || last.Total() != 4 || last.Unavailable() != 0 {
		t.Errorf("it ends with %+v", last)
	}
}

// TestRollout_IsDeterministic: the same seed gives the same run, another gives
// other names.
func TestRollout_IsDeterministic(t *testing.T) {
	run := func(seed uint64) Timeline {
		o := DefaultOptions()
		o.Seed, o.Agent.Ready = seed, Span{20 * time.Second, 5 * time.Second}
		w, p := ready(t, o, plan.Policy{})
		line, err := Rollout(w, p, RolloutOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return line
	}
	a := run(1)
	if diff := cmp.Diff(a, run(1)); diff != "" {
		t.Errorf("the same seed differs: %s", diff)
	}
	if cmp.Equal(a.Records, run(2).Records) {
		t.Error("another seed gives the same run")
	}
}

func TestRollout_Outcomes(t *testing.T) {
	hour := time.Hour
	for name, c := range map[string]struct {
		options func(*Options)
		policy  []string
		docs    []string
		promote *time.Duration
		outcome Outcome
		reason  string
		lasts   time.Duration
	}{
		"a pause waits for a person":     {policy: []string{"1 0s", "100%"}, outcome: Waiting, reason: "promote"},
		"a person promotes":              {policy: []string{"1 0s", "100%"}, promote: &hour, outcome: Completed, lasts: time.Hour},
		"an image that no node can pull": {options: func(o *Options) { o.Agent.Unpullable = []string{"web:2"} }, outcome: Failed, reason: "web:2"},
		"a pod that fails":               {options: func(o *Options) { o.Fail = []int{2} }, outcome: Blocked, reason: "updatedAvailableReplicas is 2 of 4"},
		"a budget that never allows": {
			options: func(o *Options) { o.GuardUpdates = true }, docs: []string{fmt.Sprintf(guardDoc, `"100%"`)},
			outcome: Blocked, reason: "budget",
		},
		"a budget that allows one at a time": {
			options: func(o *Options) { o.GuardUpdates = true }, docs: []string{fmt.Sprintf(guardDoc, "3")},
			outcome: Completed,
		},
		"a question with a bad answer": {
			options: func(o *Options) {
				o.Answers = []plan.Result{{Done: true, Text: "error rate 3%"}}
			},
			policy: []string{"1 verify", "100%"}, outcome: Failed, reason: "error rate 3%",
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := DefaultOptions()
			if c.options != nil {
				c.options(&o)
			}
			policy := steps(t, c.policy...)
			for i := range policy.Steps {
				if strings.HasSuffix(c.policy[i], "verify") {
					policy.Steps[i].Pause, policy.Steps[i].Verify = nil, []plan.Verify{{URL: "http://web/healthz"}}
				}
			}
			// The bad pods come with the update: without a pull they are not found
			// out before.
			policy.Pull = plan.PullNever
			w, p := ready(t, o, policy, c.docs...)
			line, err := Rollout(w, p, RolloutOptions{Promote: c.promote})
			if err != nil {
				t.Fatal(err)
			}
			s := line.Summary
			if s.Outcome != c.outcome && (c.outcome != Blocked || s.Outcome != Failed) {
				t.Errorf("it ended %s (%s), want %s", s.Outcome, s.Reason, c.outcome)
			}
			if !strings.Contains(s.Reason, c.reason) {
				t.Errorf("the reason is %q, which does not name %q", s.Reason, c.reason)
			}
			if s.Duration < c.lasts {
				t.Errorf("it took only %v", s.Duration)
			}
		})
	}
}

func TestCheck(t *testing.T) {
	o := DefaultOptions()
	o.GuardUpdates = true
	w, p := ready(t, o, steps(t, "1 0s", "100%"))
	s, err := w.Snapshot(shopWeb)
	if err != nil {
		t.Fatal(err)
	}
	if err := Check(p, s, o); err != nil {
		t.Errorf("a good plan is refused: %v", err)
	}
	w, p = ready(t, o, plan.Policy{}, fmt.Sprintf(guardDoc, `"100%"`))
	if s, err = w.Snapshot(shopWeb); err != nil {
		t.Fatal(err)
	}
	if err = Check(p, s, o); err == nil || !strings.Contains(err.Error(), "cannot finish") || !strings.Contains(err.Error(), "budget web") {
		t.Errorf("a budget that never allows anything: %v", err)
	}
	p.Limits.Replicas = 2147483647
	if err = Check(p, s, o); err == nil || !strings.Contains(err.Error(), "2147483647 pods are more than the 150000") {
		t.Errorf("a number with a digit too many: %v", err)
	}
}

// TestCheck_LeavesTheSnapshot: a preview changes nothing of what it was given.
func TestCheck_LeavesTheSnapshot(t *testing.T) {
	w, p := ready(t, DefaultOptions(), plan.Policy{})
	s, err := w.Snapshot(shopWeb)
	if err != nil {
		t.Fatal(err)
	}
	before := fmt.Sprintf("%+v %+v", s.Workload.Object, s.Pods[0])
	if err := Check(p, s, DefaultOptions()); err != nil {
		t.Fatal(err)
	}
	if after := fmt.Sprintf("%+v %+v", s.Workload.Object, s.Pods[0]); before != after {
		t.Errorf("before: %s\nafter: %s", before, after)
	}
	if now, _ := w.Snapshot(shopWeb); now.Version != s.Version {
		t.Error("the world itself has changed")
	}
}

// TestRollout_IsBlockedWhenAPatchIsNeverInForce: a user who edits a plan may have it set
// what the object does not keep. The plan sends that patch again and again, and no time
// passes meanwhile.
func TestRollout_IsBlockedWhenAPatchIsNeverInForce(t *testing.T) {
	w, p := ready(t, DefaultOptions(), plan.Policy{Pull: plan.PullNever})
	p.Steps[0].Patches = []plan.Patch{{Type: plan.PatchMerge, Body: map[string]any{"spec": map[string]any{"noSuchField": 1}}}}
	sent := 0
	line, err := Rollout(w, p, RolloutOptions{Did: func(plan.Snapshot, plan.Action) { sent++ }})
	if err != nil || line.Summary.Outcome != Blocked || !strings.Contains(line.Summary.Reason, "again and again, without effect") {
		t.Errorf("%v, %+v", err, line.Summary)
	}
	if sent != maxRequests {
		t.Errorf("it was sent %d times", sent)
	}
}

// TestRollout_RefusesToWaitForAPastTime: no decision does so, and one that
// did would never let the clock move.
func TestRollout_RefusesToWaitForAPastTime(t *testing.T) {
	w, p := ready(t, DefaultOptions(), plan.Policy{})
	d, err := newDriver(w, p, RolloutOptions{})
	must(t, err)
	for _, c := range []struct {
		late time.Duration
		bad  bool
	}{{0, true}, {-time.Hour, true}, {time.Second, false}} {
		m := d.members[0]
		m.decision = plan.Decision{Verb: plan.Wait, Until: w.Now().Add(c.late)}
		if _, err := d.wait(m); (err != nil) != c.bad {
			t.Errorf("%s from now: %v", c.late, err)
		}
	}
}

// TestRollout_CountsPodsAsOldUntilTheTemplateIsWritten: the pods at the start of a run count as
// old, although they are at the cluster's newest revision at that time.
func TestRollout_CountsPodsAsOldUntilTheTemplateIsWritten(t *testing.T) {
	w := New(DefaultOptions())
	w.AddNode("n1", map[string]string{"topology.kubernetes.io/zone": "a"})
	if err := w.Apply(documents(t, deployment)...); err != nil {
		t.Fatal(err)
	}
	settle(t, w)
	s, err := w.Snapshot(cluster.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"})
	if err != nil {
		t.Fatal(err)
	}
	desired, err := cluster.ReadWorkload(documents(t, strings.Replace(deployment, "web:1.0", "web:2.0", 1))[0])
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.Build(desired, s, plan.Policy{Pull: plan.PullFirst})
	if err != nil {
		t.Fatal(err)
	}
	line, err := Rollout(w, p, RolloutOptions{})
	if err != nil || line.Summary.Outcome != Completed {
		t.Fatal(line.Summary, err)
	}
	first, last := line.Samples[0], line.Samples[len(line.Samples)-1]
	if first.New != 0 || first.Old != len(s.Pods) || last.Old != 0 || last.New != len(s.Pods) {
		t.Errorf("from %+v to %+v", first, last)
	}
}

// TestRollout_UndoWaitsForItsSteps: pods below the partition carry the template already when an
// ordered set goes back; a step waits for those above it all the same.
func TestRollout_UndoWaitsForItsSteps(t *testing.T) {
	for name, text := range map[string]string{
		"Kruise":     asts("podManagementPolicy: Parallel\n  updateStrategy: {rollingUpdate: {partition: 2}}"),
		"Kubernetes": strings.NewReplacer("kind: ReplicaSet", "kind: StatefulSet", "  replicas: 4", "  replicas: 4\n  serviceName: web\n  updateStrategy: {rollingUpdate: {partition: 2}}").Replace(replicaSet),
	} {
		t.Run(name, func(t *testing.T) {
			w := New(DefaultOptions())
			w.AddNode("n1", nil)
			for _, image := range []string{"web:1", "web:2"} {
				must(t, w.Apply(documents(t, strings.ReplaceAll(text, "web:1", image))...))
				if ok, err := w.Settle(time.Hour); !ok || err != nil {
					t.Fatal(ok, err)
				}
			}
			back, err := cluster.ReadWorkload(documents(t, text)[0])
			must(t, err)
			s, err := w.Snapshot(back.Ref)
			must(t, err)
			p, err := plan.Build(back, s, plan.Policy{Steps: []plan.PolicyStep{{To: plan.Pods(3)}, {To: plan.All}}, Pull: plan.PullNever})
			must(t, err)
			line, err := Predict(p, s, DefaultOptions())
			must(t, err)
			if len(line.Steps) != 2 || line.Steps[0].End < 4*time.Second || line.Steps[1].End < 8*time.Second {
				t.Errorf("steps end too early: %+v", line.Steps)
			}
		})
	}
}

// TestRollout_ReportsHowFarItIs: a run says which part of the pods has the new revision, up to all of them.
func TestRollout_ReportsHowFarItIs(t *testing.T) {
	var parts []float64
	o := DefaultOptions()
	o.Progress = func(done float64) { parts = append(parts, done) }
	w, p := ready(t, o, plan.Policy{})
	if _, err := Rollout(w, p, RolloutOptions{Promote: new(time.Duration)}); err != nil {
		t.Fatal(err)
	}
	if len(parts) < 3 || parts[0] != 0 || parts[len(parts)-1] != 1 || !slices.IsSorted(parts) {
		t.Errorf("%v", parts)
	}
}
