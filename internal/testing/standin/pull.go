package standin

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// pulls runs the controller of ImagePullJobs, which writes what nodes should pull
// into their NodeImages (docs/kruise/jobs.md#image-pulls).
func (s *standIns) pulls(ctx context.Context) error {
	l := s.newLoop(s.pull)
	l.start(ctx)
	return errors.Join(
		l.wake(s.store.kruise[kruise.KindImagePullJob], itself),
		l.wake(s.store.kruise[kruise.KindNodeImage], func(metav1.Object, metav1.Object) []types.NamespacedName {
			return s.store.allOf(kruise.KindImagePullJob)
		}),
	)
}

func (s *standIns) pull(ctx context.Context, key types.NamespacedName) (time.Duration, error) {
	o := s.store.object(kruise.KindImagePullJob, key)
	switch {
	case o == nil || o.GetDeletionTimestamp() != nil:
		return 0, nil
	case !s.seen.all(o.GetUID()):
		return notSeen, nil
	}
	job := &kruise.ImagePullJob{}
	if _, err := kruise.Decode(nodeOf(o.Object), job); err != nil {
		return 0, err
	}
	kruise.Default(job)
	if done := job.Status.CompletionTime; done != nil {
		return s.pulled(ctx, job, done)
	}
	nodes, err := s.imagesOf(job)
	if err != nil {
		return 0, err
	}
	p, err := newPull(job, nodes, time.Now())
	if err != nil {
		return 0, err
	}
	for _, next := range p.start {
		if err := s.updateImage(ctx, next); err != nil {
			return 0, err
		}
	}
	if reflect.DeepEqual(p.status, job.Status) {
		return p.again, nil
	}
	stored, err := s.setStatus(ctx, o, p.status)
	if err == nil {
		s.seen.note(o.GetUID(), s.store.kruise[kruise.KindImagePullJob], stored)
	}
	return p.again, gone(err)
}

// pulled deletes a finished job when its time has come.
func (s *standIns) pulled(ctx context.Context, job *kruise.ImagePullJob, done *metav1.Time) (time.Duration, error) {
	ttl := job.Spec.CompletionPolicy.TTLSecondsAfterFinished
	if ttl == nil {
		return 0, nil
	}
	if left := time.Until(done.Add(time.Duration(*ttl) * time.Second)); left > 0 {
		return left, nil
	}
	return 0, gone(s.dynamic.Resource(acted[kruise.KindImagePullJob]).Namespace(job.Namespace).Delete(ctx, job.Name, metav1.DeleteOptions{}))
}

// imagesOf are the NodeImages of the nodes that a job is for, by name.
func (s *standIns) imagesOf(job *kruise.ImagePullJob) ([]*kruise.NodeImage, error) {
	takes, err := s.chooses(job)
	if err != nil {
		return nil, err
	}
	var out []*kruise.NodeImage
	for _, o := range every[*unstructured.Unstructured](s.store.kruise[kruise.KindNodeImage]) {
		if !takes(o.GetName(), o.GetLabels()) {
			continue
		}
		n := &kruise.NodeImage{}
		if _, err := kruise.Decode(nodeOf(o.Object), n); err != nil {
			return nil, err
		}
		out = append(out, n)
	}
	slices.SortFunc(out, func(a, b *kruise.NodeImage) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// chooses reports which nodes a job is for: those of a selector, those on which pods
// are, or all.
func (s *standIns) chooses(job *kruise.ImagePullJob) (func(name string, own map[string]string) bool, error) {
	switch {
	case job.Spec.PodSelector != nil:
		selector, err := metav1.LabelSelectorAsSelector(job.Spec.PodSelector)
		if err != nil {
			return nil, err
		}
		on := map[string]bool{}
		for _, p := range inNamespace[*corev1.Pod](s.store.pods, job.Namespace) {
			if rules.Active(cluster.ReadPod(p)) && selector.Matches(labels.Set(p.Labels)) {
				on[p.Spec.NodeName] = true
			}
		}
		return func(name string, _ map[string]string) bool { return on[name] }, nil
	case job.Spec.Selector == nil:
		return func(string, map[string]string) bool { return true }, nil
	case len(job.Spec.Selector.Names) > 0:
		return func(name string, _ map[string]string) bool { return slices.Contains(job.Spec.Selector.Names, name) }, nil
	}
	selector, err := metav1.LabelSelectorAsSelector(&job.Spec.Selector.LabelSelector)
	return func(_ string, own map[string]string) bool { return selector.Matches(labels.Set(own)) }, err
}
