package standin

import (
	"context"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/controller"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// protect is the webhook of deletion protection. What goes already may go.
func (s *standIns) protect(ctx context.Context, r *admissionv1.AdmissionRequest) ([]byte, error) {
	o := &unstructured.Unstructured{}
	if err := json.Unmarshal(r.OldObject.Raw, &o.Object); err != nil {
		return nil, err
	}
	if o.GetDeletionTimestamp() != nil {
		return nil, nil
	}
	content, err := s.content(ctx, o)
	if err != nil {
		return nil, err
	}
	ref := cluster.Ref{Group: r.Kind.Group, Kind: r.Kind.Kind, Namespace: r.Namespace, Name: r.Name}
	if why := controller.RefuseDeletion(ref, o.GetLabels(), content); why != "" {
		return nil, forbid("%s", why)
	}
	return nil, nil
}

// content is what depends on the object.
func (s *standIns) content(ctx context.Context, o *unstructured.Unstructured) (controller.Content, error) {
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
	case "CustomResourceDefinition":
		return s.instances(ctx, o)
	default:
		if n, found, _ := unstructured.NestedInt64(o.Object, "spec", "replicas"); found {
			c.Replicas = new(int32(n))
		}
	}
	return c, nil
}

// instances counts the objects of a definition.
func (s *standIns) instances(ctx context.Context, o *unstructured.Unstructured) (controller.Content, error) {
	var c controller.Content
	group, _, _ := unstructured.NestedString(o.Object, "spec", "group")
	plural, _, _ := unstructured.NestedString(o.Object, "spec", "names", "plural")
	versions, _, _ := unstructured.NestedSlice(o.Object, "spec", "versions")
	for _, v := range versions {
		version, _ := v.(map[string]any)
		if served, _ := version["served"].(bool); !served {
			continue
		}
		name, _ := version["name"].(string)
		list, err := s.dynamic.Resource(schema.GroupVersionResource{Group: group, Version: name, Resource: plural}).List(ctx, metav1.ListOptions{})
		if err != nil {
			return c, err
		}
		for i := range list.Items {
			if list.Items[i].GetDeletionTimestamp() == nil {
				c.Objects++
			}
		}
		return c, nil
	}
	return c, nil
}
