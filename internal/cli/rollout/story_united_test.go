package rollout_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/node/life"
	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/story"
)

// unitedKinds are the templates of a UnitedDeployment: the field, and what its workloads need.
var unitedKinds = map[string]string{
	"cloneSetTemplate":            "updateStrategy: {rollingUpdate: {podUpdatePolicy: InPlaceIfPossible, maxUnavailable: 2}}",
	"advancedStatefulSetTemplate": "serviceName: web",
	"statefulSetTemplate":         "serviceName: web",
	"deploymentTemplate":          "strategy: {rollingUpdate: {maxUnavailable: 1}}",
}

// unitedOf is united with another template; replaced are further changes, in pairs.
func unitedOf(t *testing.T, field string, replaced ...string) *story.Story {
	t.Helper()
	changes := append([]string{"cloneSetTemplate", field, unitedKinds["cloneSetTemplate"], unitedKinds[field]}, replaced...)
	return story.Start(t, 5, strings.NewReplacer(changes...).Replace(united))
}

// rests fails unless the pods of both subsets have an image, and nothing is left of a rollout.
func rests(s *story.Story, image string) {
	s.Helper()
	s.Has(subset, images{"zone-b web:" + image: 2, "zone-a web:" + image: 3})
	noneLeft(s)
	if a := s.Object("UnitedDeployment", "web").GetAnnotations()["kubectl-kruise.dev/before-rollout"]; a != "" {
		s.Errorf("an annotation is left: %s", a)
	}
}

// follows changes the image without a rollout, which all pods have to follow.
func follows(s *story.Story, field, image string) {
	s.Helper()
	body := fmt.Sprintf(`{"spec": {"template": {%q: {"spec": {"template": {"spec": {"containers": [{"name": "main", "image": "registry.example.com/web:%s"}]}}}}}}}`, field, image)
	u := s.Dynamic.Resource(schema.GroupVersionResource{Group: "apps.kruise.io", Version: "v1beta1", Resource: "uniteddeployments"}).Namespace(story.Namespace)
	if _, err := u.Patch(s.Context(), "web", types.MergePatchType, []byte(body), metav1.PatchOptions{}); err != nil {
		s.Fatal(err)
	}
	s.Reaches(subset, images{"zone-b web:" + image: 2, "zone-a web:" + image: 3})
}

// TestUnited_LaterChangesReachAllSubsets: after a rollout to the end, undo and rollback the strategy is the manifest's,
// so that the next change comes to every subset.
func TestUnited_LaterChangesReachAllSubsets(t *testing.T) {
	t.Parallel()
	for field := range unitedKinds {
		t.Run(field, func(t *testing.T) {
			s := unitedOf(t, field)
			s.Run("rollout run ud/web" + image2).Ends(0)
			rests(s, "2")
			s.Run("rollout undo ud/web --yes").Ends(0)
			rests(s, "1")
			follows(s, field, "2")
			s.Run("rollout undo ud/web --yes").Ends(0)
			rests(s, "1")
		})
	}
}

// TestUnited_AbortRollsBackAllSubsets: a subset that is done is rolled back with the one whose turn it is; abort alone
// says what it leaves.
func TestUnited_AbortRollsBackAllSubsets(t *testing.T) {
	t.Parallel()
	for field := range unitedKinds {
		if field == "deploymentTemplate" {
			continue // nothing holds its subsets back
		}
		t.Run(field, func(t *testing.T) {
			s := unitedOf(t, field)
			run := "rollout run ud/web --pull-images never --yes --steps 50%,100% --pause-after 50% --exit-on-pause"
			r := s.Run(run+" --image main=registry.example.com/web:2").Ends(5, "pending")
			if got := s.Images(subset); got["zone-b web:2"] != 1 || got["zone-a web:2"] != 0 {
				t.Errorf("%v\n%s", got, r.Err)
			}
			if r := s.Run("rollout list").Ends(0); strings.Count(r.Out, "uniteddeployment/web") != 1 || strings.Count(r.Out, "\n") != 2 {
				t.Errorf("one subset is rolled out, and is named as such:\n%s", r.Out)
			}
			s.Run(run+" --success-on paused").Ends(0, "pending")
			s.Run("rollout promote ud/web --yes").Ends(0)
			s.Run(run).Ends(5)
			s.Run("rollout abort ud/web").Ends(0, "subset zone-a: ", "rollout abort uniteddeployment/web --rollback")
			s.Run("rollout abort ud/web --rollback --yes --dry-run=client").Ends(0, "PATCH")
			s.Run("rollout abort ud/web --rollback --yes").Ends(0)
			rests(s, "1")
			follows(s, field, "2")
		})
	}
}

// TestUnited_AFailureRollsBackAllSubsets: what fails in the second subset takes the first one back, too.
func TestUnited_AFailureRollsBackAllSubsets(t *testing.T) {
	t.Parallel()
	for field := range unitedKinds {
		if field == "deploymentTemplate" {
			continue // it has no steps that could ask
		}
		t.Run(field, func(t *testing.T) {
			var asked atomic.Int32
			service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if asked.Add(1) > 1 {
					w.WriteHeader(http.StatusServiceUnavailable)
				}
			}))
			t.Cleanup(service.Close)
			s := unitedOf(t, field)
			s.Run("rollout run ud/web --steps 100% --on-failure rollback --verify-url " + service.URL + image2).Ends(3)
			if asked.Load() < 2 {
				t.Error("it did not come to the second subset")
			}
			rests(s, "1")
			follows(s, field, "2")
		})
	}
}

// TestUnited_ADeploymentIsRolledBack: its subsets are updated at once, and go back at once.
func TestUnited_ADeploymentIsRolledBack(t *testing.T) {
	s := unitedOf(t, "deploymentTemplate", "          metadata: {labels: {app: web}}", "          metadata: {labels: {app: web}, annotations: {"+life.ReadyDelayAnnotation+": 3s}}")
	r := s.Begin("rollout run ud/web" + image2)
	s.Await(s.T, "the template is written", func() bool {
		return s.Object("UnitedDeployment", "web").GetAnnotations()["kubectl-kruise.dev/before-rollout"] != ""
	})
	r.Interrupt()
	r.End().Ends(130)
	s.Run("rollout abort ud/web --rollback --yes").Ends(0)
	rests(s, "1")
}

// TestDefectUnitedDeployment_WorksInEveryVerb: a UnitedDeployment means the workloads of its subsets in every verb; what changes its
// template is written there, and subsets take turns.
func TestDefectUnitedDeployment_WorksInEveryVerb(t *testing.T) {
	s := story.Start(t, 5, united)
	s.Run("rollout promote ud/web").Ends(1, "no rollout of its subsets is in progress")
	const change = " ud/web --image main=registry.example.com/web:2 --pull-images never --steps 50%,100% --pause-after 50%"
	for _, command := range []string{"plan" + change, "rollout run" + change + " --exit-on-pause --yes"} {
		r := s.Run(command)
		for _, want := range []string{"cloneset/web-zone-b-", "cloneset/web-zone-a-", "main restarts inside the pod", "+ registry.example.com/web:2"} {
			if !strings.Contains(r.Out+r.Err, want) || strings.Contains(r.Out+r.Err, "the pods stay as they are") {
				t.Errorf("%s: no %q, or pods stay as they are, in\n%s%s", command, want, r.Out, r.Err)
			}
		}
	}
	if r := s.Run("rollout status uniteddeployment/web").Ends(0); strings.Count(r.Out+r.Err, "cloneset/web-zone-") != 2 {
		t.Errorf("status:\n%s%s", r.Out, r.Err)
	}
	s.Run("rollout pause ud/web").Ends(0, "paused")
	s.Run("rollout resume uniteddeployment web --no-wait").Ends(0)
	s.Run("rollout promote ud/web").Ends(0)
	s.Has(subset, images{"zone-b web:2": 2, "zone-a web:1": 3})
	s.Run("rollout run ud/web --pull-images never --yes").Ends(0)
	s.Run("rollout history ud/web").Ends(0, "web-zone-a-", "web-zone-b-")
	one := s.Pod()
	s.Run("rollout run cloneset/"+one.OwnerReferences[0].Name+" --yes --image main=registry.example.com/web:1").Ends(1, "is a subset of UnitedDeployment web")
	before := map[types.UID]bool{}
	for _, p := range s.Pods(t, story.Namespace) {
		before[p.UID] = true
	}
	if r := s.Run("rollout restart ud/web --yes").Ends(0); strings.Count(r.Out+r.Err, "restarted") != 2 {
		t.Errorf("restart:\n%s%s", r.Out, r.Err)
	}
	for _, p := range s.Pods(t, story.Namespace) {
		if before[p.UID] {
			t.Errorf("pod %s was not recreated", p.Name)
		}
	}
	r := s.Run("rollout undo ud/web --to-revision 1 --dry-run=client -o name").Ends(0, "uniteddeployments/web", "its subsets one after the other: zone-b, zone-a", "update 1 more pod: 2 of 2")
	if strings.Count(r.Out, "cloneset.apps.kruise.io/web-zone-") != 2 {
		t.Errorf("undo --dry-run prints the workloads that it changes:\n%s", r.Out)
	}
	s.Run("rollout undo ud/web --to-revision 1 --dry-run=server").Ends(0, "uniteddeployments/web")
	s.Run("rollout undo ud/web --to-revision 1 --yes").Ends(0)
	rests(s, "1")
	s.Run("rollout undo ud/web --to-revision 9 --yes").Ends(1, "no revision 9")
}

// TestUnited_KeepsItsPartitions: pods that a partition of the user's keeps stay at a rollout, and no partition keeps pods
// from going back.
func TestUnited_KeepsItsPartitions(t *testing.T) {
	s := story.Start(t, 5, united+"  updateStrategy: {type: Manual, manualUpdate: {partitions: {zone-a: 1}}}\n")
	s.Run("rollout run ud/web" + image2).Ends(0)
	s.Has(subset, images{"zone-b web:2": 2, "zone-a web:2": 2, "zone-a web:1": 1})
	s.Run("rollout undo ud/web --yes --pull-images never").Ends(0)
	s.Has(subset, images{"zone-b web:1": 2, "zone-a web:1": 3})
	if r := s.Run("rollout run ud/web --image main=registry.example.com/web:1 --yes -o json").Ends(0, "web-zone-b-", "web-zone-a-"); r.Out != "" {
		t.Errorf("what has nothing to roll out is among the events of a program:\n%s", r.Out)
	}
}
