package rollout_test

import (
	"context"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/story"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
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
// whom; so does a workload that is deleted.
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

// TestResume_OfAWorkloadThatWasMadeAgain: what has the name of the workload of a rollout, and is another, is left alone.
func TestResume_OfAWorkloadThatWasMadeAgain(t *testing.T) {
	s := web(t)
	c := opened(s)
	p := begins(s, c, plans("web:2", true))
	c.Close()
	if err := clones(s).Delete(t.Context(), "web", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	s.Apply(t, story.Namespace, story.CloneSet("web", "4", "web:1"))
	s.Reaches("", images{"web:1": 4})
	res, err := apply.Run(t.Context(), opened(s), webRef, p, apply.Options{})
	if err != nil || res.Outcome != event.Failed || !strings.Contains(res.Reason, "was deleted and created again") {
		t.Errorf("%s: %s, %v", res.Outcome, res.Reason, err)
	}
	s.Has("", images{"web:1": 4})
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

// vanishing deletes the workload, and with it the record, right before progress is recorded for the second time.
type vanishing struct {
	apply.Cluster

	s     *story.Story
	turns int
}

// Record keeps progress of what may be gone.
func (v *vanishing) Record(ctx context.Context, w cluster.Ref, since string, p plan.Progress) error {
	if v.turns++; v.turns == 2 {
		if err := clones(v.s).Delete(ctx, "web", metav1.DeleteOptions{}); err != nil {
			return err
		}
		maps := v.s.Client.CoreV1().ConfigMaps(story.Namespace)
		v.s.Await(v.s.T, "the record is gone", func() bool {
			_, err := maps.Get(ctx, "rollout.cloneset.web", metav1.GetOptions{})
			return apierrors.IsNotFound(err)
		})
	}
	return v.Cluster.Record(ctx, w, since, p)
}

// TestRun_RecordGoesWithTheWorkload: a record that is not found any more is not the reason why a rollout fails, if its
// workload is gone.
func TestRun_RecordGoesWithTheWorkload(t *testing.T) {
	s := web(t)
	c := opened(s)
	p := begins(s, c, plans("web:2", true))
	res, err := apply.Run(t.Context(), &vanishing{Cluster: c, s: s}, webRef, p, apply.Options{})
	if err != nil || res.Outcome != event.Failed || !strings.Contains(res.Reason, "the object is gone") {
		t.Errorf("%s: %s, %v", res.Outcome, res.Reason, err)
	}
}
