package migrate

import (
	"strings"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/migrate"
)

var unavailableBudget = schema.GroupKind{Group: "policy.kruise.io", Kind: kruise.KindPodUnavailableBudget}

// budgetFor reads a budget of either kind that is over pods with these labels of a
// workload; nil for another. The specs of both kinds have the same limits, and a
// status counts the same under other names (docs/kruise/protection.md#podunavailablebudget).
func budgetFor(u *unstructured.Unstructured, of migrate.Workload, pods map[string]string) *migrate.Budget {
	var b policyv1.PodDisruptionBudget
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &b); err != nil {
		return nil
	}
	selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
	if err != nil || targetOf(u, "targetRef") != of && !selector.Matches(labels.Set(pods)) {
		return nil
	}
	out := &migrate.Budget{
		Name: strings.ToLower(u.GetKind()) + "/" + b.Name, Spec: b.Spec, Expected: b.Status.ExpectedPods, Healthy: b.Status.CurrentHealthy,
		Stale: b.Status.ObservedGeneration < b.Generation,
	}
	if u.GetKind() == unavailableBudget.Kind {
		number := func(field string) int32 {
			n, _, _ := unstructured.NestedInt64(u.Object, "status", field)
			return int32(n)
		}
		out.Expected, out.Healthy = number("totalReplicas"), number("currentAvailable")
	}
	return out
}
