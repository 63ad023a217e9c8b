package kruise

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// WorkloadSpread sends a workload's pods to subsets as they are created
// (docs/kruise/distribution.md#workloadspread).
type WorkloadSpread struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`
	Spec              WorkloadSpreadSpec   `json:"spec,omitzero"`
	Status            WorkloadSpreadStatus `json:"status,omitzero"`
}

// WorkloadSpreadSpec defines which pods go where.
type WorkloadSpreadSpec struct {
	TargetReference  *TargetReference               `json:"targetRef"`
	TargetFilter     *TargetFilter                  `json:"targetFilter,omitempty"`
	Subsets          []WorkloadSpreadSubset         `json:"subsets"`
	ScheduleStrategy WorkloadSpreadScheduleStrategy `json:"scheduleStrategy,omitzero"`
}

// TargetFilter limits the pods of the target.
type TargetFilter struct {
	// Selector matches no pod when it is missing.
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
	// ReplicasPathList are dotted paths of numbers whose sum is the target's
	// replicas.
	ReplicasPathList []string `json:"replicasPathList,omitempty"`
}

// WorkloadSpreadSubset is one place for pods.
type WorkloadSpreadSubset struct {
	Name string `json:"name"`
	// RequiredNodeSelector is spelt requiredNodeSelectorTerm in v1alpha1.
	RequiredNodeSelector *corev1.NodeSelectorTerm `json:"requiredNodeSelector,omitempty"`
	// PreferredNodeSelector is spelt preferredNodeSelectorTerms in v1alpha1.
	PreferredNodeSelector []corev1.PreferredSchedulingTerm `json:"preferredNodeSelector,omitempty"`
	Tolerations           []corev1.Toleration              `json:"tolerations,omitempty"`
	// MaxReplicas as a percentage is of the target's replicas, rounded up; it
	// defaults to no limit.
	MaxReplicas *intstr.IntOrString `json:"maxReplicas,omitempty"`
	// Patch is a strategic merge patch of the pod.
	Patch runtime.RawExtension `json:"patch,omitzero"`
}

// WorkloadSpreadScheduleStrategyType defines whether pods move to another subset
// when they cannot be scheduled.
type WorkloadSpreadScheduleStrategyType string

// The types; Fixed is the default.
const (
	AdaptiveWorkloadSpreadScheduleStrategyType WorkloadSpreadScheduleStrategyType = "Adaptive"
	FixedWorkloadSpreadScheduleStrategyType    WorkloadSpreadScheduleStrategyType = "Fixed"
)

// WorkloadSpreadScheduleStrategy belongs to a WorkloadSpread.
type WorkloadSpreadScheduleStrategy struct {
	Type     WorkloadSpreadScheduleStrategyType      `json:"type,omitempty"`
	Adaptive *AdaptiveWorkloadSpreadScheduleStrategy `json:"adaptive,omitempty"`
}

// AdaptiveWorkloadSpreadScheduleStrategy tunes Adaptive.
type AdaptiveWorkloadSpreadScheduleStrategy struct {
	// DisableSimulationSchedule has no effect.
	DisableSimulationSchedule bool `json:"disableSimulationSchedule,omitempty"`
	// RescheduleCriticalSeconds is how long a pod may be unschedulable.
	RescheduleCriticalSeconds *int32 `json:"rescheduleCriticalSeconds,omitempty"`
}

// WorkloadSpreadStatus is what was seen.
type WorkloadSpreadStatus struct {
	ObservedGeneration int64                        `json:"observedGeneration,omitempty"`
	SubsetStatuses     []WorkloadSpreadSubsetStatus `json:"subsetStatuses,omitempty"`
	// VersionedSubsetStatuses is by pod template hash where the target has it.
	VersionedSubsetStatuses map[string][]WorkloadSpreadSubsetStatus `json:"versionedSubsetStatuses,omitempty"`
}

// WorkloadSpreadSubsetStatus is about one subset.
type WorkloadSpreadSubsetStatus struct {
	Name       string             `json:"name"`
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// Replicas counts active pods.
	Replicas int32 `json:"replicas"`
	// MissingReplicas is -1 without a limit.
	MissingReplicas int32 `json:"missingReplicas"`
	// CreatingPods and DeletingPods are on their way, and since when.
	CreatingPods map[string]metav1.Time `json:"creatingPods,omitempty"`
	DeletingPods map[string]metav1.Time `json:"deletingPods,omitempty"`
}
