package standin_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const mesh1, mesh2 = "registry.example.com/mesh:1", "registry.example.com/mesh:2"

// TestSidecarSet_InjectsAndUpdatesInPlace injects into pods of a native Deployment, and updates the sidecar
// in place.
func TestSidecarSet_InjectsAndUpdatesInPlace(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	sets := b.everywhere(t, "sidecarsets")
	b.apply(t, `
apiVersion: apps.kruise.io/v1beta1
kind: SidecarSet
metadata: {name: `+b.namespace+`}
spec:
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: `+b.namespace+`}}
  selector: {matchLabels: {app: web}}
  updateStrategy: {maxUnavailable: 1}
  containers: [{name: mesh, image: "`+mesh1+`"}]
`)
	t.Cleanup(func() { b.forget(t, sets, b.namespace) })
	b.await(t, sets, b.namespace, nil)
	b.apply(t, `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: app, image: "`+web1+`"}]}
`)
	b.await(t, sets, b.namespace, map[string]int64{"matchedPods": 3, "updatedReadyPods": 3})
	before := b.pods(t, "app=web")
	if running(before, mesh1) != 3 {
		t.Fatalf("the sidecar runs in %d pods", running(before, mesh1))
	}
	for _, p := range before {
		if !strings.Contains(p.Annotations["kruise.io/sidecarset-hash"], b.namespace) || p.Annotations["kruise.io/sidecarset-injected-list"] != b.namespace {
			t.Errorf("annotations of a pod: %v", p.Annotations)
		}
	}
	body := `{"spec": {"containers": [{"name": "mesh", "image": "` + mesh2 + `"}]}}`
	if _, err := sets.Patch(t.Context(), b.namespace, types.MergePatchType, []byte(body), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	b.await(t, sets, b.namespace, map[string]int64{"updatedPods": 3, "updatedReadyPods": 3, "readyPods": 3})
	after := b.pods(t, "app=web")
	if same(before, after) != 3 || running(after, mesh2) != 3 || running(after, web1) != 3 {
		t.Errorf("%d pods stayed, %d run the new sidecar", same(before, after), running(after, mesh2))
	}
	list, err := b.Client().AppsV1().ControllerRevisions("kruise-system").List(t.Context(), metav1.ListOptions{LabelSelector: "kruise.io/sidecarset-name=" + b.namespace})
	if err != nil || len(list.Items) != 2 {
		t.Errorf("%d revisions, %v", len(list.Items), err)
	}
}
