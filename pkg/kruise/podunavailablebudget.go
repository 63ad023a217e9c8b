package kruise

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// PodUnavailableBudget guards the availability of pods against deletion,
// eviction and updates (docs/kruise/protection.md#podunavailablebudget). Its group is
// [PolicyGroup].
type PodUnavailableBudget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`
	Spec              PodUnavailableBudgetSpec   `json:"spec,omitzero"`
	Status            PodUnavailableBudgetStatus `json:"status,omitzero"`
}

// PodUnavailableBudgetSpec has exactly one of Selector and TargetReference,
// and one of MaxUnavailable and MinAvailable.
type PodUnavailableBudgetSpec struct {
	Selector        *metav1.LabelSelector `json:"selector,omitempty"`
	TargetReference *TargetReference      `json:"targetRef,omitempty"`
	// MaxUnavailable and MinAvailable as percentages are rounded up.
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`
	MinAvailable   *intstr.IntOrString `json:"minAvailable,omitempty"`
	// ProtectOperations defaults to DELETE, UPDATE and EVICT; v1alpha1 has an
	// annotation for it.
	ProtectOperations []PubOperation `json:"protectOperations,omitempty"`
	// ProtectTotalReplicas replaces the number of expected pods; v1alpha1 has
	// an annotation for it.
	ProtectTotalReplicas *int32 `json:"protectTotalReplicas,omitempty"`
	// IgnoredPodSelector does not exist in v1alpha1.
	IgnoredPodSelector *metav1.LabelSelector `json:"ignoredPodSelector,omitempty"`
}

// PubOperation is what a budget can refuse.
type PubOperation string

// The operations.
const (
	PubDeleteOperation PubOperation = "DELETE"
	PubUpdateOperation PubOperation = "UPDATE"
	PubEvictOperation  PubOperation = "EVICT"
	PubResizeOperation PubOperation = "RESIZE"
)

// PodUnavailableBudgetStatus is the state of the budget.
type PodUnavailableBudgetStatus struct {
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// DisruptedPods and UnavailablePods were let through, and when.
	DisruptedPods      map[string]metav1.Time `json:"disruptedPods,omitempty"`
	UnavailablePods    map[string]metav1.Time `json:"unavailablePods,omitempty"`
	UnavailableAllowed int32                  `json:"unavailableAllowed"`
	CurrentAvailable   int32                  `json:"currentAvailable"`
	DesiredAvailable   int32                  `json:"desiredAvailable"`
	TotalReplicas      int32                  `json:"totalReplicas"`
}
