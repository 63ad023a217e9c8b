package rollout

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/node/life"
	testcluster "github.com/kubectl-kruise/kubectl-kruise/test/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/standin"
)

// unitedKinds are the templates of a UnitedDeployment: the field, and what its workloads need.
var unitedKinds = map[string]string{
	"cloneSetTemplate":            "updateStrategy: {rollingUpdate: {podUpdatePolicy: InPlaceIfPossible, maxUnavailable: 2}}",
	"advancedStatefulSetTemplate": "serviceName: web",
	"statefulSetTemplate":         "serviceName: web",
	"deploymentTemplate":          "strategy: {rollingUpdate: {maxUnavailable: 1}}",
}

// unitedBed is a UnitedDeployment of one template in a cluster.
type unitedBed struct {
	*testcluster.Cluster

	namespace, field string
}

// replaced are further changes of the document, in pairs.
func newUnitedBed(t *testing.T, field string, replaced ...string) *unitedBed {
	t.Helper()
	c, namespace := testcluster.Shared(t, kruise.API(), standin.Controllers())
	changes := append([]string{"cloneSetTemplate", field, unitedKinds["cloneSetTemplate"], unitedKinds[field]}, replaced...)
	c.Apply(t, namespace, strings.NewReplacer(changes...).Replace(unitedWeb))
	await(t, c, namespace, 5)
	return &unitedBed{c, namespace, field}
}

func (b *unitedBed) call(t *testing.T, code int, args ...string) string {
	t.Helper()
	got, out, said := kubectl(t, b.Cluster, b.namespace, args...)
	if got != code {
		t.Fatalf("%s: exit %d, want %d\n%s\n%s", strings.Join(args, " "), got, code, out, said)
	}
	return out + said
}

// object is the client of the UnitedDeployment.
func (b *unitedBed) object(t *testing.T) dynamic.ResourceInterface {
	t.Helper()
	client, err := dynamic.NewForConfig(b.Config())
	must(t, err)
	return client.Resource(schema.GroupVersionResource{Group: kruiseGroup, Version: "v1beta1", Resource: "uniteddeployments"}).Namespace(b.namespace)
}

// has fails unless the ready pods of both subsets have an image, and nothing is left of a rollout.
func (b *unitedBed) has(t *testing.T, image string) {
	t.Helper()
	other := map[string]string{"1": "2", "2": "1"}[image]
	want := map[string]int{"zone-b " + image: 2, "zone-a " + image: 3, "zone-b " + other: 0, "zone-a " + other: 0}
	if got := images(t, b.Cluster, b.namespace, "apps.kruise.io/subset-name"); !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	u, err := b.object(t).Get(t.Context(), "web", metav1.GetOptions{})
	must(t, err)
	if p, _, _ := unstructured.NestedMap(u.Object, "spec", "updateStrategy", "manualUpdate", "partitions"); len(p) > 0 {
		t.Errorf("partitions are left: %v", p)
	}
	if a := u.GetAnnotations()["kubectl-kruise.dev/before-rollout"]; a != "" {
		t.Errorf("an annotation is left: %s", a)
	}
}

// reaches changes the image without a rollout, and waits until all pods have it.
func (b *unitedBed) reaches(t *testing.T, image string) {
	t.Helper()
	body := fmt.Sprintf(`{"spec": {"template": {%q: {"spec": {"template": {"spec": {"containers": [{"name": "main", "image": %q}]}}}}}}}`, b.field, image)
	_, err := b.object(t).Patch(t.Context(), "web", types.MergePatchType, []byte(body), metav1.PatchOptions{})
	must(t, err)
	now := map[types.UID]corev1.Pod{}
	_, err = testcluster.Await(t.Context(), b.Client().CoreV1().Pods(b.namespace), "", func(what watch.EventType, p *corev1.Pod) bool {
		if now[p.UID] = *p; what == watch.Deleted || p.DeletionTimestamp != nil {
			delete(now, p.UID)
		}
		n := 0
		for _, p := range now {
			n += running([]corev1.Pod{p}, image)
		}
		return n == 5 && len(now) == 5
	})
	must(t, err)
}

// TestUnited_LaterChangesReachAllSubsets: after a rollout to the end, undo and rollback the strategy is the
// manifest's, so that the next change comes to every subset.
func TestUnited_LaterChangesReachAllSubsets(t *testing.T) {
	for field := range unitedKinds {
		t.Run(field, func(t *testing.T) {
			t.Parallel()
			b := newUnitedBed(t, field)
			run := []string{"rollout", "run", "ud/web", "--image", "main=" + web2, "--pull-images", "never", "--yes"}
			b.call(t, 0, run...)
			b.has(t, "2")
			b.call(t, 0, "rollout", "undo", "ud/web", "--yes")
			b.has(t, "1")
			b.reaches(t, web2)
			b.call(t, 0, "rollout", "undo", "ud/web", "--yes")
			b.has(t, "1")
		})
	}
}

// TestUnited_AbortRollsBackAllSubsets: a subset that is done is rolled back with the one whose turn it is; abort
// alone says what it leaves.
func TestUnited_AbortRollsBackAllSubsets(t *testing.T) {
	for field := range unitedKinds {
		if field == "deploymentTemplate" {
			continue // nothing holds its subsets back
		}
		t.Run(field, func(t *testing.T) {
			t.Parallel()
			b := newUnitedBed(t, field)
			run := []string{"rollout", "run", "ud/web", "--pull-images", "never", "--yes", "--steps", "50%,100%", "--pause-after", "50%", "--exit-on-pause"}
			b.call(t, 5, append(run, "--image", "main="+web2)...)
			b.call(t, 0, "rollout", "promote", "ud/web", "--yes")
			b.call(t, 5, run...)
			if out := b.call(t, 0, "rollout", "abort", "ud/web"); !strings.Contains(out, "subset zone-a: ") || !strings.Contains(out, "rollout abort uniteddeployment/web --rollback") {
				t.Errorf("it does not say what it leaves:\n%s", out)
			}
			b.call(t, 0, "rollout", "abort", "ud/web", "--rollback", "--yes")
			b.has(t, "1")
			b.reaches(t, web2)
		})
	}
}

// TestUnited_AFailureRollsBackAllSubsets: what fails in the second subset takes the first one back, too.
func TestUnited_AFailureRollsBackAllSubsets(t *testing.T) {
	for field := range unitedKinds {
		if field == "deploymentTemplate" {
			continue // it has no steps that could ask
		}
		t.Run(field, func(t *testing.T) {
			t.Parallel()
			b := newUnitedBed(t, field)
			asked := t.TempDir() + "/asked"
			ask := "test -e " + asked + " && exit 1; touch " + asked
			b.call(t, 3, "rollout", "run", "ud/web", "--image", "main="+web2, "--pull-images", "never", "--yes", "--steps", "100%", "--verify-command", ask, "--on-failure", "rollback")
			b.has(t, "1")
			b.reaches(t, web2)
		})
	}
}

// TestUnited_ADeploymentIsRolledBack: its subsets are updated at once, and go back at once.
func TestUnited_ADeploymentIsRolledBack(t *testing.T) {
	t.Parallel()
	b := newUnitedBed(t, "deploymentTemplate", "          metadata: {labels: {app: web}}", "          metadata: {labels: {app: web}, annotations: {"+life.ReadyDelayAnnotation+": 4s}}")
	b.call(t, 4, "rollout", "run", "ud/web", "--image", "main="+web2, "--pull-images", "never", "--yes", "--timeout", "3s")
	b.call(t, 0, "rollout", "abort", "ud/web", "--rollback", "--yes")
	b.has(t, "1")
}
