package story

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// Apply creates documents, or replaces the fields that they have.
func (c *Cluster) Apply(t *testing.T, namespace, documents string) {
	t.Helper()
	for d := yaml.NewYAMLOrJSONDecoder(strings.NewReader(documents), 4096); ; {
		u := &unstructured.Unstructured{}
		if err := d.Decode(&u.Object); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
		if u.Object == nil {
			continue
		}
		r := c.Served(u.GroupVersionKind())
		if r == nil {
			t.Fatalf("%s is not served", u.GroupVersionKind())
		}
		client := c.Dynamic.Resource(r.GroupVersion().WithResource(r.Plural))
		o := metav1.ApplyOptions{FieldManager: "test", Force: true}
		var err error
		if r.Cluster {
			_, err = client.Apply(t.Context(), u.GetName(), u, o)
		} else {
			_, err = client.Namespace(namespace).Apply(t.Context(), u.GetName(), u, o)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Get reads an object.
func (c *Cluster) Get(t *testing.T, r schema.GroupVersionResource, namespace, name string) *unstructured.Unstructured {
	t.Helper()
	u := c.Find(t, r, namespace, name)
	if u == nil {
		t.Fatalf("no %s %s", r.Resource, name)
	}
	return u
}

// Find is Get, or nil where there is none.
func (c *Cluster) Find(t *testing.T, r schema.GroupVersionResource, namespace, name string) *unstructured.Unstructured {
	t.Helper()
	u, err := c.Dynamic.Resource(r).Namespace(namespace).Get(t.Context(), name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// Delete deletes an object.
func (c *Cluster) Delete(t *testing.T, r schema.GroupVersionResource, namespace, name string) {
	t.Helper()
	if err := c.Dynamic.Resource(r).Namespace(namespace).Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}

// Pods are those of a namespace that are not being deleted.
func (c *Cluster) Pods(t *testing.T, namespace string) []corev1.Pod {
	t.Helper()
	list, err := c.Client.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(list.Items, func(p corev1.Pod) bool { return p.DeletionTimestamp != nil })
}

// Ready are the pods of a namespace that are ready.
func (c *Cluster) Ready(t *testing.T, namespace string) []corev1.Pod {
	t.Helper()
	return slices.DeleteFunc(c.Pods(t, namespace), func(p corev1.Pod) bool {
		return !slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
		})
	})
}

// Await waits until a condition holds, which is asked again after a moment.
func (c *Cluster) Await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("after %s still not: %s", patience, what)
		}
	}
}
