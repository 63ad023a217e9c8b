package standin

import (
	"context"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/controller"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// protect is the webhook of deletion protection. What goes already may go.
func (s *standIns) protect(_ context.Context, r *admissionv1.AdmissionRequest) ([]byte, error) {
	o := &unstructured.Unstructured{}
	if err := json.Unmarshal(r.OldObject.Raw, &o.Object); err != nil {
		return nil, err
	}
	if o.GetDeletionTimestamp() != nil {
		return nil, nil
	}
	ref := cluster.Ref{Group: r.Kind.Group, Kind: r.Kind.Kind, Namespace: r.Namespace, Name: r.Name}
	if why := controller.RefuseDeletion(ref, o.GetLabels(), s.content(o)); why != "" {
		return nil, forbid("%s", why)
	}
	return nil, nil
}

// content is what depends on the object. The objects of a definition are not
// counted: the gate that has Kruise do so is off.
func (s *standIns) content(o *unstructured.Unstructured) controller.Content {
	var c controller.Content
	switch o.GetKind() {
	case "Namespace":
		for _, p := range inNamespace[*corev1.Pod](s.store.pods, o.GetName()) {
			if rules.Active(cluster.ReadPod(p)) {
				c.Pods++
			}
		}
		for _, claim := range inNamespace[*corev1.PersistentVolumeClaim](s.store.claims, o.GetName()) {
			if claim.Status.Phase == corev1.ClaimBound && claim.DeletionTimestamp == nil {
				c.Claims++
			}
		}
	default:
		if n, found, _ := unstructured.NestedInt64(o.Object, "spec", "replicas"); found {
			c.Replicas = new(int32(n))
		}
	}
	return c
}
