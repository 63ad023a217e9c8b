package rollout_test

import (
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/story"
)

// run are the flags of a rollout of main's image to version 2, with the images taken to be everywhere.
const run = "rollout run cloneset/web --image main=registry.example.com/web:2 --pull-images never --yes"

type images = map[string]int

// TestRun_ToTheEnd: a new image comes to all pods in steps, and nothing of the rollout is left in the strategy.
func TestRun_ToTheEnd(t *testing.T) {
	s := story.Start(t, 4, story.CloneSet("web", "4", "web:1"))
	s.Run(run+" --steps 1,100%").Ends(0, "done")
	s.Has("", images{"web:2": 4})
	web := s.Object("CloneSet", "web")
	if n := story.Number(web, "spec", "updateStrategy", "partition"); n != 0 {
		t.Errorf("partition %d", n)
	}
	s.Run("rollout status cloneset/web --watch=false").Ends(0, "complete")
	s.Run("rollout list").Ends(0, "cloneset/web")
	s.Run("rollout history cloneset/web").Ends(0, "2")
	s.Run("rollout show cloneset/web").Ends(0, "web:2")
}
