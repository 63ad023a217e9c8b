package resourcearg

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/kubectl/pkg/polymorphichelpers"
	"k8s.io/kubectl/pkg/util/podutils"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// PodSelection selects which pods an object stands for.
type PodSelection struct {
	// Namespace of the pods, "" for all.
	Namespace string
	// Selector matches them by their labels, unless Name is that of the only one.
	Selector labels.Selector
	Name     string
}

// ErrNoPods indicates that a kind has no pods.
var ErrNoPods = errors.New("has no pods of its own")

// GetFunc reads another object that one points to.
type GetFunc func(ctx context.Context, apiVersion, kind, namespace, name string) (*unstructured.Unstructured, error)

// PodsOf reports which pods an object stands for; get reads the workload that a budget, a
// spread or a state of pods is about. The error is [ErrNoPods], or of get.
func PodsOf(ctx context.Context, u *unstructured.Unstructured, get GetFunc) (PodSelection, error) {
	spec := mapAt(u.Object, "spec")
	own := u.GroupVersionKind().GroupKind()
	switch {
	case own.Group == "" && own.Kind == "Pod":
		return PodSelection{Namespace: u.GetNamespace(), Name: u.GetName()}, nil
	case own.Group == kruise.Group && own.Kind == kruise.KindBroadcastJob:
		return PodSelection{Namespace: u.GetNamespace(), Selector: labels.SelectorFromSet(labels.Set{kruise.BroadcastJobNameLabel: u.GetName()})}, nil
	case own.Group == kruise.Group && own.Kind == kruise.KindContainerRecreateRequest:
		name, _ := spec["podName"].(string)
		return PodSelection{Namespace: u.GetNamespace(), Name: name}, nil
	case own.Group == "" && spec["selector"] != nil: // of Services and ReplicationControllers
		return selectionByLabels(u, mapAt(spec, "selector")), nil
	case isKruiseGroup(own.Group) && own.Kind != kruise.KindImagePullJob && spec["selector"] != nil, !isKruiseGroup(own.Group) && spec["selector"] != nil:
		return selectionBySelector(u, mapAt(spec, "selector"))
	case spec["targetRef"] != nil:
		return selectionOfTarget(ctx, u, mapAt(spec, "targetRef"), get)
	case spec["workloadRef"] != nil: // of Rollouts
		return selectionOfTarget(ctx, u, mapAt(spec, "workloadRef"), get)
	}
	return PodSelection{}, noPods(u)
}

func noPods(u *unstructured.Unstructured) error {
	return &resource.Error{
		Err:  fmt.Errorf("%s/%s %w", strings.ToLower(u.GetKind()), u.GetName(), ErrNoPods),
		Hint: "name what makes them: a workload, a job, or a pod",
	}
}

// isKruiseGroup reports whether a group is one of Kruise's own.
func isKruiseGroup(group string) bool { return group == kruise.Group || group == kruise.PolicyGroup }

func selectionByLabels(u *unstructured.Unstructured, set map[string]any) PodSelection {
	out := labels.Set{}
	for k, v := range set {
		out[k] = fmt.Sprint(v)
	}
	return PodSelection{Namespace: u.GetNamespace(), Selector: labels.SelectorFromSet(out)}
}

func selectionBySelector(u *unstructured.Unstructured, given map[string]any) (PodSelection, error) {
	var s metav1.LabelSelector
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(given, &s); err != nil {
		return PodSelection{}, fmt.Errorf("spec.selector of %s: %w", u.GetName(), err)
	}
	selector, err := metav1.LabelSelectorAsSelector(&s)
	if err != nil {
		return PodSelection{}, fmt.Errorf("spec.selector of %s: %w", u.GetName(), err)
	}
	return PodSelection{Namespace: u.GetNamespace(), Selector: selector}, nil
}

// selectionOfTarget asks the object that another one is about.
func selectionOfTarget(ctx context.Context, u *unstructured.Unstructured, ref map[string]any, get GetFunc) (PodSelection, error) {
	at := func(key string) string { s, _ := ref[key].(string); return s }
	target, err := get(ctx, at("apiVersion"), at("kind"), u.GetNamespace(), at("name"))
	if err != nil {
		return PodSelection{}, err
	}
	if mapAt(target.Object, "spec")["selector"] == nil {
		return PodSelection{}, noPods(target)
	}
	return PodsOf(ctx, target, get)
}

func mapAt(o map[string]any, key string) map[string]any {
	m, _ := o[key].(map[string]any)
	return m
}

// List reads the pods, by namespace and name. None is no error. It reads typed pods by kubectl's
// own interface, as [Finder.PodsOf] does, so it does not use package clusterread, which
// imports this one.
func (c PodSelection) List(ctx context.Context, client corev1client.PodsGetter) ([]corev1.Pod, error) {
	if c.Name != "" {
		pod, err := client.Pods(c.Namespace).Get(ctx, c.Name, metav1.GetOptions{})
		if err != nil {
			return nil, err
		}
		return []corev1.Pod{*pod}, nil
	}
	var out []corev1.Pod
	options := metav1.ListOptions{LabelSelector: c.Selector.String(), Limit: pageSize}
	for {
		list, err := client.Pods(c.Namespace).List(ctx, options)
		if err != nil {
			return nil, err
		}
		out = append(out, list.Items...)
		if options.Continue = list.Continue; options.Continue == "" {
			return out, nil
		}
	}
}

// pageSize bounds one answer of the API server.
const pageSize = 500

// PodOrder puts the pod that a command prefers first.
type PodOrder func([]*corev1.Pod) sort.Interface

// ByActivity is the order in which kubectl chooses a pod to run commands in, ByLogging
// that in which it chooses one for its logs.
var (
	ByActivity PodOrder = func(p []*corev1.Pod) sort.Interface { return sort.Reverse(podutils.ActivePods(p)) }
	ByLogging  PodOrder = func(p []*corev1.Pod) sort.Interface { return podutils.ByLogging(p) }
)

// PodsOf reads the pods that an object stands for in an order, and waits for the first of them
// up to a limit.
func (f *Finder) PodsOf(ctx context.Context, u *unstructured.Unstructured, client corev1client.PodsGetter, limit time.Duration, by PodOrder) ([]corev1.Pod, error) {
	chosen, err := PodsOf(ctx, u, f.Get)
	if err != nil {
		return nil, err
	}
	return chosen.sorted(ctx, client, limit, by)
}

func (c PodSelection) sorted(ctx context.Context, client corev1client.PodsGetter, limit time.Duration, by PodOrder) ([]corev1.Pod, error) {
	if c.Name != "" {
		return c.List(ctx, client)
	}
	list, err := polymorphichelpers.GetPodList(client, c.Namespace, c.Selector.String(), limit, by)
	if wait.Interrupted(err) || errors.Is(err, context.DeadlineExceeded) {
		return nil, fmt.Errorf("no pod with the labels %s in namespace %s for %s", c.Selector, c.Namespace, limit)
	}
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}
