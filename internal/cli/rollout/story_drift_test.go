package rollout_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/story"
)

// intrudes changes the CloneSet web as another program.
func intrudes(s *story.Story, patch string) {
	s.Helper()
	_, err := clones(s).Patch(s.Context(), "web", types.MergePatchType, []byte(patch), metav1.PatchOptions{FieldManager: "intruder"})
	if err != nil {
		s.Fatal(err)
	}
}

func clones(s *story.Story) dynamic.ResourceInterface {
	return s.Dynamic.Resource(schema.GroupVersionResource{Group: "apps.kruise.io", Version: "v1beta1", Resource: "clonesets"}).Namespace(story.Namespace)
}

const otherTemplate = `{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"registry.example.com/web:3"}]}}}}`

// TestRun_FailsWhenOthersChangeTheWorkload: a change by another program fails the rollout, with what it was and by
// whom; so does a workload that is deleted, or deleted and made again.
func TestRun_FailsWhenOthersChangeTheWorkload(t *testing.T) {
	t.Parallel()
	deleted := func(s *story.Story) {
		if err := clones(s).Delete(s.Context(), "web", metav1.DeleteOptions{}); err != nil {
			s.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		does   func(*story.Story)
		reason []string
	}{
		"template":  {func(s *story.Story) { intrudes(s, otherTemplate) }, []string{"template", "intruder"}},
		"partition": {func(s *story.Story) { intrudes(s, `{"spec":{"updateStrategy":{"rollingUpdate":{"partition":0}}}}`) }, []string{"partition", "intruder"}},
		"paused":    {func(s *story.Story) { intrudes(s, `{"spec":{"updateStrategy":{"rollingUpdate":{"paused":true}}}}`) }, []string{"paused", "intruder"}},
		"deleted":   {deleted, []string{"the object is gone"}},
		"made again": {func(s *story.Story) {
			deleted(s)
			s.Apply(s.T, story.Namespace, story.CloneSet("web", "4", "web:1"))
		}, []string{"was deleted and created again"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := web(t)
			run := s.Begin("rollout run cloneset/web --steps 1,100% --pause-after 1" + image2)
			s.Await(t, "the rollout is at its pause", func() bool {
				return strings.Contains(s.Run("rollout status cloneset/web --watch=false").Out, "promote")
			})
			c.does(s)
			run.End().Ends(3, c.reason...)
		})
	}
}

// TestPlanFile_ForAnotherTemplateWritesNothing: a plan that was made before another program changed the template is
// refused, and nothing is written.
func TestPlanFile_ForAnotherTemplateWritesNothing(t *testing.T) {
	s := web(t)
	file := s.File("plan.yaml", "")
	s.Run("plan cloneset/web --image main=registry.example.com/web:2 --pull-images never --out " + file).Ends(0)
	intrudes(s, otherTemplate)
	s.Reaches("", images{"web:3": 4})
	before := s.Object("CloneSet", "web").GetGeneration()
	s.Run("rollout apply "+file+" --yes").Ends(1, "template")
	if after := s.Object("CloneSet", "web").GetGeneration(); after != before {
		t.Errorf("generation %d, was %d", after, before)
	}
}
