package scale

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kruise/kubectl-kruise/test/cluster"
)

var cloneSets = schema.GroupVersionResource{Group: "apps.kruise.io", Version: "v1beta1", Resource: "clonesets"}

// atOnce is how many objects are made at the same time.
const atOnce = 16

// movingEvery is how many workloads there are for each that its controller has yet to
// look at.
const movingEvery = 50

const hash = "6d5f8c9b7d"

// filler makes objects that no controller cares for: pods of their own scheduler, with
// the status that a kubelet would have written.
type filler struct {
	core  kubernetes.Interface
	other dynamic.Interface
}

// fill makes all objects, a few at a time. Controllers would only get in its way.
func fill(t *testing.T, c *cluster.Cluster) {
	t.Helper()
	for _, part := range []cluster.Component{cluster.ControllerManager, cluster.Scheduler} {
		if err := c.Stop(t.Context(), part); err != nil {
			t.Fatal(err)
		}
	}
	config := cluster.Unlimited(c.Config())
	typed := rest.CopyConfig(config)
	typed.ContentType = runtime.ContentTypeProtobuf
	f := filler{kubernetes.NewForConfigOrDie(typed), dynamic.NewForConfigOrDie(config)}
	each(t, *namespaces, f.namespace)
	each(t, *workloads, f.workload)
}

// each calls one for 0 to n-1, several at a time, and fails the test with the first
// error.
func each(t *testing.T, n int, one func(ctx context.Context, i int) error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	next := numbers(ctx, n)
	var all sync.WaitGroup
	for range atOnce {
		all.Go(func() {
			for i := range next {
				if err := one(ctx, i); err != nil {
					t.Error(err)
					cancel()
					return
				}
			}
		})
	}
	if all.Wait(); t.Failed() {
		t.FailNow()
	}
}

func numbers(ctx context.Context, n int) <-chan int {
	out := make(chan int)
	go func() {
		defer close(out)
		for i := range n {
			select {
			case out <- i:
			case <-ctx.Done():
				return
			}
		}
	}()
	return out
}

func namespaceOf(i int) string { return fmt.Sprintf("team-%d", i%*namespaces) }

func (f filler) namespace(ctx context.Context, i int) error {
	name := namespaceOf(i)
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"team": name}}}
	if _, err := f.core.CoreV1().Namespaces().Create(ctx, ns, metav1.CreateOptions{}); err != nil {
		return err
	}
	// Pods need it, and its controller may be late.
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	if _, err := f.core.CoreV1().ServiceAccounts(name).Create(ctx, account, metav1.CreateOptions{}); !apierrors.IsAlreadyExists(err) {
		return err
	}
	return nil
}

// workload makes a CloneSet at rest, its revision and its pods.
func (f filler) workload(ctx context.Context, i int) error {
	name, namespace := fmt.Sprintf("web-%d", i), namespaceOf(i)
	replicas := int64(*pods / *workloads)
	template := templateOf(name)
	set := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apps.kruise.io/v1beta1", "kind": "CloneSet", "metadata": map[string]any{"name": name},
		"spec": map[string]any{
			"replicas": replicas, "selector": map[string]any{"matchLabels": map[string]any{"app": name}}, "template": template,
			"updateStrategy": map[string]any{"podUpdatePolicy": "InPlaceIfPossible"},
		},
	}}
	set, err := f.other.Resource(cloneSets).Namespace(namespace).Create(ctx, set, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	revision, seen := name+"-"+hash, set.GetGeneration()
	if i%movingEvery == 0 {
		seen--
	}
	_ = unstructured.SetNestedMap(set.Object, map[string]any{
		"observedGeneration": seen, "replicas": replicas, "readyReplicas": replicas, "availableReplicas": replicas, "updatedReplicas": replicas,
		"updatedReadyReplicas": replicas, "updatedAvailableReplicas": replicas, "expectedUpdatedReplicas": replicas, "currentRevision": revision, "updateRevision": revision, "labelSelector": "app=" + name,
	}, "status")
	if set, err = f.other.Resource(cloneSets).Namespace(namespace).UpdateStatus(ctx, set, metav1.UpdateOptions{}); err != nil {
		return err
	}
	owner := *metav1.NewControllerRef(set, set.GroupVersionKind())
	if err := f.revision(ctx, namespace, revision, owner, template); err != nil {
		return err
	}
	for n := range replicas {
		if err := f.pod(ctx, namespace, fmt.Sprintf("%s-%05d", name, n), owner, template); err != nil {
			return err
		}
	}
	return nil
}

func (f filler) revision(ctx context.Context, namespace, name string, owner metav1.OwnerReference, template map[string]any) error {
	data, err := json.Marshal(map[string]any{"spec": map[string]any{"template": template}})
	if err != nil {
		return err
	}
	r := &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{Name: name, OwnerReferences: []metav1.OwnerReference{owner}, Labels: map[string]string{"app": owner.Name, "controller-revision-hash": name}},
		Data:       runtime.RawExtension{Raw: data}, Revision: 1,
	}
	_, err = f.core.AppsV1().ControllerRevisions(namespace).Create(ctx, r, metav1.CreateOptions{})
	return err
}

func (f filler) pod(ctx context.Context, namespace, name string, owner metav1.OwnerReference, template map[string]any) error {
	var from corev1.PodTemplateSpec
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(template, &from); err != nil {
		return err
	}
	p := &corev1.Pod{ObjectMeta: from.ObjectMeta, Spec: from.Spec}
	p.Name, p.OwnerReferences = name, []metav1.OwnerReference{owner}
	p.Labels["controller-revision-hash"] = owner.Name + "-" + hash
	p, err := f.core.CoreV1().Pods(namespace).Create(ctx, p, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	p.Status = running(p)
	_, err = f.core.CoreV1().Pods(namespace).UpdateStatus(ctx, p, metav1.UpdateOptions{})
	return err
}
