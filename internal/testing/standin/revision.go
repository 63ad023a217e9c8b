package standin

import (
	"cmp"
	"context"
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/controller"
)

// home is where the revisions of the object are: those of kinds without a
// namespace are in Kruise's own.
func (h *hand) home() string { return cmp.Or(h.object.GetNamespace(), kruise.DefaultNamespace) }

// storeRevision creates a ControllerRevision as Kruise's controllers do
// (docs/kruise/workloads.md#kubectl-operations), or gives the one that is there its new number.
func (h *hand) storeRevision(ctx context.Context, r cluster.Revision) error {
	revisions := h.client.AppsV1().ControllerRevisions(h.home())
	made, err := revisions.Create(ctx, h.revision(r), metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		made, err = revisions.Get(ctx, r.Name, metav1.GetOptions{})
		if err == nil {
			made.Revision = r.Number
			made, err = revisions.Update(ctx, made, metav1.UpdateOptions{})
		}
	}
	if err == nil {
		h.wrote(h.store.revisions, made)
	}
	return err
}

func (h *hand) revision(r cluster.Revision) *appsv1.ControllerRevision {
	out := &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{
			Name: r.Name, Namespace: h.home(), Labels: map[string]string{}, Annotations: map[string]string{},
			OwnerReferences: []metav1.OwnerReference{controlledBy(h.object)},
		},
		Revision: r.Number,
		Data:     runtime.RawExtension{Raw: controller.RevisionData(r.Template)},
	}
	maps.Copy(out.Labels, tree.Strings(tree.Get(nodeOf(r.Template), "metadata", "labels")))
	maps.Copy(out.Annotations, h.object.GetAnnotations())
	switch h.object.GetKind() {
	case kruise.KindSidecarSet:
		out.Labels[kruise.SidecarSetNameLabel] = h.object.GetName()
		if version, _ := r.Template["customVersion"].(string); version != "" {
			out.Labels[kruise.SidecarSetCustomVersionLabel] = version
		}
	case kruise.KindDaemonSet:
		out.Labels[appsv1.ControllerRevisionHashLabelKey] = cluster.Hash(r.Name)
	default:
		out.Labels["controller.kubernetes.io/hash"] = cluster.Hash(r.Name)
	}
	if r.ClaimsHash != "" {
		out.Annotations[kruise.VolumeClaimTemplateHashAnnotation] = r.ClaimsHash
	}
	return out
}

// controlledBy is the reference from what an object's controller makes.
func controlledBy(o metav1.Object) metav1.OwnerReference {
	kind := o.(runtime.Object).GetObjectKind().GroupVersionKind()
	return *metav1.NewControllerRef(o, kind)
}
