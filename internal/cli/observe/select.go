package observe

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/named"
)

// Select names the workloads of some kinds that a selector matches, by kind and name.
// What belongs to another workload is left out.
func Select(ctx context.Context, c dynamic.Interface, kinds []schema.GroupKind, namespace, selector string) ([]named.Name, error) {
	r := &reader{ctx: ctx, client: c}
	var out []named.Name
	for _, kind := range kinds {
		add := func(u *unstructured.Unstructured) error {
			if metav1.GetControllerOfNoCopy(u) == nil {
				out = append(out, named.Of(kind, u.GetName()))
			}
			return nil
		}
		if err := r.selected(kind, namespace, selector, add); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Owned names the workloads of a kind that a selector matches and an object controls.
func Owned(ctx context.Context, c dynamic.Interface, kind schema.GroupKind, namespace, selector, uid string) ([]named.Name, error) {
	r := &reader{ctx: ctx, client: c}
	var out []named.Name
	err := r.selected(kind, namespace, selector, func(u *unstructured.Unstructured) error {
		if owner := metav1.GetControllerOfNoCopy(u); owner != nil && string(owner.UID) == uid {
			out = append(out, named.Of(kind, u.GetName()))
		}
		return nil
	})
	return out, err
}

// selected lists a kind in the newest version that is served.
func (r *reader) selected(kind schema.GroupKind, namespace, selector string, add func(*unstructured.Unstructured) error) error {
	for _, version := range versionsOf(kind.Group) {
		q := query{
			what: named.Plural(kind), resource: gvr(kind.Group, version, named.Plural(kind)), needed: true,
			namespace: scope(kind, namespace), selector: selector,
		}
		if err := r.list(q, add); !apierrors.IsNotFound(err) {
			return err
		}
	}
	return nil
}
