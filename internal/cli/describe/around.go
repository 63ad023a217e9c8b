package describe

import (
	"context"
	"errors"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/kubernetes"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// read reads what belongs to an object. What may not be read is left out, and the
// pods' absence is told.
func read(ctx context.Context, client kubernetes.Interface, find *resourcearg.Finder, u *unstructured.Unstructured, events bool) (around, error) {
	var a around
	var err error
	if err := a.readPods(ctx, client, find, u); err != nil {
		return a, err
	}
	if a.revisions, err = revisions(ctx, client, u); err != nil {
		return a, err
	}
	if !events {
		return a, nil
	}
	a.events, err = client.CoreV1().Events(u.GetNamespace()).List(ctx, metav1.ListOptions{
		FieldSelector: fields.Set{"involvedObject.name": u.GetName(), "involvedObject.uid": string(u.GetUID())}.String(),
	})
	if apierrors.IsForbidden(err) {
		return a, nil
	}
	return a, err
}

func (a *around) readPods(ctx context.Context, client kubernetes.Interface, find *resourcearg.Finder, u *unstructured.Unstructured) error {
	chosen, err := resourcearg.PodsOf(ctx, u, find.Get)
	if errors.Is(err, resourcearg.ErrNoPods) {
		return nil
	}
	if err == nil {
		a.pods, err = chosen.List(ctx, client.CoreV1())
	}
	if gone(err) {
		a.without = "cannot be told: " + err.Error()
		return nil
	}
	a.hasPods = true
	a.pods = slices.DeleteFunc(a.pods, func(p corev1.Pod) bool { return astray(u, &p) })
	return err
}

// gone reports whether something else than the object is missing, or may not be read.
func gone(err error) bool {
	return apierrors.IsNotFound(err) || apierrors.IsForbidden(err) || resourcearg.IsUnknownType(err)
}

// astray reports whether a pod has the labels of an object and belongs to another one.
func astray(u *unstructured.Unstructured, p *corev1.Pod) bool {
	switch u.GetKind() {
	case kruise.KindCloneSet, kruise.KindStatefulSet, kruise.KindDaemonSet, kruise.KindBroadcastJob:
		return !metav1.IsControlledBy(p, u)
	case kruise.KindSidecarSet:
		namespace, _, _ := unstructured.NestedString(u.Object, "spec", "namespace")
		return namespace != "" && p.Namespace != namespace
	}
	return false
}

// revisions are the stored templates of an object: its own, and of SidecarSets those
// in Kruise's namespace.
func revisions(ctx context.Context, client kubernetes.Interface, u *unstructured.Unstructured) ([]appsv1.ControllerRevision, error) {
	namespace, options := u.GetNamespace(), metav1.ListOptions{}
	switch u.GetKind() {
	case kruise.KindCloneSet, kruise.KindStatefulSet, kruise.KindDaemonSet, kruise.KindUnitedDeployment:
	case kruise.KindSidecarSet:
		namespace, options.LabelSelector = kruise.DefaultNamespace, kruise.SidecarSetNameLabel+"="+u.GetName()
	default:
		return nil, nil
	}
	list, err := client.AppsV1().ControllerRevisions(namespace).List(ctx, options)
	if apierrors.IsForbidden(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(list.Items, func(r appsv1.ControllerRevision) bool {
		return u.GetNamespace() != "" && !metav1.IsControlledBy(&r, u)
	}), nil
}
