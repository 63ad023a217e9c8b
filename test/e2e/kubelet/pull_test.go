package kubelet

import (
	"fmt"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubectl-kruise/kubectl-kruise/test/cluster"
)

const pullJob = `
apiVersion: apps.kruise.io/v1beta1
kind: ImagePullJob
metadata: {name: pull, annotations: {kubectl-kruise.dev/nodes: "1"}}
spec: {image: "IMAGE:3", completionPolicy: {type: Always}}
`

// TestPull_ReachesTheKubelet: the kubelet pulls images for the sake of a volume, by the command and by a
// rendered ImagePullJob, and finds them when a pod is to run them.
func TestPull_ReachesTheKubelet(t *testing.T) {
	b := newBed(t)
	b.rendered(t, kruiseWeb("CloneSet", "replicas: 1", "", "rollingUpdate: {podUpdatePolicy: InPlaceIfPossible}"))
	b.atRest(t, 1)
	b.call(t, "pull", b.image("2"), "cloneset/web").Wants(t, 0, "\tpulled\n", b.image("2")+" is on 1 of 1 node")
	b.pulled(t, b.image("2"))
	b.rendered(t, pullJob)
	_, err := cluster.Await(t.Context(), b.Client().BatchV1().Jobs(b.namespace), "pull", func(_ watch.EventType, j *batchv1.Job) bool {
		return j.Status.Succeeded == 1
	})
	must(t, err)
	b.pulled(t, b.image("3"))
	b.call(t, "rollout", "run", "cloneset/web", "--image", "*="+b.image("3"), "--pull-images", "never", "--yes").Wants(t, 0, "completed after")
	for _, p := range b.atRest(t, 1) {
		b.awaitEvents(t, p.UID, "Pulled", fmt.Sprintf("Container image %q already present", b.image("3")), 2)
	}
}

// pulled checks that one pod pulled an image, and ran none of it.
func (b *bed) pulled(t *testing.T, image string) {
	t.Helper()
	list, err := b.Client().CoreV1().Pods(b.namespace).List(t.Context(), metav1.ListOptions{})
	must(t, err)
	for i := range list.Items {
		p := &list.Items[i]
		if len(p.Spec.Volumes) == 0 || p.Spec.Volumes[0].Image == nil || p.Spec.Volumes[0].Image.Reference != image {
			continue
		}
		if p.Status.Phase != corev1.PodSucceeded {
			t.Errorf("pod %s is %s", p.Name, p.Status.Phase)
		}
		b.awaitEvents(t, p.UID, "Pulled", fmt.Sprintf("Successfully pulled image %q", image), 1)
		return
	}
	t.Errorf("no pod has mounted %s", image)
}
