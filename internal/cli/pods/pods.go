// Package pods finds the pods that an object of any kind stands for, and the
// container of a hot-upgraded sidecar that works in each. It reads and never writes.
package pods

import (
	"context"
	"errors"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// Chosen says which pods an object stands for.
type Chosen struct {
	// Namespace of the pods, "" for all.
	Namespace string
	// Selector matches them by their labels, unless Name is that of the only one.
	Selector labels.Selector
	Name     string
}

// ErrNone says that a kind has no pods.
var ErrNone = errors.New("has no pods of its own")

// Get reads another object that one points to.
type Get func(ctx context.Context, apiVersion, kind, namespace, name string) (*unstructured.Unstructured, error)

// Of says which pods an object stands for; get reads the workload that a budget, a
// spread or a state of pods is about. The error is [ErrNone], or of get.
func Of(ctx context.Context, u *unstructured.Unstructured, get Get) (Chosen, error) {
	spec := below(u.Object, "spec")
	own := u.GroupVersionKind().GroupKind()
	switch {
	case own.Group == "" && own.Kind == "Pod":
		return Chosen{Namespace: u.GetNamespace(), Name: u.GetName()}, nil
	case own.Group == kruise.Group && own.Kind == kruise.KindBroadcastJob:
		return Chosen{Namespace: u.GetNamespace(), Selector: labels.SelectorFromSet(labels.Set{kruise.BroadcastJobNameLabel: u.GetName()})}, nil
	case own.Group == kruise.Group && own.Kind == kruise.KindContainerRecreateRequest:
		name, _ := spec["podName"].(string)
		return Chosen{Namespace: u.GetNamespace(), Name: name}, nil
	case own.Group == "" && spec["selector"] != nil: // of Services and ReplicationControllers
		return plain(u, below(spec, "selector")), nil
	case isKruise(own.Group) && own.Kind != kruise.KindImagePullJob && spec["selector"] != nil, !isKruise(own.Group) && spec["selector"] != nil:
		return selected(u, below(spec, "selector"))
	case spec["targetRef"] != nil:
		return through(ctx, u, below(spec, "targetRef"), get)
	case spec["workloadRef"] != nil: // of Rollouts
		return through(ctx, u, below(spec, "workloadRef"), get)
	}
	return Chosen{}, none(u)
}

func none(u *unstructured.Unstructured) error {
	return &resource.Error{
		Err:  fmt.Errorf("%s/%s %w", strings.ToLower(u.GetKind()), u.GetName(), ErrNone),
		Hint: "name what makes them: a workload, a job, or a pod",
	}
}

// isKruise reports whether a group is one of Kruise's own.
func isKruise(group string) bool { return group == kruise.Group || group == kruise.PolicyGroup }

func plain(u *unstructured.Unstructured, set map[string]any) Chosen {
	out := labels.Set{}
	for k, v := range set {
		out[k] = fmt.Sprint(v)
	}
	return Chosen{Namespace: u.GetNamespace(), Selector: labels.SelectorFromSet(out)}
}

func selected(u *unstructured.Unstructured, given map[string]any) (Chosen, error) {
	var s metav1.LabelSelector
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(given, &s); err != nil {
		return Chosen{}, fmt.Errorf("spec.selector of %s: %w", u.GetName(), err)
	}
	selector, err := metav1.LabelSelectorAsSelector(&s)
	if err != nil {
		return Chosen{}, fmt.Errorf("spec.selector of %s: %w", u.GetName(), err)
	}
	return Chosen{Namespace: u.GetNamespace(), Selector: selector}, nil
}

// through asks the object that another one is about.
func through(ctx context.Context, u *unstructured.Unstructured, ref map[string]any, get Get) (Chosen, error) {
	at := func(key string) string { s, _ := ref[key].(string); return s }
	target, err := get(ctx, at("apiVersion"), at("kind"), u.GetNamespace(), at("name"))
	if err != nil {
		return Chosen{}, err
	}
	if below(target.Object, "spec")["selector"] == nil {
		return Chosen{}, none(target)
	}
	return Of(ctx, target, get)
}

func below(o map[string]any, key string) map[string]any {
	m, _ := o[key].(map[string]any)
	return m
}
