package kruise

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// AdvancedCronJob creates jobs by a schedule (docs/kruise/jobs.md#advancedcronjob).
type AdvancedCronJob struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`
	Spec              AdvancedCronJobSpec   `json:"spec,omitzero"`
	Status            AdvancedCronJobStatus `json:"status,omitzero"`
}

// AdvancedCronJobSpec is the desired state of an AdvancedCronJob.
type AdvancedCronJobSpec struct {
	// Schedule has the five fields of cron, or is a word such as @daily.
	Schedule string `json:"schedule"`
	// TimeZone is an IANA name; it defaults to the controller's own.
	TimeZone *string `json:"timeZone,omitempty"`
	// StartingDeadlineSeconds is how late a run may start.
	StartingDeadlineSeconds *int64            `json:"startingDeadlineSeconds,omitempty"`
	ConcurrencyPolicy       ConcurrencyPolicy `json:"concurrencyPolicy,omitempty"`
	Paused                  *bool             `json:"paused,omitempty"`
	// SuccessfulJobsHistoryLimit defaults to 3.
	SuccessfulJobsHistoryLimit *int32 `json:"successfulJobsHistoryLimit,omitempty"`
	// FailedJobsHistoryLimit defaults to 1.
	FailedJobsHistoryLimit *int32          `json:"failedJobsHistoryLimit,omitempty"`
	Template               CronJobTemplate `json:"template"`
}

// ConcurrencyPolicy defines what happens while a run is active.
type ConcurrencyPolicy string

// The policies; Allow is the default, but Replace for imageListPullJobTemplate.
const (
	AllowConcurrent   ConcurrencyPolicy = "Allow"
	ForbidConcurrent  ConcurrencyPolicy = "Forbid"
	ReplaceConcurrent ConcurrencyPolicy = "Replace"
)

// CronJobTemplate is what to create: exactly one is set.
type CronJobTemplate struct {
	JobTemplate          *batchv1.JobTemplateSpec  `json:"jobTemplate,omitempty"`
	BroadcastJobTemplate *BroadcastJobTemplateSpec `json:"broadcastJobTemplate,omitempty"`
	// ImageListPullJobTemplate does not exist in v1alpha1.
	ImageListPullJobTemplate *ImageListPullJobTemplateSpec `json:"imageListPullJobTemplate,omitempty"`
}

// BroadcastJobTemplateSpec makes BroadcastJobs.
type BroadcastJobTemplateSpec struct {
	metav1.ObjectMeta `json:"metadata,omitzero"`
	Spec              BroadcastJobSpec `json:"spec,omitzero"`
}

// ImageListPullJobTemplateSpec makes ImageListPullJobs.
type ImageListPullJobTemplateSpec struct {
	metav1.ObjectMeta `json:"metadata,omitzero"`
	Spec              ImageListPullJobSpec `json:"spec,omitzero"`
}

// AdvancedCronJobStatus is what runs.
type AdvancedCronJobStatus struct {
	// Type is Job, BroadcastJob or ImageListPullJob.
	Type             string                   `json:"type,omitempty"`
	Active           []corev1.ObjectReference `json:"active,omitempty"`
	LastScheduleTime *metav1.Time             `json:"lastScheduleTime,omitempty"`
}
