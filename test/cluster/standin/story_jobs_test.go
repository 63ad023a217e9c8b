package standin_test

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/node/life"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster"
)

func recreateRequest(pod, strategy string) string {
	return `
apiVersion: apps.kruise.io/v1beta1
kind: ContainerRecreateRequest
metadata: {name: again}
spec:
  podName: ` + pod + `
  containers: [{name: app}]
  ttlSecondsAfterFinished: 1
  strategy: {` + strategy + `}
`
}

func TestRecreateRequest_RestartsTheContainer(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.apply(t, `{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {containers: [{name: app, image: "`+web1+`"}]}}`)
	pods := b.Client().CoreV1().Pods(b.namespace)
	up := func(restarts int32) {
		t.Helper()
		_, err := cluster.Await(t.Context(), pods, "web", func(_ watch.EventType, p *corev1.Pod) bool {
			return isReady(p) && p.Status.ContainerStatuses[0].RestartCount == restarts
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	up(0)
	requests := b.of(t, "containerrecreaterequests")
	unready := make(chan error, 1)
	go func() {
		_, err := cluster.Await(t.Context(), pods, "web", func(_ watch.EventType, p *corev1.Pod) bool { return !isReady(p) })
		unready <- err
	}()
	b.apply(t, recreateRequest("web", "unreadyGracePeriodSeconds: 1"))
	done, err := cluster.Await(t.Context(), requests, "again", func(_ watch.EventType, o *unstructured.Unstructured) bool {
		phase, _, _ := unstructured.NestedString(o.Object, "status", "phase")
		return phase == "Completed"
	})
	if err != nil {
		t.Fatalf("%v\n%v", err, done)
	}
	states, _, _ := unstructured.NestedSlice(done.Object, "status", "containerRecreateStates")
	if state, _ := states[0].(map[string]any); state["phase"] != "Succeeded" || done.GetLabels()["crr.apps.kruise.io/node-name"] == "" {
		t.Errorf("%v\n%v", states, done.GetLabels())
	}
	if err := <-unready; err != nil {
		t.Errorf("the pod was ready all the time: %v", err)
	}
	up(1)
	if err := cluster.AwaitGone(t.Context(), requests, "again", &unstructured.Unstructured{}); err != nil {
		t.Error(err)
	}
}

func TestRecreateRequest_RefusesAMissingPod(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	_, err := b.of(t, "containerrecreaterequests").Create(t.Context(), object(t, recreateRequest("missing", "")), metav1.CreateOptions{})
	if apierrors.ReasonForError(err) == metav1.StatusReasonUnknown {
		t.Errorf("%v", err)
	}
}

func TestImagePullJob_PullsOnNodes(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	jobs := b.of(t, "imagepulljobs")
	b.apply(t, `
apiVersion: apps.kruise.io/v1beta1
kind: ImagePullJob
metadata: {name: ahead}
spec:
  image: registry.example.com/ahead:3
  parallelism: 2
  selector: {names: [node-0, node-2, node-77]}
  completionPolicy: {type: Always}
`)
	done := completed(t, jobs, "ahead")
	status, _, _ := unstructured.NestedMap(done.Object, "status")
	if status["desired"] != int64(2) || status["succeeded"] != int64(2) || status["message"] != "job has completed" {
		t.Errorf("%v", status)
	}
	for name, want := range map[string]bool{"node-0": true, "node-1": false, "node-2": true} {
		if got := pulled(b, name, "registry.example.com/ahead:3"); got != want {
			t.Errorf("%s has the image: %v", name, got)
		}
	}
	b.apply(t, `
apiVersion: apps.kruise.io/v1beta1
kind: ImagePullJob
metadata: {name: bad}
spec: {image: "bad.lab/none:1", parallelism: 10, completionPolicy: {type: Always, ttlSecondsAfterFinished: 0}}
`)
	if err := cluster.AwaitGone(t.Context(), jobs, "bad", &unstructured.Unstructured{}); err != nil {
		t.Error(err)
	}
}

// completed waits for the end of a job.
func completed(t *testing.T, jobs cluster.Lister[*unstructured.UnstructuredList], name string) *unstructured.Unstructured {
	t.Helper()
	done, err := cluster.Await(t.Context(), jobs, name, func(_ watch.EventType, o *unstructured.Unstructured) bool {
		at, _, _ := unstructured.NestedString(o.Object, "status", "completionTime")
		return at != ""
	})
	if err != nil {
		t.Fatalf("%v\n%v", err, done)
	}
	return done
}

func pulled(b *bed, node, image string) bool {
	return slices.Contains(b.Nodes.Images(node).List(time.Now().AddDate(1, 0, 0)), life.ImageID(image))
}
