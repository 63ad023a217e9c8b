package kruise

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// DaemonSet is the Advanced DaemonSet (docs/kruise/workloads.md#advanced-daemonset).
type DaemonSet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`
	Spec              DaemonSetSpec   `json:"spec,omitzero"`
	Status            DaemonSetStatus `json:"status,omitzero"`
}

// DaemonSetSpec is the desired state of a DaemonSet.
type DaemonSetSpec struct {
	Selector       *metav1.LabelSelector   `json:"selector"`
	Template       corev1.PodTemplateSpec  `json:"template"`
	UpdateStrategy DaemonSetUpdateStrategy `json:"updateStrategy,omitzero"`
	// ScaleStrategy is an annotation in v1alpha1.
	ScaleStrategy *DaemonSetScaleStrategy `json:"scaleStrategy,omitempty"`
	// MinReadySeconds is how long a pod must be ready to count as available.
	MinReadySeconds int32 `json:"minReadySeconds,omitempty"`
	// BurstReplicas caps what one pass creates, deletes or updates in place;
	// a percentage is of the desired pods, rounded down. It defaults to 250.
	BurstReplicas *intstr.IntOrString `json:"burstReplicas,omitempty"`
	// RevisionHistoryLimit defaults to 10.
	RevisionHistoryLimit *int32     `json:"revisionHistoryLimit,omitempty"`
	Lifecycle            *Lifecycle `json:"lifecycle,omitempty"`
}

// DaemonSetScaleStrategy defines how pods come to new nodes.
type DaemonSetScaleStrategy struct {
	// PartitionedScaling holds creation back by the partition.
	PartitionedScaling bool `json:"partitionedScaling,omitempty"`
}

// DaemonSetUpdateStrategy defines how pods get a new template.
type DaemonSetUpdateStrategy struct {
	Type          appsv1.DaemonSetUpdateStrategyType `json:"type,omitempty"`
	RollingUpdate *RollingUpdateDaemonSet            `json:"rollingUpdate,omitempty"`
}

// RollingUpdateType defines how one pod of a DaemonSet is updated.
type RollingUpdateType string

// The ways; Standard is the default. v1alpha1 also knows Surging.
const (
	StandardRollingUpdateType          RollingUpdateType = "Standard"
	InPlaceIfPossibleRollingUpdateType RollingUpdateType = "InPlaceIfPossible"
)

// RollingUpdateDaemonSet is the pace of an update
// (docs/kruise/workloads.md#percentages-and-defaults).
type RollingUpdateDaemonSet struct {
	RollingUpdateType RollingUpdateType `json:"rollingUpdateType,omitempty"`
	// MaxUnavailable and MaxSurge exclude each other and default to 1 and 0;
	// a percentage is of the desired pods, rounded up.
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`
	MaxSurge       *intstr.IntOrString `json:"maxSurge,omitempty"`
	// Selector chooses nodes.
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
	// Partition is how many pods stay old; a percentage is of the desired
	// pods, rounded down. It defaults to 0.
	Partition *intstr.IntOrString `json:"partition,omitempty"`
	Paused    *bool               `json:"paused,omitempty"`
}

// DaemonSetStatus counts nodes (docs/kruise/workloads.md#advanced-daemonset).
type DaemonSetStatus struct {
	CurrentNumberScheduled int32                       `json:"currentNumberScheduled"`
	NumberMisscheduled     int32                       `json:"numberMisscheduled"`
	DesiredNumberScheduled int32                       `json:"desiredNumberScheduled"`
	NumberReady            int32                       `json:"numberReady"`
	ObservedGeneration     int64                       `json:"observedGeneration,omitempty"`
	UpdatedNumberScheduled int32                       `json:"updatedNumberScheduled"`
	NumberAvailable        int32                       `json:"numberAvailable,omitempty"`
	NumberUnavailable      int32                       `json:"numberUnavailable,omitempty"`
	CollisionCount         *int32                      `json:"collisionCount,omitempty"`
	Conditions             []appsv1.DaemonSetCondition `json:"conditions,omitempty"`
	// UpdateRevision is the short hash; v1alpha1 spells it daemonSetHash.
	UpdateRevision string `json:"updateRevision,omitempty"`
}
