package kruise

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// EphemeralJob adds ephemeral containers to running pods; there is only
// v1alpha1 (docs/kruise/jobs.md#ephemeraljob).
type EphemeralJob struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`
	Spec              EphemeralJobSpec   `json:"spec,omitzero"`
	Status            EphemeralJobStatus `json:"status,omitzero"`
}

// EphemeralJobSpec is the desired state of an EphemeralJob.
type EphemeralJobSpec struct {
	Selector *metav1.LabelSelector `json:"selector"`
	// Replicas limits the number of pods; it defaults to all.
	Replicas *int32 `json:"replicas,omitempty"`
	// Parallelism is how many pods at a time; it defaults to 1.
	Parallelism *int32                     `json:"parallelism,omitempty"`
	Template    EphemeralContainerTemplate `json:"template"`
	Paused      bool                       `json:"paused,omitempty"`
	// ActiveDeadlineSeconds counts from the start.
	ActiveDeadlineSeconds *int64 `json:"activeDeadlineSeconds,omitempty"`
	// TTLSecondsAfterFinished defaults to 1800.
	TTLSecondsAfterFinished *int32 `json:"ttlSecondsAfterFinished,omitempty"`
}

// EphemeralContainerTemplate is what the pods get.
type EphemeralContainerTemplate struct {
	EphemeralContainers []corev1.EphemeralContainer `json:"ephemeralContainers"`
}

// EphemeralJobPhase is the state of a job.
type EphemeralJobPhase string

// The phases.
const (
	EphemeralJobSucceeded EphemeralJobPhase = "Succeeded"
	EphemeralJobFailed    EphemeralJobPhase = "Failed"
	EphemeralJobWaiting   EphemeralJobPhase = "Waiting"
	EphemeralJobRunning   EphemeralJobPhase = "Running"
	EphemeralJobPaused    EphemeralJobPhase = "Paused"
	EphemeralJobError     EphemeralJobPhase = "Error"
	EphemeralJobUnknown   EphemeralJobPhase = "Unknown"
)

// EphemeralJobStatus counts pods.
type EphemeralJobStatus struct {
	Conditions     []JobCondition    `json:"conditions,omitempty"`
	StartTime      *metav1.Time      `json:"startTime,omitempty"`
	CompletionTime *metav1.Time      `json:"completionTime,omitempty"`
	Phase          EphemeralJobPhase `json:"phase,omitempty"`
	Matches        int32             `json:"match,omitempty"`
	Succeeded      int32             `json:"succeeded,omitempty"`
	Failed         int32             `json:"failed,omitempty"`
	Running        int32             `json:"running,omitempty"`
	Waiting        int32             `json:"waiting,omitempty"`
}
