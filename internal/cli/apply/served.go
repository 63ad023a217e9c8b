package apply

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// unserved is the error of a kind that the cluster does not serve, or not in that version.
func (w *work) unserved(gvk schema.GroupVersionKind) error {
	msg := fmt.Sprintf("the cluster does not serve %s %s", gvk.GroupVersion(), gvk.Kind)
	other := w.client.Version(gvk.GroupKind())
	_, ours := kruise.Lookup(gvk.Group, gvk.Kind)
	switch {
	case other != "" && ours:
		return &tree.Error{Msg: msg + ", but " + other, Hint: "'kubectl kruise convert -f FILE --to-version " + other + "' writes it in that version; --target auto does so before it applies"}
	case other != "":
		return &tree.Error{Msg: msg + ", but " + other, Hint: "write it in that version"}
	case ours:
		return &tree.Error{Msg: msg, Hint: "install Kruise, or render its kinds with --target native"}
	}
	return &tree.Error{Msg: msg, Hint: "install what defines it"}
}

// lift has an Advanced StatefulSet sent as v1beta1 wherever the cluster serves that: a write
// as v1alpha1 drops fields of its status, which Kruise does not write again until a pod
// moves (docs/kruise/versions.md).
func (w *work) lift(it *item) error {
	gvk := it.object.GroupVersionKind()
	if gvk.Group != kruise.Group || gvk.Kind != kruise.KindStatefulSet || gvk.Version != kruise.V1alpha1 {
		return nil
	}
	if _, err := w.client.Namespaced(gvk.GroupKind(), kruise.V1beta1); err != nil {
		return nil //nolint:nilerr // it is sent as it is
	}
	hub, _, err := kruise.ToHub(tree.FromValue(it.object.Object))
	if err != nil {
		return err
	}
	fields, _ := tree.Value(hub).(map[string]any)
	it.object = &unstructured.Unstructured{Object: fields}
	return nil
}
