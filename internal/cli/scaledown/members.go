package scaledown

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// check refuses pods that are not the workload's, or go already: it would have fewer
// pods, and others would go.
func (o *options) check(ctx context.Context, u *unstructured.Unstructured) error {
	client, err := o.Factory.Dynamic()
	if err != nil {
		return err
	}
	list, err := client.Resource(corev1.SchemeGroupVersion.WithResource("pods")).Namespace(u.GetNamespace()).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("cannot read pods: %w", err)
	}
	own := members(u, list.Items)
	var wrong []string
	for _, p := range o.pods {
		if !slices.Contains(own, p) {
			wrong = append(wrong, p)
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	return &tree.Error{Msg: "has no pod " + strings.Join(wrong, ", ") + " that is not being deleted", Hint: "it has " + some(own)}
}

// members are the names of a workload's pods that stay, in order.
func members(u *unstructured.Unstructured, pods []unstructured.Unstructured) []string {
	var out []string
	for i := range pods {
		p := &pods[i]
		owner := metav1.GetControllerOf(p)
		phase, _, _ := unstructured.NestedString(p.Object, "status", "phase")
		done := phase == string(corev1.PodSucceeded) || phase == string(corev1.PodFailed)
		if owner != nil && owner.UID == u.GetUID() && p.GetDeletionTimestamp() == nil && !done {
			out = append(out, p.GetName())
		}
	}
	slices.Sort(out)
	return out
}

// most is how many pods an error names.
const most = 10

func some(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	if len(names) > most {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
	}
	return strings.Join(names, ", ")
}
