package standin

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/controller"
)

// changeClaim deletes a claim, or gives it another owner.
func (h *hand) changeClaim(ctx context.Context, a controller.ChangeClaim) error {
	claims := h.client.CoreV1().PersistentVolumeClaims(a.Claim.Namespace)
	if a.Delete {
		return h.delete(ctx, h.store.claims, &corev1.PersistentVolumeClaim{}, "persistentvolumeclaims", a.Claim.Namespace, a.Claim.Name, metav1.DeleteOptions{})
	}
	c, err := claims.Get(ctx, a.Claim.Name, metav1.GetOptions{})
	if err != nil {
		return gone(err)
	}
	c.OwnerReferences = h.claimOwner(*a.Owner)
	if c, err = claims.Update(ctx, c, metav1.UpdateOptions{}); err != nil {
		return gone(err)
	}
	h.wrote(h.store.claims, c)
	return nil
}

// claimOwner is the reference to whom a claim goes with: the object, one of its
// pods or, with an empty owner, of none.
func (h *hand) claimOwner(o cluster.Owner) []metav1.OwnerReference {
	switch o.Kind {
	case "":
		return nil
	case "Pod":
		return []metav1.OwnerReference{{APIVersion: "v1", Kind: o.Kind, Name: o.Name, UID: types.UID(o.UID), BlockOwnerDeletion: new(true)}}
	}
	return []metav1.OwnerReference{controlledBy(h.object)}
}
