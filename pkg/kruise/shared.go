package kruise

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// UpdatePriorityStrategy orders the pods of an update; only one of the two
// lists may be set (docs/kruise/workloads.md#update-order).
type UpdatePriorityStrategy struct {
	// OrderPriority: pods with the first key before those with the second,
	// and within a key by the number that the label's value ends in.
	OrderPriority []UpdatePriorityOrderTerm `json:"orderPriority,omitempty"`
	// WeightPriority: the larger the sum of matching weights, the earlier.
	WeightPriority []UpdatePriorityWeightTerm `json:"weightPriority,omitempty"`
}

// UpdatePriorityOrderTerm is one label key.
type UpdatePriorityOrderTerm struct {
	OrderedKey string `json:"orderedKey"`
}

// UpdatePriorityWeightTerm gives the pods that match a weight.
type UpdatePriorityWeightTerm struct {
	// Weight is 0 to 100.
	Weight        int32                `json:"weight"`
	MatchSelector metav1.LabelSelector `json:"matchSelector"`
}

// UpdateScatterTerm is a label whose pods are to be spread over the update
// (docs/kruise/workloads.md#update-order).
type UpdateScatterTerm struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// InPlaceUpdateStrategy defines how pods are updated in place
// (docs/kruise/workloads.md#image-pre-download and docs/kruise/workloads.md#steps-on-the-pod).
type InPlaceUpdateStrategy struct {
	// GracePeriodSeconds is between "not ready" and the new image.
	GracePeriodSeconds int32 `json:"gracePeriodSeconds,omitempty"`
	// ImagePreDownloadParallelism is the number of nodes that pull at a time.
	ImagePreDownloadParallelism *intstr.IntOrString `json:"imagePreDownloadParallelism,omitempty"`
	// ImagePreDownloadTimeoutSeconds is the time for one pull.
	ImagePreDownloadTimeoutSeconds *int32 `json:"imagePreDownloadTimeoutSeconds,omitempty"`
	// ImagePreDownloadMinUpdatedReadyPods is how many updated pods must be
	// ready before pulling starts.
	ImagePreDownloadMinUpdatedReadyPods *int32 `json:"imagePreDownloadMinUpdatedReadyPods,omitempty"`
}

// Lifecycle names the points at which a pod waits for others
// (docs/kruise/workloads.md#lifecycle-hooks).
type Lifecycle struct {
	PreDelete     *LifecycleHook `json:"preDelete,omitempty"`
	InPlaceUpdate *LifecycleHook `json:"inPlaceUpdate,omitempty"`
	PreNormal     *LifecycleHook `json:"preNormal,omitempty"`
}

// LifecycleHook holds a pod while a label has the value or a finalizer is
// there.
type LifecycleHook struct {
	LabelsHandler     map[string]string `json:"labelsHandler,omitempty"`
	FinalizersHandler []string          `json:"finalizersHandler,omitempty"`
	// MarkPodNotReady keeps the pod not ready meanwhile.
	MarkPodNotReady bool `json:"markPodNotReady,omitempty"`
}

// TargetReference names the workload that an object acts on, in its namespace.
type TargetReference struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Name       string `json:"name"`
}

// ActivePod reports whether a pod has neither ended nor is about to go. One without a
// status, as in a manifest, is taken to run.
func ActivePod(pod *tree.Node) bool {
	phase := tree.StrAt(pod, "status", "phase")
	return phase != "Succeeded" && phase != "Failed" && tree.Get(pod, "metadata", "deletionTimestamp") == nil
}
