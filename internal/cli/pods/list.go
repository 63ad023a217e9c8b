package pods

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/kubectl/pkg/polymorphichelpers"
	"k8s.io/kubectl/pkg/util/podutils"
)

// List reads the pods, by namespace and name. None is no error.
func (c Chosen) List(ctx context.Context, client corev1client.PodsGetter) ([]corev1.Pod, error) {
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

// Order puts the pod that a command prefers first.
type Order func([]*corev1.Pod) sort.Interface

// ByActivity is the order in which kubectl chooses a pod to run commands in, ByLogging
// that in which it chooses one for its logs.
var (
	ByActivity Order = func(p []*corev1.Pod) sort.Interface { return sort.Reverse(podutils.ActivePods(p)) }
	ByLogging  Order = func(p []*corev1.Pod) sort.Interface { return podutils.ByLogging(p) }
)

// Sorted reads the pods in an order, and waits for the first of them up to a limit.
func (c Chosen) Sorted(ctx context.Context, client corev1client.PodsGetter, limit time.Duration, by Order) ([]corev1.Pod, error) {
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
