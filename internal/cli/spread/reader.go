package spread

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// reader reads objects of one namespace.
type reader struct {
	client    dynamic.Interface
	mapper    meta.RESTMapper
	namespace string
}

func (r reader) resource(kind schema.GroupKind) (dynamic.ResourceInterface, error) {
	m, err := r.mapper.RESTMapping(kind)
	if err != nil {
		return nil, err
	}
	return r.client.Resource(m.Resource).Namespace(r.namespace), nil
}

func (r reader) get(ctx context.Context, kind schema.GroupKind, name string) (*unstructured.Unstructured, error) {
	client, err := r.resource(kind)
	if err != nil {
		return nil, err
	}
	return client.Get(ctx, name, metav1.GetOptions{})
}

// list reads all objects of a kind that a selector matches, page by page.
func (r reader) list(ctx context.Context, kind schema.GroupKind, selector string) ([]unstructured.Unstructured, error) {
	client, err := r.resource(kind)
	if err != nil {
		return nil, err
	}
	var out []unstructured.Unstructured
	opt := metav1.ListOptions{LabelSelector: selector, Limit: 500}
	for {
		page, err := client.List(ctx, opt)
		if err != nil {
			return nil, fmt.Errorf("cannot read objects of kind %s: %w", kind.Kind, err)
		}
		out = append(out, page.Items...)
		if opt.Continue = page.GetContinue(); opt.Continue == "" {
			return out, nil
		}
	}
}

// pods are those that the workload's selector matches.
func (r reader) pods(ctx context.Context, of *unstructured.Unstructured) ([]*cluster.Pod, error) {
	var asked metav1.LabelSelector
	fields, _, _ := unstructured.NestedMap(of.Object, "spec", "selector")
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(fields, &asked); err != nil {
		return nil, fmt.Errorf("the selector of %s cannot be read: %w", of.GetName(), err)
	}
	selector, err := metav1.LabelSelectorAsSelector(&asked)
	if err != nil || selector.Empty() {
		return nil, err // nothing is selected, as text that would be everything
	}
	list, err := r.list(ctx, schema.GroupKind{Kind: "Pod"}, selector.String())
	if err != nil {
		return nil, err
	}
	var out []*cluster.Pod
	for i := range list {
		var p corev1.Pod
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(list[i].Object, &p); err != nil {
			return nil, fmt.Errorf("pod %s cannot be read: %w", list[i].GetName(), err)
		}
		out = append(out, cluster.ReadPod(&p))
	}
	return out, nil
}
