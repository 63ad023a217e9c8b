package kruise

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// SidecarSet adds containers to pods as they are created; it is
// cluster-scoped (docs/kruise/sidecarset.md#which-pods-match, docs/kruise/sidecarset.md#injection,
// docs/kruise/sidecarset.md#updating-injected-pods and
// docs/kruise/sidecarset.md#two-versions-defaults-validation).
type SidecarSet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`
	Spec              SidecarSetSpec   `json:"spec,omitzero"`
	Status            SidecarSetStatus `json:"status,omitzero"`
}

// SidecarSetSpec defines which pods get what.
type SidecarSetSpec struct {
	// Selector must not be empty.
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
	// NamespaceSelector defaults to every namespace. A v1alpha1
	// spec.namespace is read into it.
	NamespaceSelector *metav1.LabelSelector         `json:"namespaceSelector,omitempty"`
	InitContainers    []SidecarContainer            `json:"initContainers,omitempty"`
	Containers        []SidecarContainer            `json:"containers,omitempty"`
	Volumes           []corev1.Volume               `json:"volumes,omitempty"`
	UpdateStrategy    SidecarSetUpdateStrategy      `json:"updateStrategy,omitzero"`
	InjectionStrategy SidecarSetInjectionStrategy   `json:"injectionStrategy,omitzero"`
	ImagePullSecrets  []corev1.LocalObjectReference `json:"imagePullSecrets,omitempty"`
	// RevisionHistoryLimit defaults to 10.
	RevisionHistoryLimit *int32                       `json:"revisionHistoryLimit,omitempty"`
	PatchPodMetadata     []SidecarSetPatchPodMetadata `json:"patchPodMetadata,omitempty"`
	// CustomVersion names the revision; v1alpha1 has a label for it.
	CustomVersion string `json:"customVersion,omitempty"`
}

// PodInjectPolicyType is the side of the pod's own containers on which a sidecar is injected.
type PodInjectPolicyType string

// The sides; containers default to the first, initContainers to the second.
const (
	BeforeAppContainerType PodInjectPolicyType = "BeforeAppContainer"
	AfterAppContainerType  PodInjectPolicyType = "AfterAppContainer"
)

// SidecarContainer is a container with what Kruise adds to it.
type SidecarContainer struct {
	corev1.Container        `json:",inline"`
	PodInjectPolicy         PodInjectPolicyType             `json:"podInjectPolicy,omitempty"`
	UpgradeStrategy         SidecarContainerUpgradeStrategy `json:"upgradeStrategy,omitzero"`
	ShareVolumePolicy       ShareVolumePolicy               `json:"shareVolumePolicy,omitzero"`
	ShareVolumeDevicePolicy *ShareVolumePolicy              `json:"shareVolumeDevicePolicy,omitempty"`
	TransferEnv             []TransferEnvVar                `json:"transferEnv,omitempty"`
	ResourcesPolicy         *ResourcesPolicy                `json:"resourcesPolicy,omitempty"`
}

// ShareVolumePolicyType switches the sharing of mounts.
type ShareVolumePolicyType string

// The switch; disabled is the default.
const (
	ShareVolumePolicyEnabled  ShareVolumePolicyType = "enabled"
	ShareVolumePolicyDisabled ShareVolumePolicyType = "disabled"
)

// ShareVolumePolicy gives a sidecar the mounts (or devices) of the pod's own
// containers.
type ShareVolumePolicy struct {
	Type ShareVolumePolicyType `json:"type,omitempty"`
}

// SidecarContainerUpgradeType defines how a sidecar gets a new image.
type SidecarContainerUpgradeType string

// The ways to upgrade; ColdUpgrade is the default.
const (
	SidecarContainerColdUpgrade SidecarContainerUpgradeType = "ColdUpgrade"
	SidecarContainerHotUpgrade  SidecarContainerUpgradeType = "HotUpgrade"
)

// SidecarContainerUpgradeStrategy belongs to one container.
type SidecarContainerUpgradeStrategy struct {
	UpgradeType SidecarContainerUpgradeType `json:"upgradeType,omitempty"`
	// HotUpgradeEmptyImage is what the idle one of the pair runs.
	HotUpgradeEmptyImage string `json:"hotUpgradeEmptyImage,omitempty"`
}

// TransferEnvVar copies environment variables from a container of the pod.
type TransferEnvVar struct {
	SourceContainerName     string                     `json:"sourceContainerName,omitempty"`
	SourceContainerNameFrom *SourceContainerNameSource `json:"sourceContainerNameFrom,omitempty"`
	EnvName                 string                     `json:"envName,omitempty"`
	EnvNames                []string                   `json:"envNames,omitempty"`
}

// SourceContainerNameSource reads the container's name from the pod.
type SourceContainerNameSource struct {
	// FieldRef may be an annotation or a label.
	FieldRef *corev1.ObjectFieldSelector `json:"fieldRef,omitempty"`
}

// TargetContainersMode defines how the resources of containers are taken
// together.
type TargetContainersMode string

// The modes.
const (
	TargetContainersSum TargetContainersMode = "sum"
	TargetContainersMax TargetContainersMode = "max"
)

// ResourcesPolicy calculates a sidecar's resources from the pod's
// (docs/kruise/sidecarset.md#resources-policy).
type ResourcesPolicy struct {
	TargetContainersMode TargetContainersMode `json:"targetContainersMode"`
	// TargetContainersNameRegex defaults to every container.
	TargetContainersNameRegex string        `json:"targetContainersNameRegex,omitempty"`
	ResourcesExpr             ResourcesExpr `json:"resourcesExpr"`
}

// ResourcesExpr holds the expressions.
type ResourcesExpr struct {
	Limits   *ResourceExprs `json:"limits,omitempty"`
	Requests *ResourceExprs `json:"requests,omitempty"`
}

// ResourceExprs are expressions over cpu or memory.
type ResourceExprs struct {
	CPU    string `json:"cpu,omitempty"`
	Memory string `json:"memory,omitempty"`
}

// SidecarSetPatchPolicyType defines what happens to an annotation that exists.
type SidecarSetPatchPolicyType string

// The policies; Retain is the default.
const (
	SidecarSetRetainPatchPolicy         SidecarSetPatchPolicyType = "Retain"
	SidecarSetOverwritePatchPolicy      SidecarSetPatchPolicyType = "Overwrite"
	SidecarSetMergePatchJSONPatchPolicy SidecarSetPatchPolicyType = "MergePatchJson"
)

// SidecarSetPatchPodMetadata writes annotations of the pod.
type SidecarSetPatchPodMetadata struct {
	Annotations map[string]string         `json:"annotations,omitempty"`
	PatchPolicy SidecarSetPatchPolicyType `json:"patchPolicy,omitempty"`
}

// SidecarSetInjectionStrategy is about pods that are created.
type SidecarSetInjectionStrategy struct {
	Paused   bool                         `json:"paused,omitempty"`
	Revision *SidecarSetInjectionRevision `json:"revision,omitempty"`
}

// SidecarSetInjectRevisionPolicy defines for which pods a revision is fixed.
type SidecarSetInjectRevisionPolicy string

// The policies; Always is the default.
const (
	AlwaysSidecarSetInjectRevisionPolicy  SidecarSetInjectRevisionPolicy = "Always"
	PartialSidecarSetInjectRevisionPolicy SidecarSetInjectRevisionPolicy = "Partial"
)

// SidecarSetInjectionRevision names a stored revision, by one of two names.
type SidecarSetInjectionRevision struct {
	CustomVersion *string                        `json:"customVersion,omitempty"`
	RevisionName  *string                        `json:"revisionName,omitempty"`
	Policy        SidecarSetInjectRevisionPolicy `json:"policy,omitempty"`
}

// SidecarSetUpdateStrategyType defines whether injected pods follow.
type SidecarSetUpdateStrategyType string

// The types; RollingUpdate is the default.
const (
	NotUpdateSidecarSetStrategyType     SidecarSetUpdateStrategyType = "NotUpdate"
	RollingUpdateSidecarSetStrategyType SidecarSetUpdateStrategyType = "RollingUpdate"
)

// SidecarSetUpdateStrategy is about pods injected before (docs/kruise/sidecarset.md#selection).
type SidecarSetUpdateStrategy struct {
	Type     SidecarSetUpdateStrategyType `json:"type,omitempty"`
	Paused   bool                         `json:"paused,omitempty"`
	Selector *metav1.LabelSelector        `json:"selector,omitempty"`
	// Partition is how many pods stay old; a percentage is of the matched
	// pods, rounded up. It defaults to 0.
	Partition *intstr.IntOrString `json:"partition,omitempty"`
	// MaxUnavailable defaults to 1; a percentage is of the matched pods,
	// rounded up.
	MaxUnavailable   *intstr.IntOrString     `json:"maxUnavailable,omitempty"`
	PriorityStrategy *UpdatePriorityStrategy `json:"priorityStrategy,omitempty"`
	ScatterStrategy  []UpdateScatterTerm     `json:"scatterStrategy,omitempty"`
}

// SidecarSetStatus counts pods (docs/kruise/sidecarset.md#when-a-pod-is-done).
type SidecarSetStatus struct {
	ObservedGeneration int64  `json:"observedGeneration,omitempty"`
	MatchedPods        int32  `json:"matchedPods"`
	UpdatedPods        int32  `json:"updatedPods"`
	ReadyPods          int32  `json:"readyPods"`
	UpdatedReadyPods   int32  `json:"updatedReadyPods,omitempty"`
	LatestRevision     string `json:"latestRevision,omitempty"`
	CollisionCount     *int32 `json:"collisionCount,omitempty"`
}
