package diagnose_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/diagnose"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

var noon = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

const cloneSet = `
apiVersion: apps.kruise.io/v1beta1
kind: CloneSet
metadata: {name: web, namespace: shop, uid: u1, generation: 3}
spec:
  replicas: 4
  selector: {matchLabels: {app: web}}
  updateStrategy: {rollingUpdate: {podUpdatePolicy: InPlaceIfPossible, maxUnavailable: 1}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: main, image: "web:2"}]}}
status: {observedGeneration: 3, replicas: 4, readyReplicas: 4, availableReplicas: 4, updatedReplicas: 1, updatedReadyReplicas: 1,
  updatedAvailableReplicas: 1, expectedUpdatedReplicas: 4, currentRevision: web-old, updateRevision: web-new}
`

func read(t *testing.T, text string) *cluster.Workload {
	t.Helper()
	n, err := yaml.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	w, err := cluster.ReadWorkload(n.YNode())
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// running is a pod that is ready, at a revision.
func running(i int, revision string) *cluster.Pod {
	at := noon.Add(-time.Hour + time.Duration(i)*time.Minute)
	return &cluster.Pod{
		Namespace: "shop", Name: fmt.Sprintf("web-%d", i), UID: fmt.Sprintf("p%d", i), Node: "n1", Phase: corev1.PodRunning, Created: at,
		Labels:     map[string]string{"app": "web", "controller-revision-hash": "web-" + revision},
		Conditions: []cluster.Condition{{Type: "Ready", Status: corev1.ConditionTrue, Since: at}},
		Containers: []cluster.Container{{Name: "main", Image: "web:1", Reported: true, Ready: true}},
	}
}

// question is a CloneSet with four pods, of which the first is updated.
func question(t *testing.T) *diagnose.Question {
	t.Helper()
	w := read(t, cloneSet)
	old := read(t, strings.ReplaceAll(cloneSet, "web:2", "web:1"))
	s := plan.Snapshot{
		Workload: w, Gates: cluster.DefaultGates(), Pods: []*cluster.Pod{running(0, "new"), running(1, "old"), running(2, "old"), running(3, "old")},
		Revisions: []cluster.Revision{{Name: "web-old", Number: 1, Template: old.Template}, {Name: "web-new", Number: 2, Template: w.Template}},
	}
	return &diagnose.Question{Name: "cloneset/web", Snapshot: s, Now: noon}
}

func set(q *diagnose.Question) *kruise.CloneSet { return q.Snapshot.Workload.Object.(*kruise.CloneSet) }

func rolling(q *diagnose.Question) *kruise.RollingUpdateCloneSetStrategy {
	return set(q).Spec.UpdateStrategy.RollingUpdate
}

// down takes readiness from a pod, with a reason for which its container waits.
func down(q *diagnose.Question, i int, waiting string) *cluster.Pod {
	p := q.Snapshot.Pods[i]
	p.Conditions[0] = cluster.Condition{Type: "Ready", Status: corev1.ConditionFalse, Since: noon.Add(-time.Second)}
	p.Containers[0].Ready, p.Containers[0].Waiting = false, waiting
	return p
}

// text writes an answer: what does not pass by itself has an exclamation mark.
func text(d diagnose.Diagnosis) string {
	lines := []string{d.Answer}
	for _, c := range d.Causes {
		lines = append(lines, map[bool]string{true: "! ", false: "- "}[c.Blocked]+c.Gate+" "+c.String())
	}
	return strings.Join(lines, "\n")
}

func TestWorkload_NamesTheBlockers(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*diagnose.Question)
		want  string
	}{
		"moves": {func(*diagnose.Question) {}, `progressing: 1 of 4 updated pods are available
- updated 1 of 4 updated pods are available
- maxUnavailable 1 pod of the target revision is not available yet, at most 1: web-2 waits`},
		"paused": {func(q *diagnose.Question) { rolling(q).Paused = true }, `paused: the update is paused in the spec
! paused the update is paused in the spec
- updated 1 of 4 updated pods are available`},
		"partition": {func(q *diagnose.Question) {
			rolling(q).Partition = new(intstr.FromInt32(3))
			set(q).Status.ExpectedUpdatedReplicas = 1
		}, `1 of 4 pods are up to date, and the spec asks for no more
- partition partition 3 allows 1 of 4 pods to be updated`},
		"image": {func(q *diagnose.Question) {
			down(q, 0, "ImagePullBackOff").Containers[0].Message = "not found"
		}, `blocked: ImagePullBackOff: container main in pod web-0; image web:1; not found
! image ImagePullBackOff: container main in pod web-0; image web:1; not found
- updated 1 of 4 updated pods are available
- maxUnavailable 1 pod of the target revision is not available yet, at most 1: web-3 waits`},
		"old pods crash": {func(q *diagnose.Question) {
			for _, i := range []int{1, 2} {
				c := &down(q, i, "CrashLoopBackOff").Containers[0]
				c.Ended, c.Restarts = "OOMKilled, exit code 137", 4
			}
		}, `blocked: CrashLoopBackOff (4 restarts): container main in pods web-1, web-2; image web:1; ended with OOMKilled, exit code 137 (old revision)
! crash CrashLoopBackOff (4 restarts): container main in pods web-1, web-2; image web:1; ended with OOMKilled, exit code 137 (old revision)
- updated 1 of 4 updated pods are available
- maxUnavailable 1 pod of the target revision is not available yet, at most 1: web-1 waits`},
		"unschedulable": {func(q *diagnose.Question) {
			p := down(q, 0, "")
			p.Phase, p.Node = corev1.PodPending, ""
			p.Conditions = append(p.Conditions, cluster.Condition{Type: "PodScheduled", Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "0/3 nodes are available"})
		}, `blocked: web-0: 0/3 nodes are available
! schedule web-0: 0/3 nodes are available
- updated 1 of 4 updated pods are available
- maxUnavailable 1 pod of the target revision is not available yet, at most 1: web-3 waits`},
		"unschedulable, spread": {func(q *diagnose.Question) {
			p := down(q, 0, "")
			p.Phase, p.Node = corev1.PodPending, ""
			p.Annotations = map[string]string{kruise.MatchedWorkloadSpreadAnnotation: `{"name": "zones", "subset": "a"}`}
			p.Conditions = append(p.Conditions, cluster.Condition{Type: "PodScheduled", Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "0/3 nodes are available"})
		}, `blocked: web-0: 0/3 nodes are available; WorkloadSpread zones placed it into subset a: it can only use nodes of that subset
! schedule web-0: 0/3 nodes are available; WorkloadSpread zones placed it into subset a: it can only use nodes of that subset
- updated 1 of 4 updated pods are available
- maxUnavailable 1 pod of the target revision is not available yet, at most 1: web-3 waits`},
		"controller away": {func(q *diagnose.Question) { set(q).Generation = 4 }, `progressing: the controller has not processed the latest change yet
- updated the controller has not processed the latest change yet
- controller the controller has not processed the latest change yet
- maxUnavailable 1 pod of the target revision is not available yet, at most 1: web-2 waits`},
		"held by finalizers": {func(q *diagnose.Question) {
			p := q.Snapshot.Pods[3]
			p.Deleting, p.Finalizers = true, []string{"example.com/drain"}
		}, `progressing: web-3: terminating, held by finalizers: example.com/drain
- hook web-3: terminating, held by finalizers: example.com/drain
- updated 1 of 4 updated pods are available
- maxUnavailable 0 pods of the target revision are not available yet, at most 0: web-2 waits`},
		"a hook": {func(q *diagnose.Question) {
			set(q).Spec.Lifecycle = &kruise.Lifecycle{InPlaceUpdate: &kruise.LifecycleHook{LabelsHandler: map[string]string{"hold": "yes"}}}
			p := q.Snapshot.Pods[3]
			p.Labels["hold"], p.Labels[kruise.LifecycleStateLabel] = "yes", "PreparingUpdate"
			p.Annotations = map[string]string{kruise.LifecycleTimestampAnnotation: "2026-07-01T11:59:00Z"}
		}, `progressing: web-3: lifecycle.inPlaceUpdate holds it in PreparingUpdate since 2026-07-01T11:59:00Z: label hold=yes has to be removed
- hook web-3: lifecycle.inPlaceUpdate holds it in PreparingUpdate since 2026-07-01T11:59:00Z: label hold=yes has to be removed
- updated 1 of 4 updated pods are available
- maxUnavailable 1 pod of the target revision is not available yet, at most 1: web-2 waits`},
		"all done": {func(q *diagnose.Question) {
			for _, p := range q.Snapshot.Pods {
				p.Labels["controller-revision-hash"] = "web-new"
			}
			s := &set(q).Status
			s.UpdatedReplicas, s.UpdatedReadyReplicas, s.UpdatedAvailableReplicas, s.CurrentRevision = 4, 4, 4, "web-new"
		}, "all 4 pods are up to date and ready"},
		"gone": {func(q *diagnose.Question) { q.Snapshot.Workload = nil }, "failed: the object is gone\n! object the object is gone"},
	} {
		t.Run(name, func(t *testing.T) {
			q := question(t)
			c.spoil(q)
			q.Plan = plan.CurrentSpecPlan(q.Snapshot)
			got := text(diagnose.Workload(*q))
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestWorkload_WithARecordedRollout: the answer has the state of a recorded rollout, whether its
// executor is missing, and what the user should do.
func TestWorkload_WithARecordedRollout(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*diagnose.Question)
		want  string
		hint  string
	}{
		"waits for a person": {func(q *diagnose.Question) { q.Holder = "ann@there" }, "waiting for approval at step 1 of 2\n! promote waiting for approval", "kubectl kruise rollout promote cloneset/web"},
		"no executor":        {func(*diagnose.Question) {}, "waiting for approval at step 1 of 2\n! promote waiting for approval\n- driver no process is running the rollout: the one that started it has ended", "kubectl kruise rollout promote cloneset/web"},
		"on hold":            {func(q *diagnose.Question) { q.Holder, q.Snapshot.Progress.PausedBy = "ann@there", "by bob" }, "paused at step 1 of 2 by bob\n! held paused by bob", "kubectl kruise rollout resume cloneset/web"},
		"halted by hand":     {func(q *diagnose.Question) { q.Snapshot.Progress.Failed = "aborted by ann: enough" }, "failed at step 1 of 2: aborted by ann: enough\n! progress aborted by ann: enough", "fix the cause, then 'kubectl kruise rollout retry"},
		"halted before":      {func(q *diagnose.Question) { q.Snapshot.Progress.Failed = "crash web-1: it crashed" }, "failed at step 1 of 2: web-1: it crashed\n! crash web-1: it crashed", "'kubectl logs --previous web-1"},
	} {
		t.Run(name, func(t *testing.T) {
			q := question(t)
			q.Begun = true
			q.Plan = plan.Plan{Driver: plan.DriverKruise, Target: plan.Target{UID: "u1"}, Steps: []plan.Step{{Name: "pause-1", Kind: plan.StepPause}, {Name: "step-100%", Kind: plan.StepPartition}}}
			q.Snapshot.Progress.Started = noon
			c.spoil(q)
			d := diagnose.Workload(*q)
			if diff := cmp.Diff(c.want, text(d)); diff != "" {
				t.Error(diff)
			}
			if len(d.Causes) == 0 || !strings.HasPrefix(d.Causes[0].Hint, c.hint) {
				t.Errorf("%+v", d.Causes)
			}
		})
	}
}

// TestWorkload_BlockedByBudget: a PodUnavailableBudget without room is named with the pod that it
// holds.
func TestWorkload_BlockedByBudget(t *testing.T) {
	q := question(t)
	rolling(q).MaxUnavailable = new(intstr.FromInt32(2))
	q.Snapshot.Budgets = []*rules.Budget{{Name: "web-budget", Pods: q.Snapshot.Pods, Expected: 4, Spec: &kruise.PodUnavailableBudgetSpec{MaxUnavailable: new(intstr.FromInt32(0))}}}
	q.Snapshot.Gates.GuardUpdates = true
	q.Plan = plan.CurrentSpecPlan(q.Snapshot)
	if got := text(diagnose.Workload(*q)); !strings.Contains(got, "! budget web-3: ") || !strings.Contains(got, "web-budget") {
		t.Error(got)
	}

	// With unreadable feature gates, the answer depends on the gate, and says so.
	q.Snapshot.Gates.GuardUpdates, q.Snapshot.GatesUnread = false, "forbidden"
	d := diagnose.Workload(*q)
	if got := text(d); !strings.Contains(got, "- budget web-3: ") || !strings.Contains(got, "if PodUnavailableBudgetUpdateGate is on") {
		t.Error(got)
	}
	for _, c := range d.Causes {
		if c.Gate == plan.GateBudget && !strings.Contains(c.Hint, "raise its maxUnavailable") {
			t.Errorf("hint: %s", c.Hint)
		}
	}
}

// TestWorkload_ControlledByAnother: the other controller is named, with the command that continues it.
func TestWorkload_ControlledByAnother(t *testing.T) {
	release := &diagnose.Controller{Name: "Kruise Rollout web", Status: "step 1 of 3, StepPaused: waits to be approved", Waits: true, Next: "kubectl kruise rollout approve rollout/web"}
	above := &diagnose.Controller{Name: "UnitedDeployment web", Status: "it writes the partition of its subsets", Next: "kubectl kruise rollout run uniteddeployment/web"}
	held := func(q *diagnose.Question) {
		q.Snapshot.Workload.Annotations = map[string]string{"rollouts.kruise.io/in-progressing": "{}"}
		rolling(q).Partition = new(intstr.FromInt32(3))
		set(q).Status.ExpectedUpdatedReplicas = 1
	}
	const partition = "\n- partition partition 3 allows 1 of 4 pods to be updated"
	for name, c := range map[string]struct {
		hand  *diagnose.Controller
		spoil func(*diagnose.Question)
		want  string
	}{
		"a Kruise Rollout": {release, held, "blocked: run by Kruise Rollout web: step 1 of 3, StepPaused: waits to be approved\n! owner run by Kruise Rollout web: step 1 of 3, StepPaused: waits to be approved" + partition},
		"a subset":         {above, func(q *diagnose.Question) { held(q); q.Snapshot.Workload.Annotations = nil }, "1 of 4 pods are up to date, and the spec asks for no more\n- owner run by UnitedDeployment web: it writes the partition of its subsets" + partition},
	} {
		t.Run(name, func(t *testing.T) {
			q := question(t)
			c.spoil(q)
			q.Controller, q.Plan = c.hand, plan.CurrentSpecPlan(q.Snapshot)
			d := diagnose.Workload(*q)
			if diff := cmp.Diff(c.want, text(d)); diff != "" {
				t.Error(diff)
			}
			for _, cause := range d.Causes {
				if cause.Hint != c.hand.Next {
					t.Errorf("%s: hint %q", cause.Gate, cause.Hint)
				}
			}
			if d := diagnose.Pod(*q, "web-1"); !strings.Contains(text(d), "run by "+c.hand.Name) {
				t.Error(text(d))
			}
		})
	}
}

// TestWorkload_Deadlines: a step that has taken too long says so, and what it waited for.
func TestWorkload_Deadlines(t *testing.T) {
	q := question(t)
	q.Begun, q.Holder = true, "ann@there"
	q.Snapshot.Workload = read(t, strings.ReplaceAll(cloneSet, "web:2", "web:1"))
	desired := read(t, cloneSet)
	p, err := plan.Build(desired, q.Snapshot, plan.Policy{Timeout: plan.Duration(time.Minute), Pull: plan.PullNever})
	if err != nil {
		t.Fatal(err)
	}
	q.Snapshot.Workload, q.Plan = desired, p
	q.Snapshot.Progress = plan.Progress{Started: noon.Add(-time.Hour), Sent: len(p.Steps[0].Patches)}
	d := diagnose.Workload(*q)
	if !strings.HasPrefix(d.Answer, "failed at step ") || d.Causes[0].Gate != plan.GateDeadline || !strings.Contains(d.Causes[0].Hint, "rollout retry cloneset/web") {
		t.Errorf("%s: %+v", d.Answer, d.Causes)
	}
}

// TestQuestion_ForSpecForgetsAnEndedRollout: the record of an ended rollout does not count for the
// present state.
func TestQuestion_ForSpecForgetsAnEndedRollout(t *testing.T) {
	q := question(t)
	q.Begun, q.Holder = true, "ann@there"
	q.Snapshot.Progress = plan.Progress{Step: 3, Failed: "aborted by ann@there", Finished: noon}
	q.Snapshot.Base = map[string]any{"spec": map[string]any{}}
	q.ForSpec()
	d := diagnose.Workload(*q)
	if want := "progressing: 1 of 4 updated pods are available"; d.Answer != want || strings.Contains(text(d), "ann@there") {
		t.Errorf("%s\nwant %s", text(d), want)
	}
	if q.Begun || q.Holder != "" || q.Snapshot.Base != nil {
		t.Errorf("%+v", q)
	}
}

// TestWorkload_HintsOfAFailedRolloutAreItsOwn: why says what status and retry say, and no hint rolls back a rollback.
func TestWorkload_HintsOfAFailedRolloutAreItsOwn(t *testing.T) {
	for _, back := range []string{"", "aborted by ann"} {
		p := plan.Plan{Target: plan.Target{Kind: "CloneSet"}, Driver: plan.DriverKruise, Steps: []plan.Step{{Name: "update", Kind: plan.StepUpdate}}, RollbackReason: back}
		ask := func(failed string) diagnose.Diagnosis {
			q := question(t)
			q.Begun, q.Plan = true, p
			q.Snapshot.Progress = plan.Progress{Failed: failed}
			return diagnose.Workload(*q)
		}
		for _, reason := range []string{"template: spec.template.x is 1, not 2", "partition: partition is 1, not 2", "paused: paused is true, not false", "deadline: step update is not done after 5m"} {
			want := p.FailureHint(reason, func(verb string) string { return "kubectl kruise rollout " + verb + " cloneset/web -n shop" })
			if d := ask(reason); len(d.Causes) == 0 || d.Causes[0].Hint != want {
				t.Errorf("%s: %+v\nwant %s", reason, d.Causes, want)
			}
		}
		for _, reason := range []string{"crash web-0: CrashLoopBackOff", "image web-0: ErrImagePull"} {
			d := ask(reason)
			if len(d.Causes) == 0 || strings.Contains(d.Causes[0].Hint, "--rollback") != (back == "") {
				t.Errorf("%s, a rollback because %q: %+v", reason, back, d.Causes)
			}
		}
	}
}

// rollingBack is a rollback to web:1 of which the first pod has the good revision, and the last one still the failed one.
func rollingBack(t *testing.T) *diagnose.Question {
	t.Helper()
	q := question(t)
	q.Begun, q.Holder = true, "ann@there"
	good := read(t, strings.NewReplacer("web:2", "web:1", "updateRevision: web-new", "updateRevision: web-old", "currentRevision: web-old", "currentRevision: web-new").Replace(cloneSet))
	q.Snapshot.Pods = []*cluster.Pod{running(0, "old"), running(1, "old"), running(2, "old"), running(3, "new")}
	q.Snapshot.Pods[3].Containers[0].Image = "web:2"
	p, err := plan.Build(good, q.Snapshot, plan.Policy{Pull: plan.PullNever})
	if err != nil {
		t.Fatal(err)
	}
	p.RollbackReason = "rolled back by ann"
	q.Plan, q.Snapshot.Workload = p, good
	q.Snapshot.Progress = plan.Progress{Started: noon, Sent: len(p.Steps[0].Patches)}
	return q
}

// TestWorkload_RollbackAccusesTheFailedRevision: a pod that crashes with the revision that is rolled back does not block
// the way back, and nothing says that the image which the pods return to crashes.
func TestWorkload_RollbackAccusesTheFailedRevision(t *testing.T) {
	q := rollingBack(t)
	crash := &down(q, 3, "CrashLoopBackOff").Containers[0]
	crash.Ended, crash.Restarts = "Error, exit code 1", 3
	d := diagnose.Workload(*q)
	const want = "- crash CrashLoopBackOff (3 restarts): container main in pod web-3; image web:2; ended with Error, exit code 1 (the revision that is rolled back)"
	if !strings.Contains(text(d), want) || strings.Contains(text(d), "blocked") || strings.Contains(text(d), "image web:1") {
		t.Errorf("want %s\n%s", want, text(d))
	}
	for _, c := range d.Causes {
		if c.Gate == plan.GateCrash && c.Hint != "the rollback replaces it" {
			t.Errorf("hint: %s", c.Hint)
		}
	}
}

// updatingInPlace is a pod that was given an image in place which its node has not started: it still fails as before.
func updatingInPlace(p *cluster.Pod, from, to string) *cluster.Container {
	p.Annotations = map[string]string{kruise.InPlaceUpdateStateAnnotation: `{"revision":"web-old","lastContainerStatuses":{"main":{"imageID":"sha256:bad"}}}`}
	c := &p.Containers[0]
	c.Image, c.StatusImage, c.ImageID, c.Reported = to, from, "sha256:bad", true
	return c
}

// TestWorkload_ImageThatReplacesAFailingOneIsNotAccused: between the patch of a pod and its restart, the status is that
// of the image before.
func TestWorkload_ImageThatReplacesAFailingOneIsNotAccused(t *testing.T) {
	for name, c := range map[string]struct{ waiting, message, want string }{
		"crash":                 {"CrashLoopBackOff", "back-off 40s", "- ready web-0: container main does not run web:1 yet; CrashLoopBackOff is of image web:2, from before this update"},
		"pull":                  {"ImagePullBackOff", `Back-off pulling image "web:2"`, "- ready web-0: container main does not run web:1 yet; ImagePullBackOff is of image web:2, from before this update"},
		"pull of the new image": {"ImagePullBackOff", `Back-off pulling image "web:1"`, `! image ImagePullBackOff: container main in pod web-0; image web:1; Back-off pulling image "web:1"`},
	} {
		t.Run(name, func(t *testing.T) {
			q := rollingBack(t)
			down(q, 0, c.waiting).Containers[0].Message = c.message
			updatingInPlace(q.Snapshot.Pods[0], "web:2", "web:1")
			q.Now = noon.Add(time.Hour) // grace times are over
			if got := text(diagnose.Workload(*q)); !strings.Contains(got, c.want) {
				t.Errorf("want %s\n%s", c.want, got)
			}
		})
	}
}

// TestWorkload_HintsDoNotLeadToAFailingRevision: no hint rolls a rollback back, or back to pods that crash.
func TestWorkload_HintsDoNotLeadToAFailingRevision(t *testing.T) {
	for name, c := range map[string]struct {
		of   func(*testing.T) *diagnose.Question
		pod  int
		want string
	}{
		"the way back crashes": {rollingBack, 0, "'kubectl logs --previous web-0 -n shop' shows why it ended; fix the cause, then 'kubectl kruise rollout retry cloneset/web -n shop'"},
		"old pods crash": {func(t *testing.T) *diagnose.Question {
			t.Helper()
			q := question(t)
			q.Plan = plan.CurrentSpecPlan(q.Snapshot)
			return q
		}, 1, "'kubectl logs --previous web-1 -n shop' shows why it ended"},
	} {
		t.Run(name, func(t *testing.T) {
			q := c.of(t)
			down(q, c.pod, "CrashLoopBackOff")
			for _, cause := range diagnose.Workload(*q).Causes {
				if cause.Gate == plan.GateCrash && (!strings.HasPrefix(cause.Hint, c.want) || strings.Contains(cause.Hint, "--rollback") || strings.Contains(cause.Hint, "undo")) {
					t.Errorf("hint: %s", cause.Hint)
				}
			}
		})
	}
}

// TestWorkload_PodsThatCannotBeCreated: why pods are missing is what their controller says, unless a newer pod shows that it
// has passed.
func TestWorkload_PodsThatCannotBeCreated(t *testing.T) {
	for name, c := range map[string]struct {
		missing bool
		at      time.Time
		want    bool
	}{
		"missing":     {true, noon, true},
		"passed":      {true, noon.Add(-2 * time.Hour), false},
		"all of them": {false, noon, false},
	} {
		q := question(t)
		set(q).Status.Conditions = []kruise.CloneSetCondition{{Type: "FailedScale", Status: corev1.ConditionTrue, Message: "exceeded quota", LastTransitionTime: metav1.NewTime(c.at)}}
		if c.missing {
			q.Snapshot.Pods = q.Snapshot.Pods[:2]
		}
		if got := text(diagnose.Workload(*q)); strings.Contains(got, "2 pods cannot be created: exceeded quota") != c.want {
			t.Errorf("%s: %s", name, got)
		}
	}
	deployment := read(t, `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop, uid: u1, generation: 1}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: main, image: "web:2"}]}}
status: {observedGeneration: 1, conditions: [{type: ReplicaFailure, status: "True", message: exceeded quota}]}
`)
	d := diagnose.Workload(diagnose.Question{Name: "deployment/web", Snapshot: plan.Snapshot{Workload: deployment, Gates: cluster.DefaultGates()}, Now: noon})
	if !strings.Contains(text(d), "2 pods cannot be created: exceeded quota") {
		t.Error(text(d))
	}
}
