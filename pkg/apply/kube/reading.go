package kube

import (
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// reading is what a mirror keeps of an object on its way there. A list or a watch that
// begins with all there is has every object in memory before the mirror gets the first:
// ten thousand readings are a tenth of ten thousand pods.
type reading[T any] struct {
	metav1.TypeMeta
	metav1.ObjectMeta

	value T
	err   error
}

// DeepCopyObject makes it a runtime.Object. Nobody changes one.
func (r *reading[T]) DeepCopyObject() runtime.Object { return r }

// reduce reads an object; an error goes with the reading, for the mirror to tell of.
func (m *mirror[T]) reduce(obj any) (*reading[T], error) {
	o, err := meta.Accessor(obj)
	if err != nil {
		return nil, err
	}
	r := &reading[T]{ObjectMeta: metav1.ObjectMeta{
		Namespace: o.GetNamespace(), Name: o.GetName(), UID: o.GetUID(), ResourceVersion: o.GetResourceVersion(),
	}}
	r.value, r.err = m.read(o)
	return r, nil
}

// reducePage reads the objects of a list, or of a page of one.
func (m *mirror[T]) reducePage(page runtime.Object) (*internalversion.List, error) {
	from, err := meta.ListAccessor(page)
	if err != nil {
		return nil, err
	}
	out := &internalversion.List{ListMeta: metav1.ListMeta{
		ResourceVersion: from.GetResourceVersion(), Continue: from.GetContinue(), RemainingItemCount: from.GetRemainingItemCount(),
	}}
	return out, meta.EachListItem(page, func(o runtime.Object) error {
		r, err := m.reduce(o)
		out.Items = append(out.Items, r)
		return err
	})
}

// readOf is what is kept of an object that may have been read before.
func (m *mirror[T]) readOf(o metav1.Object) (T, error) {
	if r, ok := o.(*reading[T]); ok {
		return r.value, r.err
	}
	return m.read(o)
}
