package kruise

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// UnitedDeployment is one workload per subset of a topology
// (docs/kruise/distribution.md#uniteddeployment).
type UnitedDeployment struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`
	Spec              UnitedDeploymentSpec   `json:"spec,omitzero"`
	Status            UnitedDeploymentStatus `json:"status,omitzero"`
}

// UnitedDeploymentSpec is the desired state of a UnitedDeployment.
type UnitedDeploymentSpec struct {
	// Replicas are spread over the subsets; it defaults to 1.
	Replicas       *int32                         `json:"replicas,omitempty"`
	Selector       *metav1.LabelSelector          `json:"selector"`
	Template       SubsetTemplate                 `json:"template,omitzero"`
	Topology       Topology                       `json:"topology,omitzero"`
	UpdateStrategy UnitedDeploymentUpdateStrategy `json:"updateStrategy,omitzero"`
	// RevisionHistoryLimit defaults to 10.
	RevisionHistoryLimit *int32 `json:"revisionHistoryLimit,omitempty"`
}

// SubsetTemplate is the workload of every subset: exactly one is set.
type SubsetTemplate struct {
	StatefulSetTemplate         *StatefulSetTemplateSpec         `json:"statefulSetTemplate,omitempty"`
	AdvancedStatefulSetTemplate *AdvancedStatefulSetTemplateSpec `json:"advancedStatefulSetTemplate,omitempty"`
	CloneSetTemplate            *CloneSetTemplateSpec            `json:"cloneSetTemplate,omitempty"`
	DeploymentTemplate          *DeploymentTemplateSpec          `json:"deploymentTemplate,omitempty"`
}

// StatefulSetTemplateSpec makes native StatefulSets.
type StatefulSetTemplateSpec struct {
	metav1.ObjectMeta `json:"metadata,omitzero"`
	Spec              appsv1.StatefulSetSpec `json:"spec"`
}

// AdvancedStatefulSetTemplateSpec makes Advanced StatefulSets; its spec has
// the shape of StatefulSet v1beta1 in both versions of UnitedDeployment.
type AdvancedStatefulSetTemplateSpec struct {
	metav1.ObjectMeta `json:"metadata,omitzero"`
	Spec              StatefulSetSpec `json:"spec"`
}

// CloneSetTemplateSpec makes CloneSets; its spec has the shape of CloneSet
// v1beta1 in both versions of UnitedDeployment.
type CloneSetTemplateSpec struct {
	metav1.ObjectMeta `json:"metadata,omitzero"`
	Spec              CloneSetSpec `json:"spec"`
}

// DeploymentTemplateSpec makes Deployments.
type DeploymentTemplateSpec struct {
	metav1.ObjectMeta `json:"metadata,omitzero"`
	Spec              appsv1.DeploymentSpec `json:"spec"`
}

// Topology defines which subsets there are.
type Topology struct {
	Subsets          []Subset                         `json:"subsets,omitempty"`
	ScheduleStrategy UnitedDeploymentScheduleStrategy `json:"scheduleStrategy,omitzero"`
}

// Subset is one place for pods.
type Subset struct {
	Name string `json:"name"`
	// NodeSelectorTerm: only its matchExpressions are used.
	NodeSelectorTerm corev1.NodeSelectorTerm `json:"nodeSelectorTerm,omitzero"`
	Tolerations      []corev1.Toleration     `json:"tolerations,omitempty"`
	// Replicas as a percentage is of the whole, rounded half up; it excludes
	// MinReplicas and MaxReplicas, which are counted likewise.
	Replicas    *intstr.IntOrString `json:"replicas,omitempty"`
	MinReplicas *intstr.IntOrString `json:"minReplicas,omitempty"`
	// MaxReplicas defaults to no limit.
	MaxReplicas *intstr.IntOrString `json:"maxReplicas,omitempty"`
	// Patch is a strategic merge patch of the pod template.
	Patch runtime.RawExtension `json:"patch,omitzero"`
}

// UnitedDeploymentScheduleStrategyType defines whether pods move to another
// subset when they cannot be scheduled.
type UnitedDeploymentScheduleStrategyType string

// The types; Fixed is the default.
const (
	AdaptiveUnitedDeploymentScheduleStrategyType UnitedDeploymentScheduleStrategyType = "Adaptive"
	FixedUnitedDeploymentScheduleStrategyType    UnitedDeploymentScheduleStrategyType = "Fixed"
)

// UnitedDeploymentScheduleStrategy belongs to the topology.
type UnitedDeploymentScheduleStrategy struct {
	Type     UnitedDeploymentScheduleStrategyType      `json:"type,omitempty"`
	Adaptive *AdaptiveUnitedDeploymentScheduleStrategy `json:"adaptive,omitempty"`
}

// AdaptiveUnitedDeploymentScheduleStrategy tunes Adaptive.
type AdaptiveUnitedDeploymentScheduleStrategy struct {
	// RescheduleCriticalSeconds is how long a pod may be unschedulable; it
	// defaults to 30.
	RescheduleCriticalSeconds *int32 `json:"rescheduleCriticalSeconds,omitempty"`
	// UnschedulableDuration is for how many seconds a subset is then avoided;
	// it defaults to 300.
	UnschedulableDuration *int32 `json:"unschedulableDuration,omitempty"`
	// ReserveUnschedulablePods keeps them, and allocates others elsewhere.
	ReserveUnschedulablePods bool `json:"reserveUnschedulablePods,omitempty"`
}

// UpdateStrategyType is how a UnitedDeployment is updated.
type UpdateStrategyType string

// ManualUpdateStrategyType is the only type.
const ManualUpdateStrategyType UpdateStrategyType = "Manual"

// UnitedDeploymentUpdateStrategy defines how subsets get a new template.
type UnitedDeploymentUpdateStrategy struct {
	Type         UpdateStrategyType `json:"type,omitempty"`
	ManualUpdate *ManualUpdate      `json:"manualUpdate,omitempty"`
}

// ManualUpdate holds pods back.
type ManualUpdate struct {
	// Partitions is, by subset, how many pods stay old.
	Partitions map[string]int32 `json:"partitions,omitempty"`
}

// UnitedDeploymentStatus is what was seen (docs/kruise/distribution.md#status-and-scale).
type UnitedDeploymentStatus struct {
	ObservedGeneration   int64  `json:"observedGeneration,omitempty"`
	Replicas             int32  `json:"replicas"`
	ReadyReplicas        int32  `json:"readyReplicas,omitempty"`
	UpdatedReplicas      int32  `json:"updatedReplicas"`
	UpdatedReadyReplicas int32  `json:"updatedReadyReplicas,omitempty"`
	ReservedPods         int32  `json:"reservedPods,omitempty"`
	CollisionCount       *int32 `json:"collisionCount,omitempty"`
	CurrentRevision      string `json:"currentRevision"`
	// UpdatedRevision is spelt updateStatus.updatedRevision in v1alpha1.
	UpdatedRevision string                         `json:"updatedRevision,omitempty"`
	SubsetStatuses  []UnitedDeploymentSubsetStatus `json:"subsetStatuses,omitempty"`
	Conditions      []UnitedDeploymentCondition    `json:"conditions,omitempty"`
	// LabelSelector is the selector as text, for the scale subresource.
	LabelSelector string `json:"labelSelector,omitempty"`
}

// UnitedDeploymentSubsetStatus is about one subset.
type UnitedDeploymentSubsetStatus struct {
	Name string `json:"name,omitempty"`
	// Replicas is what was allocated.
	Replicas      int32                       `json:"replicas,omitempty"`
	ReadyReplicas int32                       `json:"readyReplicas,omitempty"`
	Partition     int32                       `json:"partition,omitempty"`
	ReservedPods  int32                       `json:"reservedPods,omitempty"`
	Conditions    []UnitedDeploymentCondition `json:"conditions,omitempty"`
}

// UnitedDeploymentCondition is one condition of a UnitedDeployment or of a
// subset.
type UnitedDeploymentCondition struct {
	Type               string                 `json:"type"`
	Status             corev1.ConditionStatus `json:"status"`
	LastTransitionTime metav1.Time            `json:"lastTransitionTime,omitzero"`
	Reason             string                 `json:"reason,omitempty"`
	Message            string                 `json:"message,omitempty"`
}
