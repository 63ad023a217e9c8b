package rollout_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout/live"
	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/story"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// screen is what the terminal interface does with rollouts.
type screen struct {
	*story.Story
	*live.Rollouts
}

var webRef = cluster.Ref{Group: "apps.kruise.io", Kind: "CloneSet", Namespace: story.Namespace, Name: "web"}

func newScreen(s *story.Story) *screen {
	s.Helper()
	flags := genericclioptions.NewConfigFlags(true)
	namespace := story.Namespace
	flags.KubeConfig, flags.Namespace = &s.Kubeconfig, &namespace
	f := factory.New(factory.Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard})
	f.Flags = flags
	live := live.New(s.Context(), f, "kubectl-kruise")
	s.Cleanup(live.Close)
	return &screen{s, live}
}

// does has an offer carried out that is what is expected.
func (s *screen) does(o *live.Offer, err error, want string) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
	if _, err := o.DoOnly(s.Context(), "something else"); err == nil || !strings.Contains(err.Error(), "has changed since the question") {
		s.Errorf("another question was answered: %v", err)
	}
	said, err := o.DoOnly(s.Context(), o.Means)
	if err != nil || !strings.Contains(said, want) {
		s.Fatalf("it says %q, %v, want %q", said, err, want)
	}
}

// idle waits until nothing is carried out here.
func (s *screen) idle() {
	s.Helper()
	s.Await(s.T, "nothing is carried out here", func() bool { return len(s.Driving()) == 0 })
}

// plans is a plan for a new image in two steps, with a pause after the first.
func plans(image string, pause bool) func(plan.Snapshot) (plan.Plan, error) {
	policy := plan.Policy{Pull: plan.PullNever}
	var err error
	if policy.Steps, err = plan.ParseSteps("1,100%"); err == nil && pause {
		err = policy.PauseAfter("1")
	}
	if err != nil {
		panic(err)
	}
	return plansBy(image, policy)
}

// plansBy is a plan for a new image by a policy.
func plansBy(image string, policy plan.Policy) func(plan.Snapshot) (plan.Plan, error) {
	return func(now plan.Snapshot) (plan.Plan, error) {
		template := runtime.DeepCopyJSON(now.Workload.Template)
		template["spec"].(map[string]any)["containers"].([]any)[0].(map[string]any)["image"] = "registry.example.com/" + image
		desired, err := plan.WithTemplate(now.Workload, template)
		if err != nil {
			return plan.Plan{}, err
		}
		return plan.Build(desired, now, policy)
	}
}

// TestLive_FromRunToUndo: what the keys of the interface do is what the verbs do, and none acts on another question.
func TestLive_FromRunToUndo(t *testing.T) {
	s := newScreen(web(t))
	ctx := t.Context()
	o, err := s.Abort(ctx, webRef)
	if err == nil {
		t.Errorf("there is nothing to abort: %+v", o)
	}
	o, err = s.Rollouts.Run(ctx, webRef, plans("web:2", true))
	if err != nil || !strings.Contains(strings.Join(o.Effect, "\n"), "steps: ") {
		t.Fatalf("%+v, %v", o, err)
	}
	s.does(o, err, "started: ")
	s.Reaches("", images{"web:1": 3, "web:2": 1})
	if d := s.Driving(); len(d) != 1 || d[0] != webRef {
		t.Errorf("carried out here: %v", d)
	}
	if _, err := s.Rollouts.Run(ctx, webRef, plans("web:3", false)); err == nil || !strings.Contains(err.Error(), "has a rollout already") {
		t.Errorf("a second one: %v", err)
	}
	if _, err := s.Scale(ctx, webRef, "7"); err == nil {
		t.Error("the workload is scaled in the middle of a rollout")
	}
	s.Story.Run("rollout status cloneset/web --watch=false").Ends(0, "step 2 of ")
	o, err = s.PauseOrResume(ctx, webRef)
	s.does(o, err, "paused")
	o, err = s.PauseOrResume(ctx, webRef)
	s.does(o, err, "resumed")
	o, err = s.Promote(ctx, webRef)
	if err != nil || !strings.Contains(strings.Join(o.Effect, "\n"), "This program runs the rollout.") {
		t.Errorf("%+v, %v", o, err)
	}
	s.does(o, err, "promoted")
	s.idle()
	s.Has("", images{"web:2": 4})
	s.Story.Run("rollout status cloneset/web --watch=false").Ends(0, "complete")
	o, err = s.Undo(ctx, webRef, 0)
	s.does(o, err, "started: ")
	s.idle()
	s.Has("", images{"web:1": 4})
	if _, err = s.Undo(ctx, webRef, 77); err == nil || !strings.Contains(err.Error(), "77") {
		t.Errorf("%v", err)
	}
}

// TestLive_TakesUpAndTakesBack: what another process has left is carried on here, and undo in the middle of a
// rollout is the way back of it.
func TestLive_TakesUpAndTakesBack(t *testing.T) {
	s := newScreen(web(t))
	ctx := t.Context()
	s.Story.Run("rollout run cloneset/web --steps 1,2,100% --pause-after all --exit-on-pause" + image2).Ends(5)
	o, err := s.Promote(ctx, webRef)
	if err != nil || !strings.Contains(strings.Join(o.Effect, "\n"), "No program runs the rollout") {
		t.Errorf("%+v, %v", o, err)
	}
	stale, err := s.Promote(ctx, webRef)
	if err != nil {
		t.Fatal(err)
	}
	s.does(o, err, "promoted")
	s.Reaches("", images{"web:1": 2, "web:2": 2})
	if _, err := stale.DoOnly(ctx, stale.Means); err == nil || !strings.Contains(err.Error(), "has changed since") {
		t.Errorf("a question about an earlier step: %v", err)
	}
	o, err = s.Abort(ctx, webRef)
	s.does(o, err, "aborted")
	s.idle()
	s.Has("", images{"web:1": 2, "web:2": 2})
	o, err = s.PauseOrResume(ctx, webRef)
	s.does(o, err, "retr")
	s.Await(t, "it is carried out", func() bool { return len(s.Driving()) == 1 })
	o, err = s.Abort(ctx, webRef)
	s.does(o, err, "aborted")
	s.idle()
	o, err = s.Undo(ctx, webRef, 0)
	if err == nil && o.Change.Transition != plan.TransitionRollBack {
		t.Errorf("%+v", o.Change)
	}
	s.does(o, err, "roll")
	s.idle()
	s.Has("", images{"web:1": 4})
}

// TestLive_PatchesAtRest: a workload without a rollout is scaled, held back, paused and resumed.
func TestLive_PatchesAtRest(t *testing.T) {
	s := newScreen(web(t))
	ctx := t.Context()
	for _, value := range []string{"", "-1", "many"} {
		if _, err := s.Scale(ctx, webRef, value); err == nil {
			t.Errorf("scaled to %q", value)
		}
	}
	o, err := s.Scale(ctx, webRef, "6")
	if err != nil || o.Change.Was != "4" || o.Change.Becomes != "6" {
		t.Fatalf("%+v, %v", o, err)
	}
	s.does(o, err, "scaled to 6")
	s.Reaches("", images{"web:1": 6})
	if _, err := s.Partition(ctx, webRef, "some"); err == nil {
		t.Error("a partition of some")
	}
	o, err = s.Partition(ctx, webRef, "2")
	s.does(o, err, "partition set to 2")
	if n := partition(s.Story, "web"); n != 2 {
		t.Errorf("partition %d", n)
	}
	o, err = s.PauseOrResume(ctx, webRef)
	s.does(o, err, "paused: its controller")
	o, err = s.PauseOrResume(ctx, webRef)
	s.does(o, err, "resumed: its controller")
	gone := webRef
	gone.Name = "gone"
	for name, does := range map[string]func() (*live.Offer, error){
		"promote": func() (*live.Offer, error) { return s.Promote(ctx, gone) }, "pause": func() (*live.Offer, error) { return s.PauseOrResume(ctx, gone) },
		"undo": func() (*live.Offer, error) { return s.Undo(ctx, gone, 0) }, "scale": func() (*live.Offer, error) { return s.Scale(ctx, gone, "1") },
	} {
		if o, err := does(); err == nil {
			t.Errorf("%s of a workload that is gone: %+v", name, o)
		}
	}
	if _, err := s.Promote(ctx, webRef); err == nil || !strings.Contains(err.Error(), "no rollout") {
		t.Errorf("%v", err)
	}
}

// TestLive_RefusesWhatAReleaseControls: a Kruise Rollout has the workload in hand, so no key writes to it.
func TestLive_RefusesWhatAReleaseControls(t *testing.T) {
	r := newRelease(t)
	r.begins()
	s := newScreen(r.Story)
	ctx := t.Context()
	for name, does := range map[string]func() (*live.Offer, error){
		"promote": func() (*live.Offer, error) { return s.Promote(ctx, webRef) }, "pause": func() (*live.Offer, error) { return s.PauseOrResume(ctx, webRef) },
		"undo": func() (*live.Offer, error) { return s.Undo(ctx, webRef, 0) },
	} {
		if _, err := does(); err == nil || !strings.Contains(err.Error(), "controlled by Kruise Rollout web") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestLive_WatchesOneWorkload: a screen sees the rollout that others carry out, who does, and its past.
func TestLive_WatchesOneWorkload(t *testing.T) {
	s := newScreen(web(t))
	ctx := t.Context()
	watched, err := s.WatchWorkload(ctx, webRef)
	if err != nil {
		t.Fatal(err)
	}
	defer watched.Close()
	q, err := watched.Question(ctx, watched.Holder)
	if err != nil || q.Begun || len(watched.Rollouts()) > 0 {
		t.Fatalf("%+v, %v, %v", q, err, watched.Rollouts())
	}
	other := s.Begin("rollout run cloneset/web --steps 1,100% --pause-after 1" + image2)
	s.Reaches("", images{"web:1": 3, "web:2": 1})
	s.Await(t, "the rollout is seen", func() bool {
		q, err = watched.Question(ctx, watched.Holder)
		return err == nil && q.Begun && q.Holder != ""
	})
	if err := watched.Await(ctx, "", time.Now()); err != nil {
		t.Error(err)
	}
	o, err := s.Promote(ctx, webRef)
	if err != nil || !strings.Contains(strings.Join(o.Effect, "\n"), "The rollout is run by ") {
		t.Errorf("%+v, %v", o, err)
	}
	s.Await(t, "the pause is there", func() bool {
		return strings.Contains(s.Story.Run("rollout status cloneset/web --watch=false").Out, "waiting")
	})
	o, err = s.Promote(ctx, webRef)
	s.does(o, err, "promoted")
	s.Reaches("", images{"web:2": 4})
	other.Interrupt()
	other.End()
	s.Await(t, "its end is seen", func() bool {
		return len(watched.Rollouts()) == 1 && len(watched.Events(map[string]bool{"web": true})) > 0
	})
	s.Delete(t, s.Served(s.Object("CloneSet", "web").GroupVersionKind()).GroupVersion().WithResource("clonesets"), story.Namespace, "web")
	s.Await(t, "the workload is gone", func() bool {
		_, err := watched.Question(ctx, watched.Holder)
		return errors.Is(err, plan.ErrNotFound)
	})
}
