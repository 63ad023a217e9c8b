package scaledown

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// down takes the pods away from a workload.
func (o *options) down(ctx context.Context, u *unstructured.Unstructured) error {
	take, err := takerOf(u)
	if err != nil {
		return err
	}
	if owner := metav1.GetControllerOf(u); owner != nil {
		return &tree.Error{Path: "spec.replicas", Msg: fmt.Sprintf("is written by %s %s", owner.Kind, owner.Name), Hint: "scale that, or delete the pods with the label apps.kruise.io/specified-delete"}
	}
	if err := o.check(ctx, u); err != nil {
		return err
	}
	added, err := take(u, o.pods)
	if err != nil {
		return err
	}
	return fewer(u, added)
}

// fewer takes so many from the replicas.
func fewer(u *unstructured.Unstructured, by int) error {
	replicas, found, err := unstructured.NestedInt64(u.Object, "spec", "replicas")
	if err != nil {
		return err
	}
	if !found {
		replicas = 1 // as Kruise's webhook fills it in
	}
	return unstructured.SetNestedField(u.Object, max(replicas-int64(by), 0), "spec", "replicas")
}

// taker marks pods to go; added is how many were not marked before.
type taker func(u *unstructured.Unstructured, pods []string) (added int, err error)

func takerOf(u *unstructured.Unstructured) (taker, error) {
	switch u.GroupVersionKind().GroupKind().String() {
	case "CloneSet." + kruise.Group:
		return podsToDelete, nil
	case "StatefulSet." + kruise.Group:
		if kruise.Serves(kruise.Group, kruise.KindStatefulSet, u.GroupVersionKind().Version) && u.GroupVersionKind().Version != kruise.V1alpha1 {
			return reserveOrdinals, nil
		}
	}
	hint := "Kubernetes' own workloads choose by themselves: the annotation controller.kubernetes.io/pod-deletion-cost on pods of a Deployment or ReplicaSet is a wish"
	if u.GetKind() == kruise.KindUnitedDeployment {
		hint = "name the workload of a subset with the label apps.kruise.io/specified-delete on its pods"
	}
	return nil, &tree.Error{Msg: "currently only supported CloneSet and Advanced StatefulSet selective pods deletion", Hint: hint}
}

// podsToDelete: docs/kruise/workloads.md#named-pods-and-claims. Kruise takes names out of the list
// when the pods are gone.
func podsToDelete(u *unstructured.Unstructured, pods []string) (int, error) {
	field := []string{"spec", "scaleStrategy", "podsToDelete"}
	list, _, err := unstructured.NestedStringSlice(u.Object, field...)
	if err != nil {
		return 0, err
	}
	before := len(list)
	for _, p := range pods {
		if !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	return len(list) - before, unstructured.SetNestedStringSlice(u.Object, list, field...)
}

// reserveOrdinals: docs/kruise/workloads.md#advanced-statefulset and
// docs/kruise/workloads.md#fields-to-patch. A pod whose ordinal is reserved is on its way out
// already, though a hook or its replacement may hold it.
func reserveOrdinals(u *unstructured.Unstructured, pods []string) (int, error) {
	list, _, err := unstructured.NestedSlice(u.Object, "spec", "reserveOrdinals")
	if err != nil {
		return 0, err
	}
	reserved, added := rules.Reserved(entries(list)), 0
	for _, p := range pods {
		n, err := strconv.ParseInt(strings.TrimPrefix(p, u.GetName()+"-"), 10, 32)
		if err != nil {
			return 0, &tree.Error{Msg: fmt.Sprintf("pod %s has no ordinal", p)}
		}
		if !reserved(int(n)) {
			list, added = append(list, n), added+1
		}
	}
	return added, unstructured.SetNestedSlice(u.Object, list, "spec", "reserveOrdinals")
}

// entries are those of reserveOrdinals, numbers and ranges.
func entries(list []any) []intstr.IntOrString {
	out := make([]intstr.IntOrString, len(list))
	for i, v := range list {
		out[i] = intstr.FromString(fmt.Sprint(v))
	}
	return out
}
