package kruise

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ImageListPullJob makes one ImagePullJob per image (docs/kruise/jobs.md#image-pulls).
type ImageListPullJob struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`
	Spec              ImageListPullJobSpec   `json:"spec,omitzero"`
	Status            ImageListPullJobStatus `json:"status,omitzero"`
}

// ImageListPullJobSpec is what an ImageListPullJob shall do.
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
