package standin_test

import (
	"context"
	"maps"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	clientcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/test/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/standin"
)

// bed is a test's own namespace in the cluster that the stories share.
type bed struct {
	*cluster.Cluster

	namespace string
}

func newBed(t *testing.T) *bed {
	t.Helper()
	c, namespace := cluster.Shared(t, kruise.API(), standin.Controllers())
	return &bed{c, namespace}
}

// of is the client of a resource of Kruise's, in the bed's namespace.
func (b *bed) of(t *testing.T, resource string) dynamic.ResourceInterface {
	t.Helper()
	return b.everywhere(t, resource).Namespace(b.namespace)
}

// everywhere is the client of a resource without a namespace.
func (b *bed) everywhere(t *testing.T, resource string) dynamic.NamespaceableResourceInterface {
	t.Helper()
	client, err := dynamic.NewForConfig(b.Config())
	if err != nil {
		t.Fatal(err)
	}
	group := "apps.kruise.io"
	if resource == "podunavailablebudgets" {
		group = "policy.kruise.io"
	}
	return client.Resource(schema.GroupVersionResource{Group: group, Version: "v1beta1", Resource: resource})
}

// apply puts documents into the namespace.
func (b *bed) apply(t *testing.T, documents string) {
	t.Helper()
	b.Apply(t, b.namespace, documents)
}

// patch sends a merge patch, which must be accepted.
func (b *bed) patch(t *testing.T, resource, name, body string) {
	t.Helper()
	if _, err := b.of(t, resource).Patch(t.Context(), name, types.MergePatchType, []byte(body), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
}

// await waits until a status has these numbers, for the present generation.
func (b *bed) await(t *testing.T, client dynamic.ResourceInterface, name string, want map[string]int64) *unstructured.Unstructured {
	t.Helper()
	o, err := cluster.Await(t.Context(), client, name, func(_ watch.EventType, o *unstructured.Unstructured) bool {
		seen, _, _ := unstructured.NestedInt64(o.Object, "status", "observedGeneration")
		for field, n := range want {
			if got, _, _ := unstructured.NestedInt64(o.Object, "status", field); got != n {
				return false
			}
		}
		return seen == o.GetGeneration()
	})
	if err != nil {
		status, _, _ := unstructured.NestedMap(o.Object, "status")
		t.Fatalf("%v\n%v", err, status)
	}
	return o
}

// pods are those of the namespace with a label, by name.
func (b *bed) pods(t *testing.T, selector string) map[string]corev1.Pod {
	t.Helper()
	list, err := b.Client().CoreV1().Pods(b.namespace).List(t.Context(), metav1.ListOptions{LabelSelector: selector})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]corev1.Pod{}
	for _, p := range list.Items {
		if p.DeletionTimestamp == nil {
			out[p.Name] = p
		}
	}
	return out
}

// awaitPods waits until the pods with a label are as they should be.
func (b *bed) awaitPods(t *testing.T, selector string, holds func(map[string]corev1.Pod) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), cluster.Patience)
	defer cancel()
	pods := b.Client().CoreV1().Pods(b.namespace)
	for ctx.Err() == nil {
		if b.holds(ctx, t, pods, selector, holds) {
			return
		}
	}
	t.Fatalf("waiting for the pods of %s: %v", selector, ctx.Err())
}

// holds looks at the pods now and at each change, until the watch ends.
func (b *bed) holds(
	ctx context.Context, t *testing.T, client clientcorev1.PodInterface, selector string, holds func(map[string]corev1.Pod) bool,
) bool {
	t.Helper()
	changes, err := client.Watch(ctx, metav1.ListOptions{LabelSelector: selector})
	if err != nil {
		t.Fatal(err)
	}
	defer changes.Stop()
	for {
		if holds(b.pods(t, selector)) {
			return true
		}
		if _, ok := <-changes.ResultChan(); !ok {
			return false
		}
	}
}

// forget deletes an object without a namespace after the test.
func (b *bed) forget(t *testing.T, client dynamic.ResourceInterface, name string) {
	t.Helper()
	if err := client.Delete(context.Background(), name, metav1.DeleteOptions{}); err != nil {
		t.Error(err)
	}
}

// object is a document on its way to a client.
func object(t *testing.T, document string) *unstructured.Unstructured {
	t.Helper()
	out := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(document), &out.Object); err != nil {
		t.Fatal(err)
	}
	return out
}

func names(pods map[string]corev1.Pod) []string { return slices.Sorted(maps.Keys(pods)) }

// same counts the pods of before that are still there.
func same(before, after map[string]corev1.Pod) int {
	n := 0
	for name := range before {
		if before[name].UID == after[name].UID {
			n++
		}
	}
	return n
}

// running counts the pods in which a container runs an image.
func running(pods map[string]corev1.Pod, image string) int {
	n := 0
	for name := range pods {
		for _, s := range pods[name].Status.ContainerStatuses {
			if s.Image == image && s.State.Running != nil {
				n++
			}
		}
	}
	return n
}
