package rollout_test

import (
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/story"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/verify"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

var webObject = kube.Object{Ref: webRef, Resource: schema.GroupVersionResource{Group: "apps.kruise.io", Version: "v1beta1", Resource: "clonesets"}}

func options(target kube.Object) kube.Options {
	return kube.Options{Target: target, Gates: cluster.DefaultGates(), StateNamespace: "kubectl-kruise", Holder: "test"}
}

// opened is the CloneSet web for a Go program.
func opened(s *story.Story) *kube.Cluster {
	s.Helper()
	c, err := kube.Open(s.Context(), s.Config(), options(webObject))
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(c.Close)
	return c
}

// begins observes the CloneSet web, and puts a plan for it on record.
func begins(s *story.Story, c *kube.Cluster, build func(plan.Snapshot) (plan.Plan, error)) plan.Plan {
	s.Helper()
	now, err := c.Observe(s.Context(), webRef)
	if err != nil {
		s.Fatal(err)
	}
	p, err := build(now)
	if err == nil {
		err = c.Begin(s.Context(), webRef, p)
	}
	if err != nil {
		s.Fatal(err)
	}
	return p
}

// restartPlan is a plan on record that restarts all pods, edited before that.
func restartPlan(s *story.Story, r plan.RestartRequest, edit func(*plan.Plan)) plan.Plan {
	s.Helper()
	c := opened(s)
	defer c.Close()
	return begins(s, c, func(now plan.Snapshot) (plan.Plan, error) {
		p, err := plan.BuildRestart(now, r, plan.Policy{})
		if err == nil {
			edit(&p)
		}
		return p, err
	})
}

// TestLibrary_ControlsRolloutsFromElsewhere is what a Go program does with rollouts, from one place while another one
// drives: it promotes, pauses, resumes, aborts and retries, and at last takes the rollout back.
func TestLibrary_ControlsRolloutsFromElsewhere(t *testing.T) {
	s := web(t)
	o := options(kube.Object{})
	o.Holder = "ann@desk"
	r, err := kube.Rollouts(s.Config(), o)
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	act := func(what plan.Transition, continues bool) (apply.Done, error) {
		act := apply.Act{Transition: what, Continues: continues}
		return r.Do(ctx, webRef, act)
	}
	if _, err := act(plan.TransitionAbort, false); !errors.Is(err, plan.ErrNoRollout) {
		t.Fatalf("there is none to abort: %v", err)
	}
	p := twoPauses(s, r)
	ended := make(chan apply.Result, 1)
	paused := make(chan string, 20)
	go func() {
		res := apply.Result{}
		w, err := r.Workloads.Open(ctx, webRef)
		if err == nil {
			defer w.Close()
			var e *apply.Executor
			if e, err = r.Begin(ctx, w, p); err == nil {
				res, err = e.Run(apply.Options{Emit: func(e event.Event) {
					if e.Type == event.Paused {
						paused <- e.Text
					}
				}})
			}
		}
		if err != nil {
			t.Error(err)
		}
		ended <- res
	}()
	waits := func(what string) {
		t.Helper()
		if why := <-paused; !strings.Contains(why, what) {
			t.Fatalf("it waits for %q, want %q", why, what)
		}
	}
	waits("promote")
	change := func(what plan.Transition, continues bool) apply.Done {
		t.Helper()
		done, err := act(what, continues)
		if err != nil {
			t.Fatal(err)
		}
		return done
	}
	change(plan.TransitionPause, false)
	waits("by ann@desk")
	if done := change(plan.TransitionPromote, true); done.Executor != nil || !errors.Is(done.Elsewhere, plan.ErrOtherExecutor) {
		t.Errorf("two drive it: %v", done.Elsewhere)
	}
	waits("promote")
	s.Has("", images{"web:1": 2, "web:2": 2})
	change(plan.TransitionAbort, false)
	if res := <-ended; res.Outcome != event.Failed || res.Reason != "aborted by ann@desk" {
		t.Fatalf("%+v", res)
	}
	if _, err := act(plan.TransitionResume, true); err == nil || !strings.HasPrefix(err.Error(), "the rollout has failed: aborted by ann@desk") {
		t.Errorf("%v", err)
	}
	done := change(plan.TransitionRetry, true)
	if done.Record.State() != plan.StateRunning || done.Executor == nil {
		t.Fatalf("%s, %v", done.Record.Describe(), done.Elsewhere)
	}
	defer done.Workload.Close()
	res, err := done.Executor.Run(apply.Options{AtPause: true})
	if err != nil || res.Outcome != event.AtPause {
		t.Fatalf("%+v, %v", res, err)
	}
	change(plan.TransitionRollBack, false)
	back, err := r.Rollback(ctx, done.Workload, "enough")
	if err != nil {
		t.Fatal(err)
	}
	if res, err = back.Run(apply.Options{}); err != nil || res.Outcome != event.RolledBack {
		t.Fatalf("%+v, %v", res, err)
	}
	s.Has("", images{"web:1": 4})
	list, _, err := r.List(ctx, story.Namespace)
	if err != nil || len(list) != 1 || list[0].State() != plan.StateDone {
		t.Errorf("%+v, %v", list, err)
	}
}

// twoPauses is a plan for a new image that stops after one pod and after two, on no record.
func twoPauses(s *story.Story, r apply.Rollouts) plan.Plan {
	s.Helper()
	w, err := r.Workloads.Open(s.Context(), webRef)
	if err != nil {
		s.Fatal(err)
	}
	defer w.Close()
	now, err := w.Observe(s.Context(), webRef)
	if err != nil {
		s.Fatal(err)
	}
	policy := plan.Policy{Driver: plan.DriverKruise, Pull: plan.PullNever}
	if policy.Steps, err = plan.ParseSteps("1,2,100%"); err == nil {
		err = policy.PauseAfter("1,2")
	}
	if err != nil {
		s.Fatal(err)
	}
	p, err := plansBy("web:2", policy)(now)
	if err != nil {
		s.Fatal(err)
	}
	return p
}

// TestOpen_ReportsADeletedWorkload: a workload may have gone between the plan and the rollout, also with its
// namespace; that is an error, so that the caller can end in order.
func TestOpen_ReportsADeletedWorkload(t *testing.T) {
	s := story.Start(t, 0)
	for _, namespace := range []string{story.Namespace, "nowhere"} {
		target := webObject
		target.Name, target.Namespace = "gone", namespace
		c, err := kube.Open(t.Context(), s.Config(), options(target))
		if err == nil {
			c.Close()
		}
		if !errors.Is(err, plan.ErrNotFound) {
			t.Errorf("in %s: %v", namespace, err)
		}
	}
}

// TestPull_ByKruiseNamesFailingNodes has images pulled by Kruise's jobs; a node that does not get one is named.
func TestPull_ByKruiseNamesFailingNodes(t *testing.T) {
	s := web(t)
	c := opened(s)
	for image, want := range map[string]event.Outcome{"web:2": event.Completed, "web:bad": event.Failed} {
		p := begins(s, c, func(now plan.Snapshot) (plan.Plan, error) {
			p, err := plansBy(image, plan.Policy{Pull: plan.PullFirst, Parallel: 2})(now)
			p.Steps = p.Steps[:min(1, len(p.Steps))]
			return p, err
		})
		if len(p.Steps) != 1 || p.Steps[0].Kind != plan.StepPullImages {
			t.Fatalf("%+v", p.Steps)
		}
		res, err := apply.Run(t.Context(), c, webRef, p, apply.Options{})
		if err != nil || res.Outcome != want || want == event.Failed && !strings.HasPrefix(res.Reason, "image: registry.example.com/"+image+" cannot be pulled on node node-") {
			t.Errorf("%s: %s %v", res.Outcome, res.Reason, err)
		}
		now, err := opened(s).Observe(t.Context(), webRef) // as after a crash
		if err != nil || want == event.Failed && !now.Pulling["registry.example.com/"+image] {
			t.Errorf("a resumed rollout does not know that %s was asked for: %v", image, err)
		}
	}
}

// TestVerify_CommandDecidesTheRollout: a rollout continues or ends by the exit code of a command.
func TestVerify_CommandDecidesTheRollout(t *testing.T) {
	s := web(t)
	o := options(webObject)
	o.VerifyPermissions = verify.Permissions{Commands: true}
	c, err := kube.Open(t.Context(), s.Config(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	for _, v := range []struct {
		image   string
		command []string
		want    event.Outcome
		reason  string
	}{
		{"web:2", []string{"true"}, event.Completed, ""},
		{"web:3", []string{"sh", "-c", "echo p99 is 3 s; exit 1"}, event.Failed, "verify: exit status 1 (attempt 2 of 2)"},
	} {
		p := begins(s, c, plansBy(v.image, plan.Policy{Pull: plan.PullNever, Verify: []plan.Verify{{Command: v.command, Attempts: 2, Every: plan.Duration(time.Millisecond)}}}))
		if res, err := apply.Run(t.Context(), c, webRef, p, apply.Options{}); err != nil || res.Outcome != v.want || !strings.Contains(res.Reason, v.reason) {
			t.Errorf("%s: %s %v", res.Outcome, res.Reason, err)
		}
	}
}

// TestAnotherPlan_IsLeftAlone: a process that finds another plan recorded than the one that it carries out leaves the
// rollout alone.
func TestAnotherPlan_IsLeftAlone(t *testing.T) {
	s := web(t)
	first, second := opened(s), opened(s)
	p := begins(s, first, plans("web:2", true))
	ended := make(chan apply.Result)
	go func() {
		res, _ := apply.Run(t.Context(), first, webRef, p, apply.Options{})
		ended <- res
	}()
	if err := second.Begin(t.Context(), webRef, p); err != nil {
		t.Fatal(err)
	}
	if res := <-ended; res.Outcome != event.TakenOver || !strings.Contains(res.Reason, "another plan") {
		t.Errorf("%s: %s", res.Outcome, res.Reason)
	}
}

// TestEvents_ReportEachStep: the workload has an Event for each step, and one for the end.
func TestEvents_ReportEachStep(t *testing.T) {
	s := web(t)
	c := opened(s)
	p := begins(s, c, plans("web:2", false))
	if _, err := apply.Run(t.Context(), c, webRef, p, apply.Options{Emit: c.Announce}); err != nil {
		t.Fatal(err)
	}
	s.Await(t, "an Event for each step", func() bool {
		list, err := s.Client.EventsV1().Events(story.Namespace).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]int{}
		for _, e := range list.Items {
			if e.ReportingController == "kubectl-kruise.dev/rollout" && e.Regarding.Name == "web" && e.Type == corev1.EventTypeNormal {
				seen[e.Reason]++
			}
		}
		return seen["RolloutStep"] == len(p.Steps)-1 && seen["RolloutCompleted"] == 1
	})
}

// TestPromote_PassesThePauseThatStatusShows: an executor that was killed after the last pod of a step became ready has
// not recorded the end of the step. Status shows the pause, so this is what a promotion passes: not the recorded step,
// whose checks it would skip.
func TestPromote_PassesThePauseThatStatusShows(t *testing.T) {
	s := web(t)
	s.Run("rollout run cloneset/web --steps 1,50%,100% --pause-after all --exit-on-pause" + image2).Ends(5)
	records := kube.Records{Client: s.Client}
	rec, err := records.Change(t.Context(), webRef, "carla", func(r *plan.Record) error {
		r.Progress.Step, r.Progress.Sent = r.Progress.Step-1, len(r.Plan.Steps[r.Progress.Step-1].Patches)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	pause := rec.Plan.Steps[rec.Progress.Step+1].Name
	s.Run("rollout status cloneset/web --watch=false").Ends(0, "approval")
	s.Run("rollout promote cloneset/web --dry-run=client").Ends(0, "promoted past step "+pause)
	s.Run("rollout promote cloneset/web --no-wait").Ends(0, "promoted past step "+pause)
	if rec, err = records.Load(t.Context(), webRef); err != nil || rec.Progress.Promoted {
		t.Errorf("the checks of the recorded step are skipped: %v", err)
	}
	s.Run("rollout resume cloneset/web --exit-on-pause").Ends(5)
	if rec, err = records.Load(t.Context(), webRef); err != nil || rec.Present() == nil || rec.Present().Name == pause {
		t.Errorf("the rollout is at %v, past %s: %v", rec.Present(), pause, err)
	}
}

// asks counts the requests of commands by verb and resource, without writes and reads of Leases and those for permissions, until the
// function returned is called.
func asks(s *story.Story) func() map[string]int {
	s.Helper()
	var mu sync.Mutex
	out := map[string]int{}
	stop := s.Seen(func(r *http.Request) {
		resource, named := "", false
		path := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
		for i, part := range path {
			if part == "namespaces" && i+2 < len(path) {
				resource, named = strings.Join(append([]string{path[i+2]}, path[min(i+4, len(path)):]...), "/"), i+3 < len(path)
			}
		}
		if !strings.HasPrefix(r.Host, "localhost:") || resource == "" || resource == "leases" && r.URL.Query().Get("watch") == "" {
			return
		}
		verb := r.Method
		switch {
		case r.URL.Query().Get("watch") != "":
			verb = "watch"
		case r.Method == http.MethodGet && !named:
			verb = "list"
		case r.Method == http.MethodGet:
			verb = "get"
		}
		mu.Lock()
		defer mu.Unlock()
		out[verb+" "+resource]++
	})
	return func() map[string]int {
		stop()
		mu.Lock()
		defer mu.Unlock()
		return out
	}
}

// sent are the requests that change something, of resources of which this is true.
func sent(counts map[string]int, of func(resource string) bool) int {
	n := 0
	for what, count := range counts {
		if verb, resource, _ := strings.Cut(what, " "); verb == strings.ToUpper(verb) && of(resource) {
			n += count
		}
	}
	return n
}

// readOnce fails where a resource was listed or watched more than once.
func readOnce(t *testing.T, counts map[string]int) {
	t.Helper()
	for what, n := range counts {
		if resource, read := strings.CutPrefix(what, "list "); n > 1 && (read && resource != "rollouts" || strings.HasPrefix(what, "watch ")) {
			t.Errorf("%s: %d times", what, n)
		}
	}
}

// TestRequests_DoNotGrowWithPods: what a rollout costs the server does not depend on the pods, and no object is read
// twice.
func TestRequests_DoNotGrowWithPods(t *testing.T) {
	t.Parallel()
	const steps = 10
	writes := make(chan int, 2) // of a test for each number of pods
	for _, pods := range []string{"10", "30"} {
		t.Run(pods, func(t *testing.T) {
			n := map[string]int{"10": 10, "30": 30}[pods]
			s := story.Start(t, n, strings.Replace(story.CloneSet("web", pods, "web:1"), "maxUnavailable: 1", `maxUnavailable: "50%"`, 1))
			over := asks(s)
			s.Run("rollout run cloneset/web --steps 10%,20%,30%,40%,50%,60%,70%,80%,90%,100%" + image2).Ends(0)
			counts := over()
			s.Has("", images{"web:2": n})
			readOnce(t, counts)
			for what, n := range counts {
				if strings.HasPrefix(what, "get ") && n > 2 {
					t.Errorf("%s: %d times", what, n)
				}
			}
			// None waits for an answer to an Event. The record that is made, and the mark in it that all is done, are two more.
			wrote := sent(counts, func(resource string) bool { return resource != "events" })
			if most := 4*steps + 2; wrote > most || wrote < steps {
				t.Errorf("%d writes in %d steps: %v", wrote, steps, counts)
			}
			writes <- wrote
		})
	}
	t.Cleanup(func() {
		if len(writes) < 2 {
			return // one has failed
		}
		if a, b := <-writes, <-writes; a != b {
			t.Errorf("%d writes for one number of pods, %d for another", a, b)
		}
	})
}

// TestRequests_OfTheClientPerPod: the driver client writes at most four times to each pod.
func TestRequests_OfTheClientPerPod(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ of, text string }{
		"ReplicaSet":           {"replicaset/web", kind("apps/v1", "ReplicaSet", "replicas: 3")},
		"StatefulSet OnDelete": {"statefulset.apps/web", kind("apps/v1", "StatefulSet", "replicas: 3\n  serviceName: web\n  updateStrategy: {type: OnDelete}")},
	} {
		t.Run(name, func(t *testing.T) {
			s := story.Start(t, 3, c.text)
			over := asks(s)
			s.Run("rollout run " + c.of + " --driver client --steps 1,100%" + image2).Ends(0)
			counts := over()
			s.Has("", images{"web:2": 3})
			readOnce(t, counts)
			if n := sent(counts, func(resource string) bool { return strings.HasPrefix(resource, "pods") }); n > 4*3 || n == 0 {
				t.Errorf("%d writes to 3 pods: %v", n, counts)
			}
		})
	}
}
