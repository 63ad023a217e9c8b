package kruise

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// NodeImage is the list of images that one node pulls; it is cluster-scoped
// and named like the node (docs/kruise/jobs.md#image-pulls).
type NodeImage struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`
	Spec              NodeImageSpec   `json:"spec,omitzero"`
	Status            NodeImageStatus `json:"status,omitzero"`
}

// NodeImageSpec holds up to 256 images by name.
type NodeImageSpec struct {
	Images map[string]ImageSpec `json:"images,omitempty"`
}

// ImageSpec is one image with its tags.
type ImageSpec struct {
	PullSecrets   []ReferenceObject `json:"pullSecrets,omitempty"`
	Tags          []ImageTagSpec    `json:"tags"`
	SandboxConfig *SandboxConfig    `json:"sandboxConfig,omitempty"`
}

// ReferenceObject names a Secret.
type ReferenceObject struct {
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"`
	// Mode does not exist in v1alpha1.
	Mode string `json:"mode,omitempty"`
}

// ImageTagSpec is one tag to pull.
type ImageTagSpec struct {
	Tag       string       `json:"tag"`
	CreatedAt *metav1.Time `json:"createdAt,omitempty"`
	// Version is raised to pull a finished tag again.
	Version         int64                    `json:"version,omitempty"`
	PullPolicy      *ImageTagPullPolicy      `json:"pullPolicy,omitempty"`
	OwnerReferences []corev1.ObjectReference `json:"ownerReferences,omitempty"`
	ImagePullPolicy ImagePullPolicy          `json:"imagePullPolicy,omitempty"`
}

// ImageTagPullPolicy is about the pull of one tag; all but BackoffLimit are
// seconds.
type ImageTagPullPolicy struct {
	TimeoutSeconds          *int32 `json:"timeoutSeconds,omitempty"`
	BackoffLimit            *int32 `json:"backoffLimit,omitempty"`
	TTLSecondsAfterFinished *int32 `json:"ttlSecondsAfterFinished,omitempty"`
	ActiveDeadlineSeconds   *int64 `json:"activeDeadlineSeconds,omitempty"`
}

// NodeImageStatus counts tags.
type NodeImageStatus struct {
	Desired         int32                  `json:"desired"`
	Succeeded       int32                  `json:"succeeded"`
	Failed          int32                  `json:"failed"`
	Pulling         int32                  `json:"pulling"`
	Waiting         int32                  `json:"waiting"`
	ImageStatuses   map[string]ImageStatus `json:"imageStatuses,omitempty"`
	FirstSyncStatus *SyncStatus            `json:"firstSyncStatus,omitempty"`
}

// ImageStatus holds the tags of one image.
type ImageStatus struct {
	Tags []ImageTagStatus `json:"tags"`
}

// ImagePullPhase is the state of the pull of a tag.
type ImagePullPhase string

// The phases.
const (
	ImagePhaseWaiting   ImagePullPhase = "Waiting"
	ImagePhasePulling   ImagePullPhase = "Pulling"
	ImagePhaseSucceeded ImagePullPhase = "Succeeded"
	ImagePhaseFailed    ImagePullPhase = "Failed"
)

// ImageTagStatus is about one tag.
type ImageTagStatus struct {
	Tag   string         `json:"tag"`
	Phase ImagePullPhase `json:"phase"`
	// Progress is 0 to 100.
	Progress       int32        `json:"progress,omitempty"`
	StartTime      *metav1.Time `json:"startTime,omitempty"`
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`
	Version        int64        `json:"version,omitempty"`
	ImageID        string       `json:"imageID,omitempty"`
	Message        string       `json:"message,omitempty"`
}

// SyncStatus is the node agent's first report.
type SyncStatus struct {
	SyncAt  metav1.Time `json:"syncAt,omitzero"`
	Status  string      `json:"status,omitempty"`
	Message string      `json:"message,omitempty"`
}

// TagFor is the state of what an ImagePullJob asks of the node; ok is false
// where it has not been asked yet.
func (n *NodeImage) TagFor(namespace, job string) (status ImageTagStatus, ok bool) {
	for name, image := range n.Spec.Images {
		for _, tag := range image.Tags {
			for _, owner := range tag.OwnerReferences {
				if owner.Namespace == namespace && owner.Name == job {
					return n.Status.ImageStatuses[name].of(tag), true
				}
			}
		}
	}
	return ImageTagStatus{}, false
}

// of is the status of a tag, that of another version being none.
func (s ImageStatus) of(tag ImageTagSpec) ImageTagStatus {
	for _, t := range s.Tags {
		if t.Tag == tag.Tag && t.Version == tag.Version && t.Phase != "" {
			return t
		}
	}
	return ImageTagStatus{Tag: tag.Tag, Phase: ImagePhaseWaiting, Version: tag.Version}
}
