package kruise

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// StatefulSet is the Advanced StatefulSet (docs/kruise/workloads.md#advanced-statefulset).
type StatefulSet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`
	Spec              StatefulSetSpec   `json:"spec,omitzero"`
	Status            StatefulSetStatus `json:"status,omitzero"`
}

// StatefulSetSpec is the desired state of a StatefulSet. v1alpha1 lacks
// reserveOrdinals, lifecycle, scaleStrategy, ordinals,
// persistentVolumeClaimRetentionPolicy and volumeClaimUpdateStrategy.
type StatefulSetSpec struct {
	// Replicas defaults to 1.
	Replicas             *int32                         `json:"replicas,omitempty"`
	Selector             *metav1.LabelSelector          `json:"selector"`
	Template             corev1.PodTemplateSpec         `json:"template"`
	VolumeClaimTemplates []corev1.PersistentVolumeClaim `json:"volumeClaimTemplates,omitempty"`
	// VolumeClaimUpdateStrategy is when changed claim templates reach
	// existing claims.
	VolumeClaimUpdateStrategy VolumeClaimUpdateStrategy      `json:"volumeClaimUpdateStrategy,omitzero"`
	ServiceName               string                         `json:"serviceName,omitempty"`
	PodManagementPolicy       appsv1.PodManagementPolicyType `json:"podManagementPolicy,omitempty"`
	UpdateStrategy            StatefulSetUpdateStrategy      `json:"updateStrategy,omitzero"`
	// RevisionHistoryLimit defaults to 10.
	RevisionHistoryLimit *int32 `json:"revisionHistoryLimit,omitempty"`
	// ReserveOrdinals are left out: numbers, or ranges such as "3-5".
	ReserveOrdinals                      []intstr.IntOrString                             `json:"reserveOrdinals,omitempty"`
	Lifecycle                            *Lifecycle                                       `json:"lifecycle,omitempty"`
	ScaleStrategy                        *StatefulSetScaleStrategy                        `json:"scaleStrategy,omitempty"`
	PersistentVolumeClaimRetentionPolicy *StatefulSetPersistentVolumeClaimRetentionPolicy `json:"persistentVolumeClaimRetentionPolicy,omitempty"`
	Ordinals                             *StatefulSetOrdinals                             `json:"ordinals,omitempty"`
}

// VolumeClaimUpdateStrategyType defines when claims change.
type VolumeClaimUpdateStrategyType string

// The types; OnDelete is the default.
const (
	OnPVCDeleteVolumeClaimUpdateStrategyType        VolumeClaimUpdateStrategyType = "OnDelete"
	OnPodRollingUpdateVolumeClaimUpdateStrategyType VolumeClaimUpdateStrategyType = "OnPodRollingUpdate"
)

// VolumeClaimUpdateStrategy belongs to a StatefulSet.
type VolumeClaimUpdateStrategy struct {
	Type VolumeClaimUpdateStrategyType `json:"type,omitempty"`
}

// StatefulSetPersistentVolumeClaimRetentionPolicy defines what happens to claims;
// both default to Retain.
type StatefulSetPersistentVolumeClaimRetentionPolicy struct {
	WhenDeleted appsv1.PersistentVolumeClaimRetentionPolicyType `json:"whenDeleted,omitempty"`
	WhenScaled  appsv1.PersistentVolumeClaimRetentionPolicyType `json:"whenScaled,omitempty"`
}

// StatefulSetOrdinals moves the numbers of the pods.
type StatefulSetOrdinals struct {
	// Start is the first ordinal.
	Start int32 `json:"start,omitempty"`
}

// StatefulSetScaleStrategy limits creation.
type StatefulSetScaleStrategy struct {
	// MaxUnavailable as a percentage is of replicas, rounded down, at least 1.
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`
}

// StatefulSetUpdateStrategy defines how pods get a new template.
type StatefulSetUpdateStrategy struct {
	Type          appsv1.StatefulSetUpdateStrategyType `json:"type,omitempty"`
	RollingUpdate *RollingUpdateStatefulSetStrategy    `json:"rollingUpdate,omitempty"`
}

// PodUpdateStrategyType defines how one pod of a StatefulSet is updated.
type PodUpdateStrategyType string

// The ways; ReCreate is the default.
const (
	RecreatePodUpdateStrategyType          PodUpdateStrategyType = "ReCreate"
	InPlaceIfPossiblePodUpdateStrategyType PodUpdateStrategyType = "InPlaceIfPossible"
	InPlaceOnlyPodUpdateStrategyType       PodUpdateStrategyType = "InPlaceOnly"
)

// RollingUpdateStatefulSetStrategy is the pace and order of an update.
type RollingUpdateStatefulSetStrategy struct {
	// Partition is how many pods stay old.
	Partition *int32 `json:"partition,omitempty"`
	// MaxUnavailable defaults to 1; a percentage is of replicas, rounded
	// down, at least 1.
	MaxUnavailable        *intstr.IntOrString      `json:"maxUnavailable,omitempty"`
	PodUpdatePolicy       PodUpdateStrategyType    `json:"podUpdatePolicy,omitempty"`
	Paused                bool                     `json:"paused,omitempty"`
	UnorderedUpdate       *UnorderedUpdateStrategy `json:"unorderedUpdate,omitempty"`
	InPlaceUpdateStrategy *InPlaceUpdateStrategy   `json:"inPlaceUpdateStrategy,omitempty"`
	// MinReadySeconds is 0 to 300.
	MinReadySeconds *int32 `json:"minReadySeconds,omitempty"`
}

// UnorderedUpdateStrategy gives up the order by ordinal.
type UnorderedUpdateStrategy struct {
	PriorityStrategy *UpdatePriorityStrategy `json:"priorityStrategy,omitempty"`
}

// StatefulSetStatus is what was seen of a StatefulSet
// (docs/kruise/workloads.md#advanced-statefulset).
type StatefulSetStatus struct {
	ObservedGeneration       int64                         `json:"observedGeneration,omitempty"`
	Replicas                 int32                         `json:"replicas"`
	ReadyReplicas            int32                         `json:"readyReplicas"`
	AvailableReplicas        int32                         `json:"availableReplicas"`
	CurrentReplicas          int32                         `json:"currentReplicas"`
	UpdatedReplicas          int32                         `json:"updatedReplicas"`
	UpdatedReadyReplicas     int32                         `json:"updatedReadyReplicas,omitempty"`
	UpdatedAvailableReplicas int32                         `json:"updatedAvailableReplicas,omitempty"`
	CurrentRevision          string                        `json:"currentRevision,omitempty"`
	UpdateRevision           string                        `json:"updateRevision,omitempty"`
	CollisionCount           *int32                        `json:"collisionCount,omitempty"`
	Conditions               []appsv1.StatefulSetCondition `json:"conditions,omitempty"`
	// LabelSelector is the selector as text, for the scale subresource.
	LabelSelector string              `json:"labelSelector,omitempty"`
	VolumeClaims  []VolumeClaimStatus `json:"volumeClaims,omitempty"`
}

// VolumeClaimStatus counts the pods whose claim agrees with its template.
type VolumeClaimStatus struct {
	VolumeClaimName         string `json:"volumeClaimName"`
	CompatibleReplicas      int32  `json:"compatibleReplicas"`
	CompatibleReadyReplicas int32  `json:"compatibleReadyReplicas"`
}
