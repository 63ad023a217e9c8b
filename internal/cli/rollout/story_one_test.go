package rollout_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/story"
)

// image2 has main get a new image, and takes images to be on every node.
const image2 = " --image main=registry.example.com/web:2 --pull-images never --yes"

type images = map[string]int

func web(t *testing.T) *story.Story {
	t.Helper()
	return story.Start(t, 4, story.CloneSet("web", "4", "web:1"))
}

// partition is what the controller may leave.
func partition(s *story.Story, name string) int64 {
	s.Helper()
	return story.Number(s.Object("CloneSet", name), "spec", "updateStrategy", "rollingUpdate", "partition")
}

// TestRun_ToTheEnd: a new image comes to all pods in steps, and the past of the workload is told.
func TestRun_ToTheEnd(t *testing.T) {
	s := web(t)
	s.Run("rollout run cloneset/web --steps 1,100%"+image2).Ends(0, "done")
	s.Has("", images{"web:2": 4})
	if n := partition(s, "web"); n != 0 {
		t.Errorf("partition %d", n)
	}
	s.Run("rollout status cloneset/web --watch=false").Ends(0, "complete")
	s.Run("rollout list").Ends(0, "no rollout is in progress")
	s.Run("rollout list --all").Ends(0, "cloneset/web")
	s.Run("rollout history cloneset/web").Ends(0, "2")
	s.Run("rollout history cloneset/web --revision 1").Ends(0, "web:1")
	s.Run("rollout show cloneset/web").Ends(0, "100%")
	s.Run("rollout run cloneset/web"+image2).Ends(0, "nothing to do")
	s.Has("", images{"web:2": 4})
}

// TestRun_DryRunChangesNothing: neither of both kinds.
func TestRun_DryRunChangesNothing(t *testing.T) {
	s := web(t)
	before := s.Object("CloneSet", "web").GetGeneration()
	s.Run("rollout run cloneset/web --steps 1,100% --dry-run=client"+image2).Ends(0, "PATCH")
	s.Run("rollout run cloneset/web --steps 1,100% --dry-run=server"+image2).Ends(0, "PATCH")
	if now := s.Object("CloneSet", "web").GetGeneration(); now != before {
		t.Errorf("generation %d became %d", before, now)
	}
	s.Has("", images{"web:1": 4})
	s.Run("rollout list --all").Ends(0, "no rollout")
}

// TestPromote_StepByStep: a rollout stays at a pause until it is promoted, and is listed meanwhile.
func TestPromote_StepByStep(t *testing.T) {
	s := web(t)
	s.Run("rollout run cloneset/web --steps 1,50%,100% --pause-after all --exit-on-pause"+image2).Ends(5, "rollout promote cloneset/web")
	s.Has("", images{"web:1": 3, "web:2": 1})
	s.Run("rollout list").Ends(0, "cloneset/web", "waiting for approval at step 2 of 5")
	s.Run("rollout status cloneset/web --watch=false").Ends(0, "promote")
	s.Run("rollout show cloneset/web").Ends(0, "50%")
	s.Run("rollout run cloneset/web --image main=registry.example.com/web:3 --pull-images never --yes").Ends(1, "has a rollout already")
	s.Run("rollout promote cloneset/web --no-wait --dry-run=client").Ends(0, "promoted past step pause-1 (dry run)")
	s.Run("rollout promote cloneset/web --no-wait").Ends(0, "promoted past step pause-1")
	s.Run("rollout resume cloneset/web --exit-on-pause").Ends(5)
	s.Has("", images{"web:1": 2, "web:2": 2})
	s.Run("rollout promote cloneset/web --full").Ends(0)
	s.Has("", images{"web:2": 4})
	s.Run("rollout promote cloneset/web").Ends(1)
}

// TestPause_HoldsTheController: what was paused does not go on by itself, and does when it is resumed.
func TestPause_HoldsTheController(t *testing.T) {
	s := web(t)
	s.Run("rollout run cloneset/web --steps 1,100% --pause-after 1 --exit-on-pause" + image2).Ends(5)
	s.Run("rollout pause cloneset/web").Ends(0, "paused")
	s.Run("rollout status cloneset/web --watch=false").Ends(0, "paused")
	s.Run("rollout resume cloneset/web --exit-on-pause").Ends(5)
	s.Has("", images{"web:1": 3, "web:2": 1})
	s.Run("rollout promote cloneset/web").Ends(0)
	s.Has("", images{"web:2": 4})
}

// TestAbort_LeavesAndTakesBack: abort leaves what it finds; with --rollback all pods get the old image.
func TestAbort_LeavesAndTakesBack(t *testing.T) {
	s := web(t)
	s.Run("rollout run cloneset/web --steps 50%,100% --pause-after all --exit-on-pause" + image2).Ends(5)
	s.Run("rollout undo cloneset/web --yes").Ends(1, "has a rollout already")
	s.Run("rollout abort cloneset/web").Ends(0, "aborted", "left: 2 of 4")
	s.Has("", images{"web:1": 2, "web:2": 2})
	strategy, _, _ := unstructured.NestedMap(s.Object("CloneSet", "web").Object, "spec", "updateStrategy", "rollingUpdate")
	if strategy["paused"] != true || strategy["partition"] != "50%" {
		t.Errorf("the controller may continue: %v", strategy)
	}
	s.Run("rollout status cloneset/web --watch=false").Ends(3, "aborted")
	s.Run("rollout abort cloneset/web --rollback --yes").Ends(0)
	s.Has("", images{"web:1": 4})
	s.Run("rollout list").Ends(0, "no rollout is in progress")
}

// TestAbort_ThenRetry: an aborted rollout is taken up where it was.
func TestAbort_ThenRetry(t *testing.T) {
	s := web(t)
	s.Run("rollout run cloneset/web --steps 50%,100% --pause-after 50% --exit-on-pause" + image2).Ends(5)
	s.Run("rollout abort cloneset/web").Ends(0, "aborted")
	s.Run("rollout retry cloneset/web --exit-on-pause").Ends(5)
	s.Run("rollout promote cloneset/web").Ends(0)
	s.Has("", images{"web:2": 4})
}

// TestUndo_ToARevision: undo is a rollout to the revision before, or to one that is named.
func TestUndo_ToARevision(t *testing.T) {
	s := web(t)
	s.Run("rollout run cloneset/web" + image2).Ends(0)
	s.Run("rollout undo cloneset/web --dry-run=client --yes").Ends(0, "web:1")
	s.Has("", images{"web:2": 4})
	s.Run("rollout undo cloneset/web --yes --pull-images never").Ends(0)
	s.Has("", images{"web:1": 4})
	s.Run("rollout undo cloneset/web --to-revision 2 --yes --pull-images never").Ends(0)
	s.Has("", images{"web:2": 4})
	s.Run("rollout undo cloneset/web --to-revision 99 --yes").Ends(1)
}

// TestRun_FailsAndIsRetried: a check that fails ends the rollout with 3; when the service answers, retry finishes it.
func TestRun_FailsAndIsRetried(t *testing.T) {
	var works atomic.Bool
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if !works.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	t.Cleanup(service.Close)
	s := web(t)
	s.Run("rollout run cloneset/web --steps 1,100% --verify-url "+service.URL+image2).Ends(3, "503")
	s.Has("", images{"web:1": 3, "web:2": 1})
	s.Run("rollout status cloneset/web --watch=false").Ends(3, "failed")
	works.Store(true)
	s.Run("rollout retry cloneset/web").Ends(0)
	s.Has("", images{"web:2": 4})
}

// TestRun_FailureRollsBack: with --on-failure rollback the pods get what they had.
func TestRun_FailureRollsBack(t *testing.T) {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }))
	t.Cleanup(service.Close)
	s := web(t)
	s.Run("rollout run cloneset/web --steps 50%,100% --on-failure rollback --verify-url "+service.URL+image2).Ends(3, "rolled back")
	s.Has("", images{"web:1": 4})
}

// TestRun_RefusesWhatItCannotDo, before anything is written.
func TestRun_RefusesWhatItCannotDo(t *testing.T) {
	s := web(t)
	for args, want := range map[string]struct {
		code int
		said string
	}{
		"run cloneset/api" + image2:                  {1, "api"},
		"run cloneset/web --steps 50%,10% " + image2: {2, "50%"},
		"run cloneset/web --image side=x:1 --yes":    {2, "no container"},
		"run":                     {2, ""},
		"promote cloneset/web":    {1, "no rollout"},
		"resume cloneset/web":     {1, "is not paused"},
		"abort cloneset/web":      {1, "no rollout"},
		"retry cloneset/web":      {1, "no rollout"},
		"undo cloneset/web --yes": {1, "revision"},
		"run cloneset/web --image main=x:1 --pull-images no": {2, "pull"},
	} {
		if got := s.Run("rollout " + args); got.Code != want.code || !strings.Contains(got.Err, want.said) {
			t.Errorf("%s: exit %d, want %d with %q\n%s", args, got.Code, want.code, want.said, got.Err)
		}
	}
	s.Has("", images{"web:1": 4})
}
