package kruise

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// ImagePullJob has nodes pull an image (docs/kruise/jobs.md#image-pulls).
type ImagePullJob struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`
	Spec              ImagePullJobSpec   `json:"spec,omitzero"`
	Status            ImagePullJobStatus `json:"status,omitzero"`
}

// ImagePullJobSpec is the desired state of an ImagePullJob.
type ImagePullJobSpec struct {
	Image                string `json:"image"`
	ImagePullJobTemplate `json:",inline"`
}

// ImagePullJobTemplate is what ImagePullJob and ImageListPullJob share.
type ImagePullJobTemplate struct {
	// PullSecrets are names of Secrets in the job's namespace.
	PullSecrets []string `json:"pullSecrets,omitempty"`
	// Selector and PodSelector choose nodes and exclude each other.
	Selector    *ImagePullJobNodeSelector `json:"selector,omitempty"`
	PodSelector *metav1.LabelSelector     `json:"podSelector,omitempty"`
	// Parallelism is how many nodes pull at a time; it defaults to 1, and 0
	// pauses.
	Parallelism      *intstr.IntOrString `json:"parallelism,omitempty"`
	PullPolicy       *PullPolicy         `json:"pullPolicy,omitempty"`
	CompletionPolicy CompletionPolicy    `json:"completionPolicy"`
	SandboxConfig    *SandboxConfig      `json:"sandboxConfig,omitempty"`
	ImagePullPolicy  ImagePullPolicy     `json:"imagePullPolicy,omitempty"`
}

// ImagePullJobNodeSelector chooses nodes by name or by label.
type ImagePullJobNodeSelector struct {
	Names                []string `json:"names,omitempty"`
	metav1.LabelSelector `json:",inline"`
}

// PullPolicy is about one pull on one node.
type PullPolicy struct {
	// TimeoutSeconds defaults to 600.
	TimeoutSeconds *int32 `json:"timeoutSeconds,omitempty"`
	// BackoffLimit is how often it is tried again; it defaults to 3.
	BackoffLimit *int32 `json:"backoffLimit,omitempty"`
}

// SandboxConfig is handed to the container runtime.
type SandboxConfig struct {
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// ImagePullPolicy defines what an image that is there means.
type ImagePullPolicy string

// The policies; PullIfNotPresent is the default.
const (
	PullAlways       ImagePullPolicy = "Always"
	PullIfNotPresent ImagePullPolicy = "IfNotPresent"
)

// ImagePullJobStatus counts nodes.
type ImagePullJobStatus struct {
	StartTime      *metav1.Time `json:"startTime,omitempty"`
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`
	Desired        int32        `json:"desired"`
	Active         int32        `json:"active,omitempty"`
	Succeeded      int32        `json:"succeeded,omitempty"`
	Failed         int32        `json:"failed,omitempty"`
	Message        string       `json:"message,omitempty"`
	FailedNodes    []string     `json:"failedNodes,omitempty"`
}

// ImageListPullJob makes one ImagePullJob per image (docs/kruise/jobs.md#image-pulls).
type ImageListPullJob struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`
	Spec              ImageListPullJobSpec   `json:"spec,omitzero"`
	Status            ImageListPullJobStatus `json:"status,omitzero"`
}

// ImageListPullJobSpec is the desired state of an ImageListPullJob.
type ImageListPullJobSpec struct {
	// Images are 1 to 255, each once.
	Images               []string `json:"images"`
	ImagePullJobTemplate `json:",inline"`
}

// ImageListPullJobStatus counts images.
type ImageListPullJobStatus struct {
	StartTime           *metav1.Time        `json:"startTime,omitempty"`
	CompletionTime      *metav1.Time        `json:"completionTime,omitempty"`
	Desired             int32               `json:"desired"`
	Active              int32               `json:"active,omitempty"`
	Completed           int32               `json:"completed,omitempty"`
	Succeeded           int32               `json:"succeeded,omitempty"`
	FailedImageStatuses []FailedImageStatus `json:"failedImageStatuses,omitempty"`
}

// FailedImageStatus is about one image that some node could not pull.
type FailedImageStatus struct {
	ImagePullJob string `json:"imagePullJob,omitempty"`
	Name         string `json:"name,omitempty"`
	Message      string `json:"message,omitempty"`
}
