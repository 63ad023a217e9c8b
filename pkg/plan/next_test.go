package plan_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/redact"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

var noon = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

// midway is a rollout in its step of 50%: the template and the partition of the
// step are there, one of ten pods is updated and available.
func midway(t *testing.T, policy plan.Policy) (plan.Plan, plan.Snapshot) {
	t.Helper()
	old := strings.Replace(clones(""), "{name: web,", "{uid: u1, name: web,", 1)
	next := strings.ReplaceAll(old, "web:1", newer)
	policy.Pull = plan.PullNever
	p, err := plan.Build(read(t, next), snapshot(t, old, 10), policy)
	if err != nil {
		t.Fatal(err)
	}
	s := snapshot(t, strings.Replace(next, "InPlaceIfPossible", "InPlaceIfPossible, partition: 50%", 1), 10)
	s.Pods[9].Labels["controller-revision-hash"] = "web-new"
	s.Progress = plan.Progress{Step: 1, Started: noon, Sent: 1}
	status(&s, 10, 1)
	return p, s
}

// status is what the controller has written.
func status(s *plan.Snapshot, updated, available int32) {
	c := s.Workload.Object.(*kruise.CloneSet)
	c.Generation, c.Status = 3, kruise.CloneSetStatus{
		ObservedGeneration: 3, Replicas: 10, ReadyReplicas: 10, AvailableReplicas: 10, UpdateRevision: "web-new", CurrentRevision: "web-old",
		UpdatedReplicas: updated, UpdatedReadyReplicas: available, UpdatedAvailableReplicas: available, ExpectedUpdatedReplicas: 5,
	}
}

// updatedPod gives a pod the new revision, and takes its readiness.
func updatedPod(s *plan.Snapshot, i int) *cluster.Pod {
	p := s.Pods[i]
	p.Labels["controller-revision-hash"] = "web-new"
	for j := range p.Conditions {
		if p.Conditions[j].Type == "Ready" {
			p.Conditions[j].Status, p.Conditions[j].Since = corev1.ConditionFalse, noon.Add(10*time.Second)
		}
	}
	return p
}

// decide asks twice: the answer is the same, and the question stays as it was. A time to
// wait for has not come yet.
func decide(t *testing.T, p plan.Plan, s plan.Snapshot, now time.Time) plan.Decision {
	t.Helper()
	d := plan.Next(p, s, now)
	if again := plan.Next(p, s, now); !reflect.DeepEqual(again, d) {
		t.Fatalf("two answers: %+v\n%+v", d, again)
	}
	if d.Verb == plan.Wait && !d.Until.IsZero() && !d.Until.After(now) {
		t.Fatalf("at %s it waits until %s: %s", now, d.Until, d.Reason)
	}
	return d
}

// TestNext_WithinAStep: what is said and done, by what is seen.
func TestNext_WithinAStep(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*plan.Plan, *plan.Snapshot)
		at    time.Duration
		want  string
		until time.Duration
	}{
		"waits":           {nil, time.Minute, "1 wait updated: updatedAvailableReplicas is 1 of 5", 12 * time.Minute},
		"done":            {func(_ *plan.Plan, s *plan.Snapshot) { status(s, 5, 5) }, time.Minute, "2 act update 5 more pods: 10 of 10", 0},
		"not seen":        {func(_ *plan.Plan, s *plan.Snapshot) { clone(s).Generation = 9 }, time.Minute, "1 wait updated: the controller has not seen generation 9 yet (observedGeneration 3)", 12 * time.Minute},
		"too slow":        {nil, 13 * time.Minute, "1 halt deadline: step step-50% is not done after 12m0s", 0},
		"resumed late":    {func(_ *plan.Plan, s *plan.Snapshot) { s.Progress.Resumed = noon.Add(time.Hour) }, 71 * time.Minute, "1 wait updated: updatedAvailableReplicas is 1 of 5", 72 * time.Minute},
		"names a pod":     {func(_ *plan.Plan, s *plan.Snapshot) { updatedPod(s, 0).Conditions = nil }, time.Minute, "1 wait updated: updatedAvailableReplicas is 1 of 5 | ready web-00000: is not ready", 12 * time.Minute},
		"crashes a while": {func(_ *plan.Plan, s *plan.Snapshot) { updatedPod(s, 0).Containers[0].Waiting = "CrashLoopBackOff" }, 39 * time.Second, "1 wait updated: updatedAvailableReplicas is 1 of 5 | crash web-00000: CrashLoopBackOff: container main, image web:1", 40 * time.Second},
		"crashes on":      {func(_ *plan.Plan, s *plan.Snapshot) { updatedPod(s, 0).Containers[0].Waiting = "CrashLoopBackOff" }, 40 * time.Second, "1 halt crash web-00000: CrashLoopBackOff: container main, image web:1", 0},
		"an old pod crashes": {func(_ *plan.Plan, s *plan.Snapshot) {
			updatedPod(s, 0).Containers[0].Waiting = "CrashLoopBackOff"
			s.Pods[0].Labels["controller-revision-hash"] = "web-old"
		}, time.Minute, "1 wait updated: updatedAvailableReplicas is 1 of 5", 12 * time.Minute},
		"image a while": {func(_ *plan.Plan, s *plan.Snapshot) { updatedPod(s, 0).Containers[1].Waiting = "ImagePullBackOff" }, time.Minute, "1 wait updated: updatedAvailableReplicas is 1 of 5 | image web-00000: ImagePullBackOff: container side, image side:1", 70 * time.Second},
		"image":         {func(_ *plan.Plan, s *plan.Snapshot) { updatedPod(s, 0).Containers[1].Waiting = "ErrImagePull" }, 70 * time.Second, "1 halt image web-00000: ErrImagePull: container side, image side:1", 0},
		"image at once": {func(_ *plan.Plan, s *plan.Snapshot) { updatedPod(s, 0).Containers[0].Waiting = "InvalidImageName" }, 10 * time.Second, "1 halt image web-00000: InvalidImageName: container main, image web:1", 0},
		"config": {func(_ *plan.Plan, s *plan.Snapshot) {
			updatedPod(s, 0).Containers[0].Waiting = "CreateContainerConfigError"
		}, 2 * time.Minute, "1 halt ready web-00000: CreateContainerConfigError: container main, image web:1", 0},
		"unschedulable":     {func(_ *plan.Plan, s *plan.Snapshot) { unscheduled(updatedPod(s, 0)) }, 6 * time.Minute, "1 halt schedule web-00000: 0/5 nodes are available", 0},
		"not yet scheduled": {func(_ *plan.Plan, s *plan.Snapshot) { unscheduled(updatedPod(s, 0)) }, time.Minute, "1 wait updated: updatedAvailableReplicas is 1 of 5 | schedule web-00000: 0/5 nodes are available", 310 * time.Second},
		"before the step": {func(_ *plan.Plan, s *plan.Snapshot) {
			p := updatedPod(s, 0)
			p.Containers[0].Waiting = "CrashLoopBackOff"
			p.Conditions = nil
			p.Created = noon.Add(-time.Hour)
		}, 29 * time.Second, "1 wait updated: updatedAvailableReplicas is 1 of 5 | crash web-00000: CrashLoopBackOff: container main, image web:1", 30 * time.Second},
		"template": {func(_ *plan.Plan, s *plan.Snapshot) { s.Workload.Template["spec"].(map[string]any)["x"] = "y" }, time.Minute, "1 halt template: template is HASH, not HASH", 0},
		"partition": {func(_ *plan.Plan, s *plan.Snapshot) {
			clone(s).Spec.UpdateStrategy.RollingUpdate.Partition = new(percent(10))
		}, time.Minute, "1 halt partition: partition is 10%, not 50%", 0},
		"back": {func(_ *plan.Plan, s *plan.Snapshot) {
			clone(s).Spec.UpdateStrategy.RollingUpdate.Partition = new(number(9))
		}, time.Minute, "1 halt partition: partition is 9, not 50%", 0},
		"lost": {func(_ *plan.Plan, s *plan.Snapshot) {
			s.Progress.Sent = 0
			clone(s).Spec.UpdateStrategy.RollingUpdate.Partition = new(number(9))
		}, time.Minute, "1 act update 4 more pods: 5 of 10", 0},
		"paused": {func(_ *plan.Plan, s *plan.Snapshot) { clone(s).Spec.UpdateStrategy.RollingUpdate.Paused = true }, time.Minute, "1 halt paused: paused is true, not false", 0},
		"by whom": {func(_ *plan.Plan, s *plan.Snapshot) {
			c := clone(s)
			c.Spec.UpdateStrategy.RollingUpdate.Paused = true
			c.ManagedFields = []metav1.ManagedFieldsEntry{
				{Manager: "older", Time: &metav1.Time{Time: noon}},
				{Manager: "kubectl-edit", Time: &metav1.Time{Time: noon.Add(time.Second)}},
				{Manager: "manager", Subresource: "status", Time: &metav1.Time{Time: noon.Add(time.Hour)}},
			}
		}, time.Minute, "1 halt paused: paused is true, not false; kubectl-edit wrote it last, at 2026-07-01T12:00:01Z", 0},
		"recreated": {func(_ *plan.Plan, s *plan.Snapshot) { s.Workload.UID = "u2" }, time.Minute, "1 halt object: CloneSet shop/web was deleted and created again: uid u2, not u1", 0},
		"deleting":  {func(_ *plan.Plan, s *plan.Snapshot) { clone(s).DeletionTimestamp = &metav1.Time{Time: noon} }, time.Minute, "1 halt object: CloneSet shop/web is being deleted", 0},
		"gone":      {func(_ *plan.Plan, s *plan.Snapshot) { s.Workload = nil }, time.Minute, "1 halt object: the object is gone", 0},
		"owned": {func(_ *plan.Plan, s *plan.Snapshot) {
			s.Workload.Annotations = map[string]string{"rollouts.kruise.io/in-progressing": ""}
		}, time.Minute, "1 halt owner: CloneSet shop/web is controlled by a Kruise Rollout (annotation rollouts.kruise.io/in-progressing)", 0},
		"halted":     {func(_ *plan.Plan, s *plan.Snapshot) { s.Progress.Failed = "crash web-1: x"; status(s, 5, 5) }, time.Minute, "1 halt crash web-1: x", 0},
		"promoted":   {func(_ *plan.Plan, s *plan.Snapshot) { s.Progress.Promoted = true }, time.Minute, "2 act update 5 more pods: 10 of 10", 0},
		"finished":   {func(_ *plan.Plan, s *plan.Snapshot) { s.Progress.Finished = noon }, time.Minute, "1 done all steps are done", 0},
		"beyond":     {func(_ *plan.Plan, s *plan.Snapshot) { s.Progress.Step = 9 }, time.Minute, "9 halt progress: the progress is not of this plan: step 9 of 3", 0},
		"at the end": {func(_ *plan.Plan, s *plan.Snapshot) { s.Progress.Step = 3 }, time.Minute, "3 done all steps are done", 0},
		"no steps":   {func(p *plan.Plan, _ *plan.Snapshot) { p.Steps, p.Change.Why = nil, "nothing to do" }, time.Minute, "1 done nothing to do", 0},
		"off limits": {func(_ *plan.Plan, s *plan.Snapshot) { s.Progress.Step = -7 }, time.Minute, "-7 halt progress: the progress is not of this plan: step -7 of 3", 0},
	} {
		t.Run(name, func(t *testing.T) {
			p, s := midway(t, plan.Policy{})
			if c.spoil != nil {
				c.spoil(&p, &s)
			}
			d := decide(t, p, s, noon.Add(c.at))
			got := fmt.Sprintf("%d %s %s", d.Step, d.Verb, d.Reason)
			for _, b := range d.Blockers[min(1, len(d.Blockers)):] {
				if d.Verb == plan.Wait {
					got += " | " + b.String()
				}
			}
			got = strings.ReplaceAll(got, p.Change.ToHash, "HASH")
			if s.Workload != nil && name == "template" {
				got = strings.ReplaceAll(got, plan.TemplateHash(s.Workload.Template), "HASH")
			}
			if got != c.want {
				t.Errorf("%s\nwant %s", got, c.want)
			}
			if want := noon.Add(c.until); c.until != 0 && !d.Until.Equal(want) {
				t.Errorf("looks again at %s, want %s", d.Until, want)
			}
			if d.Verb == plan.Halt && (d.OnFailure != plan.FailPause || d.Progress.Failed == "") {
				t.Errorf("halts with %+v", d)
			}
		})
	}
}

func clone(s *plan.Snapshot) *kruise.CloneSet { return s.Workload.Object.(*kruise.CloneSet) }

func unscheduled(p *cluster.Pod) {
	p.Phase = corev1.PodPending
	p.Conditions = []cluster.Condition{
		{Type: "PodScheduled", Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "0/5 nodes are available", Since: noon.Add(10 * time.Second)},
	}
	p.Created = noon.Add(10 * time.Second)
}

// TestNext_FailureHasOnFailure is what the plan says.
func TestNext_FailureHasOnFailure(t *testing.T) {
	p, s := midway(t, plan.Policy{OnFailure: plan.FailRollback})
	if d := decide(t, p, s, noon.Add(24*time.Hour)); d.Verb != plan.Halt || d.OnFailure != plan.FailRollback {
		t.Errorf("%+v", d)
	}
}

// TestNext_Pauses: for a time, until approval, and not in spite of failures.
func TestNext_Pauses(t *testing.T) {
	for name, c := range map[string]struct {
		pause string
		spoil func(*plan.Snapshot)
		at    time.Duration
		want  string
		until time.Duration
	}{
		"manual":            {"1", nil, 48 * time.Hour, "1 wait promote: waiting for approval", 0},
		"promoted":          {"1", func(s *plan.Snapshot) { s.Progress.Promoted = true }, time.Minute, "2 act update 4 more pods: 5 of 10", 0},
		"timed":             {"1=5m", nil, time.Minute, "1 wait time: continues at 12:05:00, after a pause of 5m0s", 5 * time.Minute},
		"over":              {"1=5m", nil, 5 * time.Minute, "2 act update 4 more pods: 5 of 10", 0},
		"skipped":           {"1=5m", func(s *plan.Snapshot) { s.Progress.Promoted = true }, time.Second, "2 act update 4 more pods: 5 of 10", 0},
		"crash":             {"1", func(s *plan.Snapshot) { updatedPod(s, 9).Containers[0].Waiting = "CrashLoopBackOff" }, time.Minute, "1 halt crash web-00009: CrashLoopBackOff: container main, image web:1", 0},
		"clock is set back": {"1=5m", nil, -time.Hour, "1 wait time: continues at 11:05:00, after a pause of 5m0s", -55 * time.Minute},
		"crash begins":      {"1=5m", func(s *plan.Snapshot) { updatedPod(s, 9).Containers[0].Waiting = "CrashLoopBackOff" }, 30 * time.Second, "1 wait time: continues at 12:05:00, after a pause of 5m0s", 40 * time.Second},
		"drift":             {"1", func(s *plan.Snapshot) { clone(s).Spec.UpdateStrategy.RollingUpdate.Partition = new(number(3)) }, time.Minute, "1 halt partition: partition is 3, not 9", 0},
	} {
		t.Run(name, func(t *testing.T) {
			policy := plan.Policy{Steps: must(plan.ParseSteps("1,50%,100%"))}
			if err := policy.PauseAfter(c.pause); err != nil {
				t.Fatal(err)
			}
			p, s := midway(t, policy)
			clone(&s).Spec.UpdateStrategy.RollingUpdate.Partition = new(number(9))
			s.Progress.Sent = 0
			if c.spoil != nil {
				c.spoil(&s)
			}
			d := decide(t, p, s, noon.Add(c.at))
			if got := fmt.Sprintf("%d %s %s", d.Step, d.Verb, d.Reason); got != c.want {
				t.Errorf("%s\nwant %s", got, c.want)
			}
			if d.Progress.Started.After(noon.Add(c.at)) {
				t.Errorf("the step begins at %s", d.Progress.Started)
			}
			if c.until != 0 && !d.Until.Equal(noon.Add(c.until)) {
				t.Errorf("looks again at %s", d.Until)
			}
		})
	}
}

// TestNext_Verify: asked once, waited for, good or bad.
func TestNext_Verify(t *testing.T) {
	for name, c := range map[string]struct {
		answer *plan.Result
		at     time.Duration
		want   string
	}{
		"not asked":   {nil, time.Minute, "1 act ask: http://web"},
		"no answer":   {&plan.Result{At: noon}, time.Minute, "1 wait verify: no answer yet"},
		"tries again": {&plan.Result{Text: "503, 2 of 3", At: noon}, time.Minute, "1 wait verify: 503, 2 of 3"},
		"too long":    {&plan.Result{Text: "503", At: noon}, time.Hour, "1 halt deadline: step verify-1 is not done after 10m0s"},
		"good":        {&plan.Result{Done: true, Good: true, At: noon}, time.Minute, "2 act update 4 more pods: 5 of 10"},
		"bad":         {&plan.Result{Done: true, Text: "500", At: noon}, time.Minute, "1 halt verify: 500"},
		"of before":   {&plan.Result{Done: true, At: noon.Add(-time.Hour)}, time.Minute, "1 act ask: http://web"},
	} {
		t.Run(name, func(t *testing.T) {
			p, s := midway(t, plan.Policy{Verify: []plan.Verify{{URL: "http://web"}}})
			clone(&s).Spec.UpdateStrategy.RollingUpdate.Partition = new(number(9))
			s.Progress.Sent = 0
			if c.answer != nil {
				s.Verified = map[string]plan.Result{"verify-1": *c.answer}
			}
			d := decide(t, p, s, noon.Add(c.at))
			if got := fmt.Sprintf("%d %s %s", d.Step, d.Verb, d.Reason); got != c.want {
				t.Errorf("%s\nwant %s", got, c.want)
			}
			if d.Verb == plan.Act && d.Step == 1 && (d.Actions[0].Verify == nil || d.Actions[0].Step != "verify-1") {
				t.Errorf("%+v", d.Actions)
			}
		})
	}
}

// TestNext_VerifyTextHidesSecrets: a plan is read by many.
func TestNext_VerifyTextHidesSecrets(t *testing.T) {
	policy := plan.Policy{Verify: []plan.Verify{
		{URL: "https://me:hunter2@web:8443/healthz?token=abc#x"}, {Prometheus: "http://me:hunter2@prom", Query: "up", Threshold: "> 0"},
	}}
	p, _ := midway(t, policy)
	var titles []string
	for _, s := range p.Steps {
		if s.Verify != nil {
			titles = append(titles, s.Title)
		}
	}
	if got, want := strings.Join(titles, "|"), "ask: https://web:8443/healthz|ask: up > 0 at http://prom"; !strings.HasPrefix(got, want) {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestNext_FailsWhenModeIsNotAllowed: what the policy forbids is not even begun.
func TestNext_FailsWhenModeIsNotAllowed(t *testing.T) {
	old := strings.ReplaceAll(clones(""), "IfPossible", "Only")
	next := strings.Replace(old, `"web:1"`, `"web:1", env: [{name: A, value: b}]`, 1)
	s := snapshot(t, old, 10)
	p, err := plan.Build(read(t, next), s, plan.Policy{})
	if err != nil {
		t.Fatal(err)
	}
	d := decide(t, p, s, noon)
	if d.Verb != plan.Halt || d.Blockers[0].Gate != plan.GateNotAllowed || !strings.Contains(d.Reason, "spec.containers[0].env") {
		t.Errorf("%+v", d)
	}
}

// TestNext_PullsImages: asked for once, waited for, and failed by node.
func TestNext_PullsImages(t *testing.T) {
	trouble := func(final bool) func(*plan.Snapshot) {
		return func(s *plan.Snapshot) {
			s.Pulls = map[string]plan.PullState{newer: {Troubles: []plan.PullTrouble{{Node: "node-1", Why: "ErrImagePull", Final: final, Since: noon.Add(30 * time.Second)}}}}
		}
	}
	for name, c := range map[string]struct {
		pulling bool
		pulled  int
		spoil   func(*plan.Snapshot)
		at      time.Duration
		want    string
		until   time.Duration
	}{
		"not asked":      {false, 0, nil, time.Minute, "0 act pull 1 image on 3 nodes", 0},
		"under way":      {true, 2, nil, time.Minute, "0 wait pull: web:2 is on 2 of 3 nodes", 11 * time.Minute},
		"there":          {true, 3, nil, time.Minute, "1 act", 0},
		"there already":  {false, 3, nil, time.Minute, "1 act", 0},
		"fewer nodes":    {true, 1, func(s *plan.Snapshot) { s.Pods = s.Pods[:1] }, time.Minute, "1 act", 0},
		"failed":         {true, 2, trouble(true), time.Minute, "0 halt image: web:2 cannot be pulled on node node-1: ErrImagePull", 0},
		"hiccup":         {true, 2, trouble(false), time.Minute, "0 wait pull: web:2 is on 2 of 3 nodes; not yet on node-1: ErrImagePull", 90 * time.Second},
		"no hiccup":      {true, 2, trouble(false), 90 * time.Second, "0 halt image: web:2 cannot be pulled on node node-1: ErrImagePull", 0},
		"no agent there": {true, 2, func(s *plan.Snapshot) { s.Pulls = map[string]plan.PullState{newer: {Over: true}} }, time.Minute, "1 act", 0},
		"too long":       {true, 2, nil, time.Hour, "0 halt deadline: step pull is not done after 11m0s", 0},
		"promoted":       {false, 0, func(s *plan.Snapshot) { s.Progress.Promoted = true }, time.Minute, "1 act", 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := snapshot(t, clones(""), 10)
			for i, p := range s.Pods {
				p.Node = fmt.Sprint("node-", i%3)
			}
			p, err := plan.Build(read(t, strings.ReplaceAll(clones(""), "web:1", newer)), s, plan.Policy{Pull: plan.PullFirst})
			if err != nil {
				t.Fatal(err)
			}
			s.Progress.Started = noon
			s.Pulling, s.Pulled = map[string]bool{newer: c.pulling}, map[string]int{newer: c.pulled}
			if c.spoil != nil {
				c.spoil(&s)
			}
			p.Steps[0].Timeout = plan.Duration(11 * time.Minute)
			d := decide(t, p, s, noon.Add(c.at))
			if got := fmt.Sprintf("%d %s %s", d.Step, d.Verb, d.Reason); !strings.HasPrefix(got, c.want) {
				t.Errorf("%s, want %s", got, c.want)
			}
			if c.until != 0 && !d.Until.Equal(noon.Add(c.until)) {
				t.Errorf("looks again at %s", d.Until)
			}
		})
	}
}

// TestNext_PausedByUser: nothing is written while a user has paused the rollout, whatever is due.
func TestNext_PausedByUser(t *testing.T) {
	desired, s := crowd(t, podJSON(5))
	p := must(plan.Build(desired, s, plan.Policy{Pull: plan.PullNever}))
	if d := plan.Next(p, s, noon); d.Verb != plan.Act {
		t.Fatalf("%+v", d)
	}
	s.Progress.PausedBy = "by ann"
	d := plan.Next(p, s, noon)
	if d.Verb != plan.Wait || d.Reason != "held: by ann" || len(d.Actions) > 0 || d.Progress != s.Progress {
		t.Errorf("%+v", d)
	}
	s.Progress.Failed = "crash"
	if d := plan.Next(p, s, noon); d.Verb != plan.Halt {
		t.Errorf("a hold hides a halt: %+v", d)
	}
}

// TestPromotionAt_PassesThePauseAhead: the record is at a step that the pods have completed, as a
// killed executor leaves it. The pause that the decision shows is passed, not the checks of the step.
func TestPromotionAt_PassesThePauseAhead(t *testing.T) {
	for _, pause := range []string{"1", "1=5m"} {
		policy := plan.Policy{Steps: must(plan.ParseSteps("1,50%,100%"))}
		if err := policy.PauseAfter(pause); err != nil {
			t.Fatal(err)
		}
		p, s := midway(t, policy)
		clone(&s).Spec.UpdateStrategy.RollingUpdate.Partition = new(number(9))
		at := noon.Add(time.Minute)
		if how := s.Progress.PromotionAt(decide(t, p, s, at)); how != (plan.Promotion{}) {
			t.Errorf("%s: the recorded pause is promoted by %+v", pause, how)
		}
		status(&s, 1, 1)
		clone(&s).Status.ExpectedUpdatedReplicas = 1
		s.Progress = plan.Progress{Started: noon, Sent: len(p.Steps[0].Patches)}
		d := decide(t, p, s, at)
		next, err := s.Progress.Promote(p, s.Progress.PromotionAt(d), at)
		if err != nil || d.Step != 1 || next.Promoted {
			t.Fatalf("%s: at step %d: %s %s: %+v, %v", pause, d.Step, d.Verb, d.Reason, next, err)
		}
		s.Progress = next
		if d = decide(t, p, s, at); d.Step != 2 || d.Verb != plan.Act {
			t.Errorf("%s: promoted, it is at step %d: %s %s", pause, d.Step, d.Verb, d.Reason)
		}
	}
}

// TestNext_PromotedPausesPass: pauses before a step can be promoted in advance, those after it count.
func TestNext_PromotedPausesPass(t *testing.T) {
	p := plan.Plan{Steps: []plan.Step{
		{Name: "a", Kind: plan.StepPause, Pause: &plan.Pause{}},
		{Name: "b", Kind: plan.StepPause, Pause: &plan.Pause{For: plan.Duration(time.Hour)}},
		{Name: "c", Kind: plan.StepPause, Pause: &plan.Pause{}},
	}}
	_, s := crowd(t, podJSON(1))
	p.Change.ToHash = "x"
	for free, at := range map[int]int{0: 0, 1: 1, 2: 2} {
		s.Progress = plan.Progress{FirstCountingPause: free}
		if d := plan.Next(p, s, noon); d.Verb != plan.Wait || d.Step != at || d.Progress.FirstCountingPause != free {
			t.Errorf("free up to %d: %+v", free, d)
		}
	}
	s.Progress = plan.Progress{FirstCountingPause: 3}
	if d := plan.Next(p, s, noon); d.Verb != plan.Done {
		t.Errorf("%+v", d)
	}
}

// TestNext_NamesTheFieldThatOthersWrote: a template that is not the plan's is told as its first field with both
// values, also before the controller has stored a revision of it, and nothing secret is among them.
func TestNext_NamesTheFieldThatOthersWrote(t *testing.T) {
	main := func(s *plan.Snapshot) map[string]any {
		return s.Workload.Template["spec"].(map[string]any)["containers"].([]any)[0].(map[string]any)
	}
	for name, c := range map[string]struct {
		write func(*plan.Snapshot)
		want  string
	}{
		"image":  {func(s *plan.Snapshot) { main(s)["image"] = "web:9" }, `spec.template.spec.containers[0].image is web:9, not ` + newer + ``},
		"more":   {func(s *plan.Snapshot) { main(s)["image"], main(s)["tty"] = "web:9", true }, `spec.template.spec.containers[0].image is web:9, not ` + newer + `, and 1 more field differs`},
		"new":    {func(s *plan.Snapshot) { main(s)["tty"] = true }, `spec.template.spec.containers[0].tty is true, not absent`},
		"secret": {func(s *plan.Snapshot) { main(s)["env"] = []any{map[string]any{"name": "PASSWORD", "value": "hunter"}} }, `spec.template.spec.containers[0].env is [{"name":"PASSWORD","value":"` + redact.Masked + `"}], not absent`},
	} {
		for stored, keep := range map[string]func(*plan.Snapshot, map[string]any, map[string]any){
			"revision": func(s *plan.Snapshot, _, written map[string]any) {
				s.Revisions = append(s.Revisions, cluster.Revision{Name: "web-2", Template: written})
			},
			"base": func(s *plan.Snapshot, before, _ map[string]any) { s.Revisions, s.Base = nil, before },
		} {
			t.Run(name+", "+stored, func(t *testing.T) {
				p, s := midway(t, plan.Policy{})
				keep(&s, read(t, clones("")).Template, s.Workload.Template)
				s.Workload.Template = tree.Value(tree.FromValue(s.Workload.Template)).(map[string]any)
				c.write(&s)
				d := decide(t, p, s, noon.Add(time.Minute))
				if want := "template: " + c.want; d.Verb != plan.Halt || d.Reason != want {
					t.Errorf("%s %s\nwant %s", d.Verb, d.Reason, want)
				}
			})
		}
	}
}
