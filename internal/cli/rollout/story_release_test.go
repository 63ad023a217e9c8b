package rollout_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/story"
)

// release is a CloneSet, all pods of which its Kruise Rollout holds back, and what plays the Rollout's webhook and controller.
type release struct {
	*story.Story
}

const heldBack = `  updateStrategy: {rollingUpdate: {partition: "100%"}}`

func newRelease(t *testing.T) *release {
	t.Helper()
	s := &release{story.Start(t, 3, kind("apps.kruise.io/v1beta1", "CloneSet", "replicas: 3\n"+heldBack))}
	s.Apply(t, story.Namespace, `
apiVersion: rollouts.kruise.io/v1beta1
kind: Rollout
metadata: {name: web}
spec:
  workloadRef: {apiVersion: apps.kruise.io/v1beta1, kind: CloneSet, name: web}
  strategy: {canary: {steps: [{replicas: 1}, {replicas: 100%, pause: {duration: 60}}]}}
`)
	s.stands("Healthy", "Completed", "")
	return s
}

func (s *release) patch(group, plural string, kind types.PatchType, body string, sub ...string) {
	s.Helper()
	r := s.Dynamic.Resource(schema.GroupVersionResource{Group: group, Version: "v1beta1", Resource: plural}).Namespace(story.Namespace)
	if _, err := r.Patch(s.Context(), "web", kind, []byte(body), metav1.PatchOptions{}, sub...); err != nil {
		s.Fatal(err)
	}
}

// begins is what the webhook and the controller make of a new template.
func (s *release) begins() {
	s.Helper()
	s.patch("apps.kruise.io", "clonesets", types.MergePatchType, `{"metadata": {"annotations": {"rollouts.kruise.io/in-progressing": "{}"}}}`)
	s.stands("Progressing", "StepPaused", "")
}

// stands is the Rollout's status.
func (s *release) stands(phase, state, more string) {
	s.Helper()
	s.patch("rollouts.kruise.io", "rollouts", types.MergePatchType, fmt.Sprintf(`{"status": {"observedGeneration": %d, "phase": "`, s.rollout().GetGeneration())+phase+`"`+more+`, "canaryStatus": {"currentStepIndex": 1, "currentStepState": "`+state+`"}}}`, "status")
}

// holds fails unless the partition is the Rollout's, and the template has an image.
func (s *release) holds(image string) {
	s.Helper()
	u := s.Object("CloneSet", "web")
	p, _, _ := unstructured.NestedString(u.Object, "spec", "updateStrategy", "rollingUpdate", "partition")
	list, _, _ := unstructured.NestedSlice(u.Object, "spec", "template", "spec", "containers")
	if got := list[0].(map[string]any)["image"]; p != "100%" || got != "registry.example.com/"+image {
		s.Errorf("partition %s, image %s, want %s", p, got, image)
	}
}

// TestRelease_GetsTheTemplateAlone: the workload of a Kruise Rollout gets its new template, and the Rollout makes the
// steps; the command follows it to a pause, and a second one to the end.
func TestRelease_GetsTheTemplateAlone(t *testing.T) {
	s := newRelease(t)
	s.Run("rollout run cloneset/web --dry-run=client"+image2).Ends(0, "PATCH", "the template, which its Rollout rolls out")
	s.Run("rollout run cloneset/web --dry-run=server"+image2).Ends(0, "web:2")
	s.Run("rollout run cloneset/web --image main=registry.example.com/web:1 --yes").Ends(0, "nothing to roll out")
	s.Run("rollout run cloneset/web --detach --runner-image registry.example.com/kubectl-kruise:v9"+image2).Ends(2, "no Job is needed")
	s.Run("rollout run cloneset/web --image main=registry.example.com/web:2").Ends(2, "cannot ask for confirmation")
	s.holds("web:1")
	s.Run("rollout run cloneset/web"+image2).Ends(0, "did not pick up the change")
	s.holds("web:2")
	s.Admit(func(_ context.Context, r *admissionv1.AdmissionRequest) ([]byte, error) {
		if r.Resource.Resource != "clonesets" || r.SubResource != "" || !strings.Contains(string(r.Object.Raw), "web:3") {
			return nil, nil
		}
		s.stands("Progressing", "StepPaused", "")
		return []byte(`[{"op": "add", "path": "/metadata/annotations", "value": {"rollouts.kruise.io/in-progressing": "{}"}}]`), nil
	})
	s.Run("rollout run cloneset/web --exit-on-pause --image main=registry.example.com/web:3 --yes").Ends(5, "in its own steps: 1, 100%", "Only the template is written here")
	s.holds("web:3")
}

// TestRelease_IsSteeredThroughItsRollout: approved, paused, resumed and taken back through that, and no partition of
// the workload is touched.
func TestRelease_IsSteeredThroughItsRollout(t *testing.T) {
	s := newRelease(t)
	s.patch("apps.kruise.io", "clonesets", types.JSONPatchType, `[{"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": "registry.example.com/web:2"}]`)
	s.begins()
	const other = " --image main=registry.example.com/web:3 --yes"
	s.Run("rollout run cloneset/web"+other).Ends(1, "controlled by Kruise Rollout web: step 1 of 2")
	s.Run("rollout status cloneset/web --watch=false").Ends(0, "step 1 of 2", "kubectl kruise rollout approve rollout/web")
	s.Run("rollout status rollout/web --watch=false -o json").Ends(0, `"waitsForApproval": true`, `"until approved"`, `"1m0s"`)
	s.Run("rollout list").Ends(0)
	s.Run("rollout pause rollout/web --dry-run=client").Ends(0, "(dry run)")
	s.Run("rollout pause rollout/web").Ends(0, "paused")
	if paused, _, _ := unstructured.NestedBool(s.rollout().Object, "spec", "strategy", "paused"); !paused {
		t.Error("the Rollout is not paused")
	}
	s.Run("rollout resume rollout/web").Ends(0, "resumed")
	if paused, _, _ := unstructured.NestedBool(s.rollout().Object, "spec", "strategy", "paused"); paused {
		t.Error("the Rollout is still paused")
	}
	s.Run("rollout approve nothing").Ends(1, "check the name and -n")
	s.Run("rollout approve cloneset/web --dry-run=server").Ends(0, "(server dry run)")
	s.Run("rollout approve web -o name").Ends(0, "rollout")
	if state, _, _ := unstructured.NestedString(s.rollout().Object, "status", "canaryStatus", "currentStepState"); state != "StepReady" {
		t.Errorf("state %s", state)
	}
	s.Run("rollout undo rollout/web --yes --timeout 1s").Ends(4, "Only the template is written here")
	s.holds("web:1")
	watching := s.Begin("rollout status rollout/web --watch")
	s.stands("Healthy", "Completed", `, "conditions": [{"type": "Succeeded", "status": "False"}]`)
	watching.End().Ends(3, "rolled back")
	s.Run("rollout status cloneset/web --watch=false").Ends(3, "rolled back")
}

func (s *release) rollout() *unstructured.Unstructured {
	s.Helper()
	return s.Get(s.T, schema.GroupVersionResource{Group: "rollouts.kruise.io", Version: "v1beta1", Resource: "rollouts"}, story.Namespace, "web")
}

// TestApprove_PromotesWithoutARollout: of a workload that no Kruise Rollout has in hand, it is promote.
func TestApprove_PromotesWithoutARollout(t *testing.T) {
	s := web(t)
	s.Run("rollout run cloneset/web --steps 1,100% --pause-after 1 --exit-on-pause" + image2).Ends(5)
	s.Run("rollout approve cloneset/web -o yaml").Ends(2, "prints such objects")
	s.Run("rollout approve cloneset/web --dry-run=client").Ends(0, "dry run")
	s.Has("", images{"web:1": 3, "web:2": 1})
	s.Run("rollout approve cloneset/web").Ends(0)
	s.Has("", images{"web:2": 4})
}
