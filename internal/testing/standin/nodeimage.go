package standin

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// nodeImages runs the controller that keeps a NodeImage for each node: with the
// node's labels, and without the tags of jobs that are gone (docs/kruise/jobs.md#image-pulls). It
// does not wait for half a minute first.
func (s *standIns) nodeImages(ctx context.Context) error {
	l := s.newLoop(s.mirror)
	l.start(ctx)
	return errors.Join(
		l.wake(s.store.kruise[kruise.KindNodeImage], itself),
		l.wake(s.store.nodes, func(before, after metav1.Object) []types.NamespacedName {
			if before != nil && after != nil && maps.Equal(before.GetLabels(), after.GetLabels()) {
				return nil
			}
			return itself(before, after)
		}),
		l.wake(s.store.kruise[kruise.KindImagePullJob], func(_, after metav1.Object) []types.NamespacedName {
			if after != nil {
				return nil
			}
			return s.store.allOf(kruise.KindNodeImage)
		}),
	)
}

func (s *standIns) mirror(ctx context.Context, key types.NamespacedName) (time.Duration, error) {
	client := s.dynamic.Resource(acted[kruise.KindNodeImage])
	n, there := find[*corev1.Node](s.store.nodes, key)
	wanted := there && n.DeletionTimestamp == nil && n.Labels[kruise.NodeTypeLabel] != kruise.VirtualNodeType
	o := s.store.object(kruise.KindNodeImage, key)
	switch {
	case !wanted && o != nil:
		return 0, gone(client.Delete(ctx, key.Name, metav1.DeleteOptions{}))
	case !wanted:
		return 0, nil
	case o == nil:
		made, err := normal(&kruise.NodeImage{
			TypeMeta:   metav1.TypeMeta{APIVersion: kruise.Group + "/" + kruise.V1beta1, Kind: kruise.KindNodeImage},
			ObjectMeta: metav1.ObjectMeta{Name: key.Name, Labels: n.Labels},
		})
		if err != nil {
			return 0, err
		}
		if _, err = client.Create(ctx, made, metav1.CreateOptions{}); apierrors.IsAlreadyExists(err) {
			err = nil
		}
		return 0, err
	}
	image := &kruise.NodeImage{}
	if _, err := kruise.Decode(nodeOf(o.Object), image); err != nil {
		return 0, err
	}
	spec := s.wantedTags(image.Spec)
	if maps.Equal(image.Labels, n.Labels) && reflect.DeepEqual(spec, image.Spec) {
		return 0, nil
	}
	image.Labels, image.Spec = n.Labels, spec
	return 0, s.updateImage(ctx, image)
}

// wantedTags leaves out tags all of whose jobs are gone.
func (s *standIns) wantedTags(spec kruise.NodeImageSpec) kruise.NodeImageSpec {
	out := kruise.NodeImageSpec{Images: map[string]kruise.ImageSpec{}}
	for name, image := range spec.Images {
		image.Tags = slices.DeleteFunc(slices.Clone(image.Tags), func(t kruise.ImageTagSpec) bool {
			return len(t.OwnerReferences) > 0 && !slices.ContainsFunc(t.OwnerReferences, func(r corev1.ObjectReference) bool {
				job := s.store.object(kruise.KindImagePullJob, types.NamespacedName{Namespace: r.Namespace, Name: r.Name})
				return job != nil && job.GetUID() == r.UID
			})
		})
		if len(image.Tags) > 0 {
			out.Images[name] = image
		}
	}
	if len(out.Images) == 0 {
		out.Images = nil
	}
	return out
}

// updateImage replaces a NodeImage that has not changed since it was read.
func (s *standIns) updateImage(ctx context.Context, image *kruise.NodeImage) error {
	image.APIVersion, image.Kind = kruise.Group+"/"+kruise.V1beta1, kruise.KindNodeImage
	o, err := normal(image)
	if err != nil {
		return err
	}
	_, err = s.dynamic.Resource(acted[kruise.KindNodeImage]).Update(ctx, o, metav1.UpdateOptions{})
	return gone(err)
}
