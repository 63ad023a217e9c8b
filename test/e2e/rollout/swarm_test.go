package rollout

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
	testcluster "github.com/kubectl-kruise/kubectl-kruise/test/cluster"
)

// swarm is a CloneSet of many pods that cost next to nothing: they are on no node,
// and what would be their controller changes each by one request.
type swarm struct {
	*bed

	clones dynamic.ResourceInterface
	uid    types.UID
	size   int
	// revisions are the images that there were, done how many pods have the last.
	revisions []string
	done      int
}

// newSwarm is a CloneSet at rest, in a cluster without nodes and controllers of
// Kruise.
func newSwarm(t *testing.T, c *testcluster.Cluster, size int) *bed {
	t.Helper()
	w := kruiseKind("CloneSet", "clonesets", `updateStrategy: {rollingUpdate: {podUpdatePolicy: InPlaceIfPossible, maxUnavailable: "50%"}}`)
	text := strings.Replace(w.text, "replicas: 4", fmt.Sprint("replicas: ", size), 1)
	b := &bed{Cluster: c, namespace: c.Namespace(t), text: text, next: strings.ReplaceAll(text, web1, web2)}
	b.object.Ref, b.object.Resource = b.read(t, text).Ref, w.resource
	client, err := dynamic.NewForConfig(c.Config())
	must(t, err)
	s := &swarm{bed: b, clones: client.Resource(w.resource).Namespace(b.namespace), size: size}
	s.uid = c.Apply(t, b.namespace, text)[0].GetUID()
	ctx, cancel := context.WithCancel(t.Context())
	rest, over := make(chan struct{}), make(chan struct{})
	var once sync.Once
	t.Cleanup(func() { cancel(); <-over })
	go func() {
		defer close(over)
		_, err := testcluster.Await(ctx, s.clones, "web", func(_ watch.EventType, u *unstructured.Unstructured) bool {
			if err := s.follow(ctx, u); err != nil && ctx.Err() == nil {
				t.Error(err)
			}
			if s.done == size {
				once.Do(func() { close(rest) })
			}
			return false
		})
		if ctx.Err() == nil {
			t.Error(err)
		}
	}()
	<-rest
	return b
}

// follow brings as many pods as the CloneSet wants to its newest template, and says
// so in its status.
func (s *swarm) follow(ctx context.Context, u *unstructured.Unstructured) error {
	var set kruise.CloneSet
	if _, err := kruise.Decode(tree.FromValue(u.Object), &set); err != nil || set.Status.ObservedGeneration == set.Generation {
		return err
	}
	image := set.Spec.Template.Spec.Containers[0].Image
	if n := len(s.revisions); n == 0 || s.revisions[n-1] != image {
		s.revisions, s.done = append(s.revisions, image), 0
	}
	want := rules.LimitsOfCloneSet(&set.Spec).MaxUpdate()
	if err := s.each(want, func(i int) error { return s.pod(ctx, i, image) }); err != nil {
		return err
	}
	s.done = want
	first, last := s.revision(0), s.revision(len(s.revisions)-1)
	if want == s.size {
		first = last
	}
	status, err := json.Marshal(map[string]any{"status": map[string]any{
		"observedGeneration": set.Generation, "replicas": s.size, "readyReplicas": s.size, "availableReplicas": s.size,
		"updatedReplicas": want, "updatedReadyReplicas": want, "updatedAvailableReplicas": want, "expectedUpdatedReplicas": want,
		"currentRevision": first, "updateRevision": last,
	}})
	if err != nil {
		return err
	}
	_, err = s.clones.Patch(ctx, "web", types.MergePatchType, status, metav1.PatchOptions{}, "status")
	return err
}

// revision is the name of the n-th template.
func (s *swarm) revision(n int) string { return fmt.Sprint("web-", n+1) }

// each does something for the pods that have not been done, some at a time.
func (s *swarm) each(want int, do func(i int) error) error {
	turns, errs := make(chan struct{}, 16), make(chan error, s.size)
	var all sync.WaitGroup
	for i := s.done; i < want; i++ {
		turns <- struct{}{}
		all.Go(func() {
			if err := do(i); err != nil {
				errs <- err
			}
			<-turns
		})
	}
	all.Wait()
	close(errs)
	return <-errs
}

// pod makes a pod that is ready, or gives one that is there another image.
func (s *swarm) pod(ctx context.Context, i int, image string) error {
	pods, name := s.Client().CoreV1().Pods(s.namespace), fmt.Sprint("web-", i)
	labels := map[string]string{"app": "web", "controller-revision-hash": s.revision(len(s.revisions) - 1)}
	if len(s.revisions) > 1 {
		body, err := json.Marshal(map[string]any{
			"metadata": map[string]any{"labels": labels},
			"spec":     map[string]any{"containers": []any{map[string]any{"name": "main", "image": image}}},
		})
		if err != nil {
			return err
		}
		_, err = pods.Patch(ctx, name, types.StrategicMergePatchType, body, metav1.PatchOptions{})
		return err
	}
	p, err := pods.Create(ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Labels: labels,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(&metav1.ObjectMeta{Name: "web", UID: s.uid}, s.object.Resource.GroupVersion().WithKind("CloneSet"))},
		},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: image}}, SchedulerName: "none"},
	}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	p.Status.Phase = corev1.PodRunning
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	_, err = pods.UpdateStatus(ctx, p, metav1.UpdateOptions{})
	return err
}
