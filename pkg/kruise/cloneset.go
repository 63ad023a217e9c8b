package kruise

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// CloneSet is a workload of pods without identity (docs/kruise/workloads.md#cloneset).
type CloneSet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`
	Spec              CloneSetSpec   `json:"spec"`
	Status            CloneSetStatus `json:"status,omitzero"`
}

// CloneSetSpec is the desired state of a CloneSet.
type CloneSetSpec struct {
	// Replicas defaults to 1.
	Replicas             *int32                         `json:"replicas,omitempty"`
	Selector             *metav1.LabelSelector          `json:"selector"`
	Template             corev1.PodTemplateSpec         `json:"template"`
	VolumeClaimTemplates []corev1.PersistentVolumeClaim `json:"volumeClaimTemplates,omitempty"`
	ScaleStrategy        CloneSetScaleStrategy          `json:"scaleStrategy,omitzero"`
	UpdateStrategy       CloneSetUpdateStrategy         `json:"updateStrategy,omitzero"`
	// RevisionHistoryLimit counts old revisions; it defaults to 10.
	RevisionHistoryLimit *int32 `json:"revisionHistoryLimit,omitempty"`
	// MinReadySeconds is how long a pod must be ready to count as available.
	MinReadySeconds int32 `json:"minReadySeconds,omitempty"`
	// ProgressDeadlineSeconds is when the condition Progressing turns False;
	// without it there is no such condition.
	ProgressDeadlineSeconds *int32     `json:"progressDeadlineSeconds,omitempty"`
	Lifecycle               *Lifecycle `json:"lifecycle,omitempty"`
}

// CloneSetScaleStrategy defines how the number of pods changes.
type CloneSetScaleStrategy struct {
	// PodsToDelete are names of pods to go first, or to be replaced.
	PodsToDelete []string `json:"podsToDelete,omitempty"`
	// MaxUnavailable limits creation; a percentage is of replicas, rounded
	// up. It defaults to no limit.
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`
	// EnablePVCReuse gives a new pod the claims of a lost one. v1alpha1 has
	// the opposite, disablePVCReuse, and reuses by default.
	EnablePVCReuse bool `json:"enablePVCReuse,omitempty"`
	// ExcludePreparingDelete leaves pods in PreparingDelete out of the count.
	ExcludePreparingDelete bool `json:"excludePreparingDelete,omitempty"`
}

// CloneSetUpdateStrategyType defines who starts the update of a pod.
type CloneSetUpdateStrategyType string

// The update strategy types; RollingUpdate is the default.
const (
	RollingUpdateCloneSetStrategyType CloneSetUpdateStrategyType = "RollingUpdate"
	OnDeleteCloneSetStrategyType      CloneSetUpdateStrategyType = "OnDelete"
)

// CloneSetUpdateStrategy defines how pods get a new template.
type CloneSetUpdateStrategy struct {
	Type          CloneSetUpdateStrategyType     `json:"type,omitempty"`
	RollingUpdate *RollingUpdateCloneSetStrategy `json:"rollingUpdate,omitempty"`
}

// CloneSetPodUpdateStrategyType defines how one pod is updated; it is spelt
// spec.updateStrategy.type in v1alpha1.
type CloneSetPodUpdateStrategyType string

// The ways to update a pod; ReCreate is the default.
const (
	RecreateCloneSetPodUpdateStrategyType          CloneSetPodUpdateStrategyType = "ReCreate"
	InPlaceIfPossibleCloneSetPodUpdateStrategyType CloneSetPodUpdateStrategyType = "InPlaceIfPossible"
	InPlaceOnlyCloneSetPodUpdateStrategyType       CloneSetPodUpdateStrategyType = "InPlaceOnly"
)

// RollingUpdateCloneSetStrategy is the pace and order of an update
// (docs/kruise/workloads.md#percentages-and-defaults). In v1alpha1 these are in
// spec.updateStrategy.
type RollingUpdateCloneSetStrategy struct {
	PodUpdatePolicy CloneSetPodUpdateStrategyType `json:"podUpdatePolicy,omitempty"`
	// Partition is how many pods stay old; a percentage is of replicas,
	// rounded up. It defaults to 0.
	Partition *intstr.IntOrString `json:"partition,omitempty"`
	// MaxUnavailable defaults to 20 % of replicas; a percentage is rounded
	// up without surge, else down.
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`
	// MaxSurge is how many pods more than replicas there may be; a percentage
	// is rounded up. It defaults to 0.
	MaxSurge              *intstr.IntOrString     `json:"maxSurge,omitempty"`
	Paused                bool                    `json:"paused,omitempty"`
	PriorityStrategy      *UpdatePriorityStrategy `json:"priorityStrategy,omitempty"`
	ScatterStrategy       []UpdateScatterTerm     `json:"scatterStrategy,omitempty"`
	InPlaceUpdateStrategy *InPlaceUpdateStrategy  `json:"inPlaceUpdateStrategy,omitempty"`
}

// CloneSetStatus is what was seen of a CloneSet (docs/kruise/workloads.md#cloneset-status).
// All numbers count active pods.
type CloneSetStatus struct {
	ObservedGeneration       int64  `json:"observedGeneration,omitempty"`
	Replicas                 int32  `json:"replicas"`
	ReadyReplicas            int32  `json:"readyReplicas"`
	AvailableReplicas        int32  `json:"availableReplicas"`
	UpdatedReplicas          int32  `json:"updatedReplicas"`
	UpdatedReadyReplicas     int32  `json:"updatedReadyReplicas"`
	UpdatedAvailableReplicas int32  `json:"updatedAvailableReplicas,omitempty"`
	ExpectedUpdatedReplicas  int32  `json:"expectedUpdatedReplicas,omitempty"`
	UpdateRevision           string `json:"updateRevision,omitempty"`
	CurrentRevision          string `json:"currentRevision,omitempty"`
	// CollisionCount is a part of revision hashes.
	CollisionCount *int32              `json:"collisionCount,omitempty"`
	Conditions     []CloneSetCondition `json:"conditions,omitempty"`
	// LabelSelector is the selector as text, for the scale subresource.
	LabelSelector string `json:"labelSelector,omitempty"`
}

// CloneSetCondition is one condition of a CloneSet, such as Progressing.
type CloneSetCondition struct {
	Type               string                 `json:"type"`
	Status             corev1.ConditionStatus `json:"status"`
	LastUpdateTime     metav1.Time            `json:"lastUpdateTime,omitzero"`
	LastTransitionTime metav1.Time            `json:"lastTransitionTime,omitzero"`
	Reason             string                 `json:"reason,omitempty"`
	Message            string                 `json:"message,omitempty"`
}
