package kruise

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// BroadcastJob runs a pod to its end on every matching node (docs/kruise/jobs.md#broadcastjob).
type BroadcastJob struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`
	Spec              BroadcastJobSpec   `json:"spec,omitzero"`
	Status            BroadcastJobStatus `json:"status,omitzero"`
}

// BroadcastJobSpec is the desired state of a BroadcastJob.
type BroadcastJobSpec struct {
	// Parallelism is how many pods run at a time; a percentage is of the
	// matching nodes, rounded up. It defaults to 2147483647.
	Parallelism      *intstr.IntOrString    `json:"parallelism,omitempty"`
	Template         corev1.PodTemplateSpec `json:"template"`
	CompletionPolicy CompletionPolicy       `json:"completionPolicy,omitzero"`
	Paused           bool                   `json:"paused,omitempty"`
	FailurePolicy    FailurePolicy          `json:"failurePolicy,omitzero"`
}

// CompletionPolicyType defines whether a job ends.
type CompletionPolicyType string

// The types; Always is the default. Never goes on serving new nodes.
const (
	AlwaysCompletionPolicyType CompletionPolicyType = "Always"
	NeverCompletionPolicyType  CompletionPolicyType = "Never"
)

// CompletionPolicy defines when a job ends and what happens then; the numbers go
// with Always only.
type CompletionPolicy struct {
	Type CompletionPolicyType `json:"type,omitempty"`
	// ActiveDeadlineSeconds counts from the start.
	ActiveDeadlineSeconds *int64 `json:"activeDeadlineSeconds,omitempty"`
	// TTLSecondsAfterFinished deletes the job; without it, it stays.
	TTLSecondsAfterFinished *int32 `json:"ttlSecondsAfterFinished,omitempty"`
}

// FailurePolicyType defines what a failed pod means.
type FailurePolicyType string

// The types; FailFast is the default.
const (
	FailFastFailurePolicyType FailurePolicyType = "FailFast"
	ContinueFailurePolicyType FailurePolicyType = "Continue"
	PauseFailurePolicyType    FailurePolicyType = "Pause"
)

// FailurePolicy belongs to a BroadcastJob.
type FailurePolicy struct {
	Type FailurePolicyType `json:"type,omitempty"`
	// RestartLimit is how many restarts a pod has before it counts as failed.
	RestartLimit int32 `json:"restartLimit,omitempty"`
}

// BroadcastJobPhase is running, paused, completed or failed.
type BroadcastJobPhase string

// The phases.
const (
	PhaseRunning   BroadcastJobPhase = "running"
	PhasePaused    BroadcastJobPhase = "paused"
	PhaseCompleted BroadcastJobPhase = "completed"
	PhaseFailed    BroadcastJobPhase = "failed"
)

// BroadcastJobStatus counts pods.
type BroadcastJobStatus struct {
	Conditions     []JobCondition    `json:"conditions,omitempty"`
	StartTime      *metav1.Time      `json:"startTime,omitempty"`
	CompletionTime *metav1.Time      `json:"completionTime,omitempty"`
	Active         int32             `json:"active"`
	Succeeded      int32             `json:"succeeded"`
	Failed         int32             `json:"failed"`
	Desired        int32             `json:"desired"`
	Phase          BroadcastJobPhase `json:"phase"`
}

// JobCondition is Complete or Failed of a BroadcastJob or an EphemeralJob.
type JobCondition struct {
	Type               string                 `json:"type"`
	Status             corev1.ConditionStatus `json:"status"`
	LastProbeTime      metav1.Time            `json:"lastProbeTime,omitzero"`
	LastTransitionTime metav1.Time            `json:"lastTransitionTime,omitzero"`
	Reason             string                 `json:"reason,omitempty"`
	Message            string                 `json:"message,omitempty"`
}
