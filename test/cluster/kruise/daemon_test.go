package kruise_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-kruise/kubectl-kruise/test/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/kruise"
)

func TestDaemon_ServesItsKinds(t *testing.T) {
	c := cluster.Start(t, kruise.API())
	client, err := dynamic.NewForConfig(c.Config())
	if err != nil {
		t.Fatal(err)
	}
	resource := func(name string) dynamic.NamespaceableResourceInterface {
		return client.Resource(schema.GroupVersionResource{Group: "apps.kruise.io", Version: "v1beta1", Resource: name})
	}
	t.Run("recreate", func(t *testing.T) { recreate(t, c, resource("containerrecreaterequests")) })
	t.Run("pull", func(t *testing.T) { pull(t, c, resource("nodeimages")) })
}

func recreate(t *testing.T, c *cluster.Cluster, requests dynamic.NamespaceableResourceInterface) {
	t.Helper()
	c.Apply(t, "default", `
apiVersion: v1
kind: Pod
metadata: {name: web, annotations: {lab.test/kill-fails: stuck}}
spec:
  containers:
  - {name: app, image: "registry.example.com/app:1"}
  - {name: stuck, image: "registry.example.com/stuck:1"}
  - {name: other, image: "registry.example.com/other:1"}
`)
	pod := awaitPod(t, c, func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning })
	context := func(i int) string {
		return fmt.Sprintf("{containerID: %q, restartCount: 0}", pod.Status.ContainerStatuses[i].ContainerID)
	}
	c.Apply(t, "default", fmt.Sprintf(`
apiVersion: apps.kruise.io/v1beta1
kind: ContainerRecreateRequest
metadata: {name: restart, labels: {crr.apps.kruise.io/node-name: %s, crr.apps.kruise.io/active: "true"}}
spec:
  podName: web
  strategy: {failurePolicy: Fail, orderedRecreate: true}
  containers:
  - {name: app, statusContext: %s}
  - {name: stuck, statusContext: %s}
  - {name: other, statusContext: %s}
`, pod.Spec.NodeName, context(0), context(1), context(2)))
	crr, err := cluster.Await(t.Context(), requests.Namespace("default"), "restart", func(_ watch.EventType, u *unstructured.Unstructured) bool {
		phase, _, _ := unstructured.NestedString(u.Object, "status", "phase")
		return phase == "Completed"
	})
	if err != nil {
		t.Fatal(err)
	}
	states, _, _ := unstructured.NestedSlice(crr.Object, "status", "containerRecreateStates")
	want := "[map[isKilled:true name:app phase:Succeeded] map[message:kill container error: lab name:stuck phase:Failed] map[name:other phase:Pending]]"
	if got := fmt.Sprint(states); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	awaitPod(t, c, func(p *corev1.Pod) bool {
		s := p.Status.ContainerStatuses
		return s[0].RestartCount == 1 && s[1].RestartCount == 0 && s[2].RestartCount == 0
	})
}

func awaitPod(t *testing.T, c *cluster.Cluster, holds func(*corev1.Pod) bool) *corev1.Pod {
	t.Helper()
	pod, err := cluster.Await(t.Context(), c.Client().CoreV1().Pods("default"), "web",
		func(_ watch.EventType, p *corev1.Pod) bool { return holds(p) })
	if err != nil {
		t.Fatal(err)
	}
	return pod
}

func pull(t *testing.T, c *cluster.Cluster, images dynamic.NamespaceableResourceInterface) {
	t.Helper()
	c.Apply(t, "default", `
apiVersion: apps.kruise.io/v1beta1
kind: NodeImage
metadata: {name: node-0}
spec:
  images:
    registry.example.com/app: {tags: [{tag: "1", version: 1}, {tag: "2", version: 1}]}
    bad.lab/app: {tags: [{tag: "1", version: 1}]}
`)
	n, err := cluster.Await(t.Context(), images, "node-0", func(_ watch.EventType, u *unstructured.Unstructured) bool {
		succeeded, _, _ := unstructured.NestedInt64(u.Object, "status", "succeeded")
		failed, _, _ := unstructured.NestedInt64(u.Object, "status", "failed")
		return succeeded == 2 && failed == 1
	})
	if err != nil {
		t.Fatalf("%v\n%v", err, n)
	}
	if len(c.Nodes.Images("node-0").List(n.GetCreationTimestamp().AddDate(1, 0, 0))) < 2 {
		t.Error("the node has no images")
	}
}
