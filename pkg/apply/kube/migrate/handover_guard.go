package migrate

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// gather takes up what has to be made again, and has it name the new workload: as it is in
// the cluster, or as it is on record where it is nowhere else.
func (h *Handover) gather() error {
	list := h.Guards
	h.Guards = nil
	for _, f := range h.followers {
		if f.Twin == "" {
			continue
		}
		i := slices.IndexFunc(list, func(u *unstructured.Unstructured) bool {
			return u.GroupVersionKind().GroupKind() == f.object.GroupVersionKind().GroupKind() && u.GetName() == f.Name
		})
		if i < 0 {
			list = append(list, f.object)
		} else {
			list[i] = f.object
		}
	}
	for _, of := range list {
		u, err := anew(of, of.GetName(), reference(h.to, h.Record.To))
		if err != nil {
			return err
		}
		h.Guards = append(h.Guards, u)
	}
	return nil
}

// guard makes the guards anew, once the new workload is there, and waits until their
// controller has counted: pods ask for them by name. One that names something else by
// now is left alone.
func (h *Handover) guard(ctx context.Context) (HandoverStep, error) {
	if h.guarded {
		return HandoverStep{}, nil
	}
	for _, want := range h.Guards {
		gvr, ok, err := h.client.optional(want.GroupVersionKind().GroupKind())
		if err != nil || !ok {
			return HandoverStep{}, err
		}
		there, err := h.client.of(gvr).Get(ctx, want.GetName(), metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			_, err = h.client.of(gvr).Create(ctx, want, metav1.CreateOptions{FieldManager: manager})
			if err != nil && !apierrors.IsAlreadyExists(err) {
				return HandoverStep{}, err
			}
			return wait("%s looks after %s from now on", titleOf(want), h.word(h.Record.To)), nil
		case err != nil:
			return HandoverStep{}, err
		case targetOf(there, "targetRef") == h.Record.From:
			return wait("%s is recreated", titleOf(want)), h.drop(ctx, gvr, there)
		case targetOf(there, "targetRef") == h.Record.To && !SideOf(there).Observed:
			return wait("%s has not counted yet", titleOf(want)), nil
		}
	}
	h.guarded = true
	return HandoverStep{}, nil
}

// drop deletes the very object.
func (h *Handover) drop(ctx context.Context, gvr schema.GroupVersionResource, u *unstructured.Unstructured) error {
	uid := u.GetUID()
	err := h.client.of(gvr).Delete(ctx, u.GetName(), metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

func titleOf(u *unstructured.Unstructured) string {
	return fmt.Sprintf("%s/%s", u.GetKind(), u.GetName())
}
