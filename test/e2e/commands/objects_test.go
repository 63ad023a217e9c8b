package commands

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubectl-kruise/kubectl-kruise/test/cluster"
)

const kruiseV1 = "apps.kruise.io/v1beta1"

// workload is a document of a workload with three pods of one container, main.
func workload(apiVersion, kind, name, more string) string {
	return fmt.Sprintf(`
apiVersion: %s
kind: %s
metadata: {name: %[3]s}
spec:
  replicas: 3
  selector: {matchLabels: {app: %[3]s}}
  %s
  template:
    metadata: {labels: {app: %[3]s}}
    spec: {containers: [{name: main, image: "registry.example.com/web:1"}]}
---
`, apiVersion, kind, name, more)
}

// cloneSet is a document of a CloneSet with three pods.
func cloneSet(name, more string) string { return workload(kruiseV1, "CloneSet", name, more) }

// get reads an object, nil where there is none.
func (b *bed) get(t *testing.T, apiVersion, kind, name string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	u.SetAPIVersion(apiVersion)
	u.SetKind(kind)
	client, err := b.Resource(u, b.namespace)
	must(t, err)
	u, err = client.Get(t.Context(), name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	must(t, err)
	return u
}

// await waits until an object is as it should be, and returns it.
func (b *bed) await(t *testing.T, apiVersion, kind, name string, holds func(*unstructured.Unstructured) bool) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	u.SetAPIVersion(apiVersion)
	u.SetKind(kind)
	client, err := b.Resource(u, b.namespace)
	must(t, err)
	u, err = cluster.Await(t.Context(), client, name, func(_ watch.EventType, u *unstructured.Unstructured) bool { return holds(u) })
	must(t, err)
	return u
}

// ready reports whether all replicas of a workload that are wanted are ready.
func ready(u *unstructured.Unstructured) bool {
	return at(u, "spec.replicas") == at(u, "status.readyReplicas") && at(u, "status.observedGeneration") == fmt.Sprint(u.GetGeneration())
}

// at is a value below an object as text, "" where there is none: fields and the
// indexes of lists, with dots between them.
func at(u *unstructured.Unstructured, path string) string {
	var v any = u.Object
	for step := range strings.SplitSeq(path, ".") {
		switch below := v.(type) {
		case map[string]any:
			v = below[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i >= len(below) {
				return ""
			}
			v = below[i]
		default:
			return ""
		}
	}
	if v == nil {
		return ""
	}
	return fmt.Sprint(v)
}

// TestBed_HasReadyPods: what the other tests stand on.
func TestBed_HasReadyPods(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.Apply(t, b.namespace, cloneSet("web", ""))
	u := b.await(t, kruiseV1, "CloneSet", "web", ready)
	if got := at(u, "spec.template.spec.containers.0.name"); got != "main" {
		t.Errorf("the container is %q", got)
	}
	if b.get(t, kruiseV1, "CloneSet", "missing") != nil {
		t.Error("an object exists that was not created")
	}
	b.pipe(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b}\n", "render", "-f", "-").
		prints(t, "apiVersion: v1", "kind: ConfigMap", "metadata: {name: a, namespace: b}")
	b.call(t, "no-such-verb").ends(t, 2, "unknown command")
	b.terminal(t, "n\n", "rollout", "run", "cloneset/web", "--image", "main=registry.example.com/web:2").ends(t, 1, "?")
}
