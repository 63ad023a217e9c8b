package kruise

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// Names that this project writes (docs/drivers.md).
const (
	// SourceLabel is on everything that rendering makes: the kind and name of
	// the Kruise object it came from, see [SourceValue].
	SourceLabel = "kubectl-kruise.dev/source"
	// StrategyAnnotation is on what is rendered from the kinds of [KeepsStrategy]: the
	// source's spec without its template, as compact JSON.
	StrategyAnnotation = "kubectl-kruise.dev/strategy"
	// ConvertedFromAnnotation is on what convert made of an object of another
	// kind: as JSON, what the present kind cannot hold.
	ConvertedFromAnnotation = "kubectl-kruise.dev/converted-from"
	// WorkloadLabel is in the selector of a workload that replicas are migrated to:
	// its kind and name, as [SourceValue] writes them, so that it selects no pod of
	// the one that they come from.
	WorkloadLabel = "kubectl-kruise.dev/workload"
	// AcceptAnnotation on an object has the IDs of findings about it that were reviewed, with
	// commas between them: they do not fail a render.
	AcceptAnnotation = "kubectl-kruise.dev/accept"
	// NodesAnnotation on a BroadcastJob is how many nodes it is to run on, for
	// rendering where their names are not known.
	NodesAnnotation = "kubectl-kruise.dev/nodes"
	// RolloutAnnotation on a workload has the policy of its rollouts.
	RolloutAnnotation = "kubectl-kruise.dev/rollout"
	// BeforeRolloutAnnotation is on a UnitedDeployment while a rollout of its subsets has not
	// ended: as JSON, the revision and the update strategy that it had before.
	BeforeRolloutAnnotation = "kubectl-kruise.dev/before-rollout"
	// InServiceLabel is removed from a pod that is to get no traffic.
	InServiceLabel = "kubectl-kruise.dev/in-service"
	// TrackLabel distinguishes the pods of a canary workload from those of the stable one
	// that it accompanies; TrackCanary is its value there.
	TrackLabel  = "kubectl-kruise.dev/track"
	TrackCanary = "canary"
	// SpreadLabel names the WorkloadSpread on the workloads that its target became,
	// as [SourceValue] does; SpreadSubsetLabel is the subset, on them and their pods.
	SpreadLabel       = "kubectl-kruise.dev/spread"
	SpreadSubsetLabel = "kubectl-kruise.dev/subset"
)

// Workloads and their pods (docs/kruise/workloads.md#cloneset,
// docs/kruise/workloads.md#in-place-update, docs/kruise/workloads.md#what-is-added-to-pods and
// docs/kruise/workloads.md#kubectl-operations).
const (
	// CloneSetInstanceIDLabel is the random part of a CloneSet pod's name, on
	// the pod and its claims.
	CloneSetInstanceIDLabel = "apps.kruise.io/cloneset-instance-id"
	// SpecifiedDeleteLabel marks a pod that its workload is to replace; the
	// value means nothing.
	SpecifiedDeleteLabel = "apps.kruise.io/specified-delete"
	// CloneSetScalingExcludePreparingDeleteLabel, "true" on a v1alpha1
	// CloneSet, is scaleStrategy.excludePreparingDelete of v1beta1.
	CloneSetScalingExcludePreparingDeleteLabel = "apps.kruise.io/cloneset-scaling-exclude-preparing-delete"
	// VolumeClaimTemplateHashAnnotation is on a CloneSet's revisions.
	VolumeClaimTemplateHashAnnotation = "kruise.io/cloneset-volumeclaimtemplate-hash"
	// LifecycleStateLabel holds a pod's lifecycle state.
	LifecycleStateLabel = "lifecycle.apps.kruise.io/state"
	// LifecycleTimestampAnnotation is when that state was entered.
	LifecycleTimestampAnnotation = "lifecycle.apps.kruise.io/timestamp"
	// InPlaceUpdateStateAnnotation records an in-place update on the pod.
	InPlaceUpdateStateAnnotation = "apps.kruise.io/inplace-update-state"
	// InPlaceUpdateGraceAnnotation holds the change that waits for the grace
	// period to end.
	InPlaceUpdateGraceAnnotation = "apps.kruise.io/inplace-update-grace"
	// ProgressiveCreatePodAnnotation, "true" on a v1alpha1 DaemonSet, is
	// scaleStrategy.partitionedScaling of v1beta1.
	ProgressiveCreatePodAnnotation = "daemonset.kruise.io/progressive-create-pod"
	// RestartedAtAnnotation is what the older kubectl plugin writes into a
	// template to restart its pods.
	RestartedAtAnnotation = "kubectl.kruise.io/restartedAt"
	// UnavailablePodLabelPrefix starts labels that make a pod unavailable for
	// PodUnavailableBudgets.
	UnavailablePodLabelPrefix = "unavailable-pod.kruise.io/"
)

// Image pre-download (docs/kruise/workloads.md#image-pre-download), on the workload unless noted.
const (
	// ImagePreDownloadParallelismAnnotation is the number of nodes at a time.
	ImagePreDownloadParallelismAnnotation = "apps.kruise.io/image-predownload-parallelism"
	// ImagePreDownloadTimeoutSecondsAnnotation is the time for one pull.
	ImagePreDownloadTimeoutSecondsAnnotation = "apps.kruise.io/image-predownload-timeout-seconds"
	// ImagePreDownloadMinUpdatedReadyPodsAnnotation is how many updated pods
	// must be ready before the download starts.
	ImagePreDownloadMinUpdatedReadyPodsAnnotation = "apps.kruise.io/image-predownload-min-updated-ready-pods"
)

// Readiness gates that only Kruise sets.
const (
	// InPlaceUpdateReady is False while a pod is updated in place.
	InPlaceUpdateReady = "InPlaceUpdateReady"
	// KruisePodReady is False while something of Kruise holds a pod back.
	KruisePodReady = "KruisePodReady"
)

// Container launch priority and liveness (docs/kruise/protection.md#container-launch-priority and
// docs/kruise/protection.md#other-features), on pods and containers.
const (
	// ContainerLaunchPriorityAnnotation, [ContainerLaunchOrdered], starts the
	// containers one after the other.
	ContainerLaunchPriorityAnnotation = "apps.kruise.io/container-launch-priority"
	// ContainerLaunchOrdered is the only value that does so.
	ContainerLaunchOrdered = "Ordered"
	// ContainerPriorityEnv is a container's priority; larger starts earlier.
	ContainerPriorityEnv = "KRUISE_CONTAINER_PRIORITY"
	// ContainerBarrierEnv holds a container until its key of the pod's
	// barrier ConfigMap exists.
	ContainerBarrierEnv = "KRUISE_CONTAINER_BARRIER"
	// UsingEnhancedLivenessAnnotation, "true", takes the liveness probes out.
	UsingEnhancedLivenessAnnotation = "apps.kruise.io/using-enhanced-liveness"
	// TerminateSidecarEnv marks a container that ends with the job.
	TerminateSidecarEnv = "KRUISE_TERMINATE_SIDECAR_WHEN_JOB_EXIT"
	// TerminateSidecarWithImageEnv gives the image that ends the container on
	// a virtual node.
	TerminateSidecarWithImageEnv = "KRUISE_TERMINATE_SIDECAR_WHEN_JOB_EXIT_WITH_IMAGE"
	// TerminateSidecarIgnoreExitCodeEnv leaves the sidecar's exit code out of
	// the pod's result.
	TerminateSidecarIgnoreExitCodeEnv = "KRUISE_TERMINATE_SIDECAR_IGNORE_EXIT_CODE"
)

// SidecarSet (docs/kruise/sidecarset.md#names, docs/kruise/sidecarset.md#which-pods-match and
// docs/kruise/sidecarset.md#annotations).
const (
	// SidecarSetHashAnnotation is on injected pods (JSON by set) and on the
	// SidecarSet (the bare hash).
	SidecarSetHashAnnotation = "kruise.io/sidecarset-hash"
	// SidecarSetHashWithoutImageAnnotation is the same with images left out.
	SidecarSetHashWithoutImageAnnotation = "kruise.io/sidecarset-hash-without-image"
	// SidecarSetInjectedListAnnotation names the injected sets, with commas.
	SidecarSetInjectedListAnnotation = "kruise.io/sidecarset-injected-list"
	// SidecarSetInPlaceUpdateStateAnnotation records updates of sidecars.
	SidecarSetInPlaceUpdateStateAnnotation = "kruise.io/sidecarset-inplace-update-state"
	// SidecarSetWorkingHotUpgradeAnnotation maps a hot-upgrade sidecar to the
	// one of its two containers that works (JSON).
	SidecarSetWorkingHotUpgradeAnnotation = "kruise.io/sidecarset-working-hotupgrade-container"
	// SidecarSetVersionAnnotationPrefix and the container's name give the
	// version that it runs, SidecarSetVersionAltAnnotationPrefix that of the
	// other one.
	SidecarSetVersionAnnotationPrefix    = "version.sidecarset.kruise.io/"
	SidecarSetVersionAltAnnotationPrefix = "versionalt.sidecarset.kruise.io/"

	// SidecarInjectedEnv, "true", is in every injected container.
	SidecarInjectedEnv = "IS_INJECTED"
	// SidecarSetVersionEnv and SidecarSetVersionAltEnv read the version
	// annotations.
	SidecarSetVersionEnv    = "SIDECARSET_VERSION"
	SidecarSetVersionAltEnv = "SIDECARSET_VERSION_ALT"

	// SidecarSetUpgradable is the pod condition for whether all sidecars can be upgraded in place.
	SidecarSetUpgradable = "SidecarSetUpgradable"

	// SidecarTerminated is the pod condition with which the SidecarTerminator
	// declares a pod ended before its sidecars are (docs/kruise/protection.md#other-features).
	SidecarTerminated = "SidecarTerminated"

	// SidecarSetNameLabel and SidecarSetCustomVersionLabel are on revisions;
	// the latter on a v1alpha1 SidecarSet is spec.customVersion of v1beta1.
	SidecarSetNameLabel          = "kruise.io/sidecarset-name"
	SidecarSetCustomVersionLabel = "apps.kruise.io/sidecarset-custom-version"

	// SidecarSetCanaryAnnotation, "true", makes a SidecarSet the canary of the
	// one that SidecarSetBaseAnnotation names.
	SidecarSetCanaryAnnotation = "apps.kruise.io/sidecarset-canary"
	SidecarSetBaseAnnotation   = "apps.kruise.io/sidecarset-base"

	// OutsideLabel on a Namespace keeps Kruise's pod webhook away, whatever its value
	// (docs/kruise/sidecarset.md#which-pods-match).
	OutsideLabel = "control-plane"

	// NamespaceNameLabel is on every namespace, by Kubernetes.
	NamespaceNameLabel = "kubernetes.io/metadata.name"

	// ConfigurationName is the ConfigMap in Kruise's own namespace that holds
	// whitelists, SidecarSetPatchPodMetadataWhiteListKey its key for
	// patchPodMetadata.
	ConfigurationName                      = "kruise-configuration"
	SidecarSetPatchPodMetadataWhiteListKey = "SidecarSet_PatchPodMetadata_WhiteList"
	// DefaultNamespace is where Kruise runs unless installed elsewhere.
	DefaultNamespace = "kruise-system"

	// ManagerSelector finds the Deployment of Kruise's controllers there.
	ManagerSelector = "control-plane=controller-manager"
)

// UnitedDeployment (docs/kruise/distribution.md#uniteddeployment), on workloads and pods.
const (
	// SubsetNameLabel names the subset.
	SubsetNameLabel = "apps.kruise.io/subset-name"
	// ControllerRevisionHashLabel names the UnitedDeployment's revision.
	ControllerRevisionHashLabel = "apps.kruise.io/controller-revision-hash"
	// SubsetPatchAnnotation is the subset's patch as JSON, on the workload.
	SubsetPatchAnnotation = "apps.kruise.io/subset-patch"
	// UnitedDeploymentReservedPodLabel is "true" on pods kept in reserve.
	UnitedDeploymentReservedPodLabel = "apps.kruise.io/united-deployment-reserved-pod"
)

// WorkloadSpread (docs/kruise/distribution.md#workloadspread).
const (
	// MatchedWorkloadSpreadAnnotation has the subset of a pod (JSON).
	MatchedWorkloadSpreadAnnotation = "apps.kruise.io/matched-workloadspread"
	// WorkloadSpreadIgnorePatchAnnotation, "true" on the WorkloadSpread,
	// leaves the metadata of adopted pods alone.
	WorkloadSpreadIgnorePatchAnnotation = "workloadspread.kruise.io/ignore-patch-existing-pods-metadata"
	// WorkloadSpreadWhiteListKey is the key of the configuration for further
	// kinds of targets.
	WorkloadSpreadWhiteListKey = "WorkloadSpread_Watch_Custom_Workload_WhiteList"
)

// ResourceDistribution (docs/kruise/distribution.md#resourcedistribution), on the copies.
const (
	// ResourceDistributedByAnnotation names the ResourceDistribution.
	ResourceDistributedByAnnotation = "kruise.io/resourcedistribution.resource.from"
	// ResourceHashCodeAnnotation is the hash of spec.resource.
	ResourceHashCodeAnnotation = "kruise.io/resourcedistribution.resource.hashcode"
)

// PersistentPodState (docs/kruise/distribution.md#persistentpodstate), on workloads; the last is
// on pods.
const (
	// AutoGeneratePersistentPodStateAnnotation, "true", makes the state object.
	AutoGeneratePersistentPodStateAnnotation = "kruise.io/auto-generate-persistent-pod-state"
	// RequiredPersistentTopologyAnnotation and its two neighbours hold keys
	// with commas.
	RequiredPersistentTopologyAnnotation  = "kruise.io/required-persistent-topology"
	PreferredPersistentTopologyAnnotation = "kruise.io/preferred-persistent-topology"
	PersistentPodAnnotationsAnnotation    = "kruise.io/persistent-pod-annotations"
	// InjectedPersistentPodStateAnnotation names the state that a pod got.
	InjectedPersistentPodStateAnnotation = "kruise.io/injected-persistent-pod-state"
	// PersistentPodStateWhiteListKey is the key of the configuration for
	// further kinds of targets.
	PersistentPodStateWhiteListKey = "PPS_Watch_Custom_Workload_WhiteList"
)

// Jobs (docs/kruise/jobs.md#broadcastjob, docs/kruise/jobs.md#advancedcronjob,
// docs/kruise/jobs.md#image-pulls, docs/kruise/jobs.md#containerrecreaterequest and
// docs/kruise/jobs.md#ephemeraljob).
const (
	// BroadcastJobNameLabel and BroadcastJobUIDLabel are on the job's pods.
	BroadcastJobNameLabel = "broadcastjob-name"
	BroadcastJobUIDLabel  = "broadcastjob-controller-uid"
	// NodeTypeLabel is VirtualNodeType on nodes that no agent of Kruise runs on.
	NodeTypeLabel   = "type"
	VirtualNodeType = "virtual-kubelet"
	// ImagePullJobFinalizer holds an ImagePullJob until its secrets are gone.
	ImagePullJobFinalizer = "apps.kruise.io/deletion-protection"
	// EphemeralJobEnv holds the job's uid in the containers it added.
	EphemeralJobEnv = "KRUISE_EJOB_ID"
)

// ContainerRecreateRequest (docs/kruise/jobs.md#containerrecreaterequest and
// docs/kruise/distribution.md#in-two-versions).
const (
	// The request carries these labels.
	ContainerRecreatePodUIDLabel   = "crr.apps.kruise.io/pod-uid"
	ContainerRecreateNodeNameLabel = "crr.apps.kruise.io/node-name"
	ContainerRecreateActiveLabel   = "crr.apps.kruise.io/active"
	// containerRecreateSyncStatusesAnnotation (JSON) of v1alpha1 is
	// status.containerStatusSnapshot of v1beta1.
	containerRecreateSyncStatusesAnnotation = "crr.apps.kruise.io/sync-container-statuses"
	// containerRecreateUnreadyAcquiredAnnotation (RFC 3339) of v1alpha1 is the
	// condition [ContainerRecreatePreRecreateGrace] of v1beta1.
	containerRecreateUnreadyAcquiredAnnotation = "crr.apps.kruise.io/unready-acquired"
	// ContainerRecreatePreRecreateGrace is the condition whose last transition
	// starts the grace period.
	ContainerRecreatePreRecreateGrace = "PreRecreateGrace"
	// ContainerRecreateFinalizer is there while the pod is held unready.
	ContainerRecreateFinalizer = "crr.apps.kruise.io/unready-acquired"
)

// Deletion protection (docs/kruise/protection.md#deletion-protection), on any object.
const (
	// DeleteProtectionLabel is [DeleteProtectionAlways] or
	// [DeleteProtectionCascading]; other values do nothing.
	DeleteProtectionLabel     = "policy.kruise.io/delete-protection"
	DeleteProtectionAlways    = "Always"
	DeleteProtectionCascading = "Cascading"
)

// PodUnavailableBudget (docs/kruise/protection.md#podunavailablebudget).
const (
	// ProtectOperationsAnnotation, with commas, on a v1alpha1 budget is
	// spec.protectOperations of v1beta1.
	ProtectOperationsAnnotation = "kruise.io/pub-protect-operations"
	// ProtectTotalReplicasAnnotation on a v1alpha1 budget is
	// spec.protectTotalReplicas of v1beta1.
	ProtectTotalReplicasAnnotation = "pub.kruise.io/protect-total-replicas"
	// NoProtectAnnotation, "true" on a pod, takes it out of its budget.
	NoProtectAnnotation = "pub.kruise.io/no-protect"
	// RelatedBudgetAnnotation on a pod names its budget,
	// RelatedBudgetOlderAnnotation is the older spelling.
	RelatedBudgetAnnotation      = "pub.kruise.io/related-pub"
	RelatedBudgetOlderAnnotation = "kruise.io/related-pub"
)

// MethodAnnotation on a ContainerRecreateRequest is how a client is to restart its
// containers where there is a choice: image-alias, resize, signal or evict.
const MethodAnnotation = "kubectl-kruise.dev/method"

// SourceValue returns the value of [SourceLabel] for an object: its kind in
// lower case, a dot, its name. What a label value cannot hold is cut and ends
// in eight hexadecimal digits of a hash, so that two long names stay two.
func SourceValue(kind, name string) string {
	full := strings.ToLower(kind) + "." + name
	if len(full) <= validation.LabelValueMaxLength {
		return full
	}
	sum := sha256.Sum256([]byte(full))
	const digits = 8
	cut := strings.TrimRight(full[:validation.LabelValueMaxLength-digits-1], "-._")
	return cut + "-" + hex.EncodeToString(sum[:])[:digits]
}

// KeepsStrategy reports whether the spec of a kind is read back from what it was rendered
// into: by a rollout of this tool, and for a PodUnavailableBudget when pods are taken.
func KeepsStrategy(kind string) bool {
	return slices.Contains(keepStrategy, kind)
}

var keepStrategy = []string{KindCloneSet, KindStatefulSet, KindDaemonSet, KindPodUnavailableBudget}
