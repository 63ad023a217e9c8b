package kruise

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ContainerRecreateRequest restarts containers of a running pod
// (docs/kruise/jobs.md#containerrecreaterequest).
type ContainerRecreateRequest struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`
	Spec              ContainerRecreateRequestSpec   `json:"spec,omitzero"`
	Status            ContainerRecreateRequestStatus `json:"status,omitzero"`
}

// ContainerRecreateRequestSpec cannot change once created.
type ContainerRecreateRequestSpec struct {
	PodName    string                              `json:"podName"`
	Containers []ContainerRecreateRequestContainer `json:"containers"`
	Strategy   *ContainerRecreateRequestStrategy   `json:"strategy,omitempty"`
	// ActiveDeadlineSeconds is at least 3.
	ActiveDeadlineSeconds *int64 `json:"activeDeadlineSeconds,omitempty"`
	// TTLSecondsAfterFinished deletes the request; without it, it stays.
	TTLSecondsAfterFinished *int32 `json:"ttlSecondsAfterFinished,omitempty"`
}

// ContainerRecreateRequestContainer is one container; the webhook fills in all
// but its name.
type ContainerRecreateRequestContainer struct {
	Name          string                                 `json:"name"`
	PreStop       *ContainerRecreatePreStop              `json:"preStop,omitempty"`
	Ports         []corev1.ContainerPort                 `json:"ports,omitempty"`
	StatusContext *ContainerRecreateRequestStatusContext `json:"statusContext,omitempty"`
}

// ContainerRecreatePreStop is the container's own hook.
type ContainerRecreatePreStop struct {
	Exec      *corev1.ExecAction      `json:"exec,omitempty"`
	HTTPGet   *corev1.HTTPGetAction   `json:"httpGet,omitempty"`
	TCPSocket *corev1.TCPSocketAction `json:"tcpSocket,omitempty"`
}

// ContainerRecreateRequestStatusContext is the container as it was then.
type ContainerRecreateRequestStatusContext struct {
	ContainerID  string `json:"containerID"`
	RestartCount int32  `json:"restartCount"`
}

// ContainerRecreateFailurePolicy defines what a container that cannot be stopped
// means for the others.
type ContainerRecreateFailurePolicy string

// The policies; Fail is the default.
const (
	ContainerRecreateFail   ContainerRecreateFailurePolicy = "Fail"
	ContainerRecreateIgnore ContainerRecreateFailurePolicy = "Ignore"
)

// ContainerRecreateRequestStrategy defines how containers are restarted; all
// numbers are seconds.
type ContainerRecreateRequestStrategy struct {
	FailurePolicy ContainerRecreateFailurePolicy `json:"failurePolicy,omitempty"`
	// OrderedRecreate waits for one before the next.
	OrderedRecreate bool `json:"orderedRecreate,omitempty"`
	// ForceRecreate also restarts what restarted by itself meanwhile.
	ForceRecreate bool `json:"forceRecreate,omitempty"`
	// TerminationGracePeriodSeconds defaults to the pod's.
	TerminationGracePeriodSeconds *int64 `json:"terminationGracePeriodSeconds,omitempty"`
	// UnreadyGracePeriodSeconds is between "not ready" and the stop.
	UnreadyGracePeriodSeconds *int64 `json:"unreadyGracePeriodSeconds,omitempty"`
	// MinStartedSeconds is how long a new container must be up.
	MinStartedSeconds int32 `json:"minStartedSeconds,omitempty"`
}

// ContainerRecreateRequestPhase is the state of a request or of one container.
type ContainerRecreateRequestPhase string

// The phases. A request ends as Completed, a container as one of the other two.
const (
	ContainerRecreateRequestPending    ContainerRecreateRequestPhase = "Pending"
	ContainerRecreateRequestRecreating ContainerRecreateRequestPhase = "Recreating"
	ContainerRecreateRequestSucceeded  ContainerRecreateRequestPhase = "Succeeded"
	ContainerRecreateRequestFailed     ContainerRecreateRequestPhase = "Failed"
	ContainerRecreateRequestCompleted  ContainerRecreateRequestPhase = "Completed"
)

// ContainerRecreateRequestStatus is what was done.
type ContainerRecreateRequestStatus struct {
	Phase                   ContainerRecreateRequestPhase                    `json:"phase"`
	CompletionTime          *metav1.Time                                     `json:"completionTime,omitempty"`
	Message                 string                                           `json:"message,omitempty"`
	ContainerRecreateStates []ContainerRecreateRequestContainerRecreateState `json:"containerRecreateStates,omitempty"`
	// ContainerStatusSnapshot is an annotation in v1alpha1.
	ContainerStatusSnapshot []ContainerRecreateRequestContainerStatusSnapshot `json:"containerStatusSnapshot,omitempty"`
	// Conditions: PreRecreateGrace is an annotation in v1alpha1.
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// ContainerRecreateRequestContainerRecreateState is about one container.
type ContainerRecreateRequestContainerRecreateState struct {
	Name     string                        `json:"name"`
	Phase    ContainerRecreateRequestPhase `json:"phase"`
	Message  string                        `json:"message,omitempty"`
	IsKilled bool                          `json:"isKilled,omitempty"`
}

// ContainerRecreateRequestContainerStatusSnapshot is a container as the
// controller saw it last.
type ContainerRecreateRequestContainerStatusSnapshot struct {
	Name         string `json:"name"`
	Ready        bool   `json:"ready"`
	RestartCount int32  `json:"restartCount"`
	ContainerID  string `json:"containerID,omitempty"`
}
