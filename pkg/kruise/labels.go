package kruise

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
	// NodesAnnotation on a BroadcastJob is how many nodes it shall run on, for
	// rendering where nobody knows their names.
	NodesAnnotation = "kubectl-kruise.dev/nodes"
	// RolloutAnnotation on a workload says how its changes are rolled out.
	RolloutAnnotation = "kubectl-kruise.dev/rollout"
	// InServiceLabel is taken from a pod that shall get no traffic.
	InServiceLabel = "kubectl-kruise.dev/in-service"
	// TrackLabel tells the pods of a canary workload from those of the stable one
	// that it stands beside; TrackCanary is its value there.
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
	// SpecifiedDeleteLabel marks a pod that its workload shall replace; the
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
	// RuntimeContainersMetaAnnotation is written by the node agent.
	RuntimeContainersMetaAnnotation = "apps.kruise.io/runtime-containers-meta"
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

// Image pre-download (docs/kruise/workloads.md#image-pre-download), on the workload unless said
// otherwise.
const (
	// ImagePreDownloadParallelismAnnotation is the number of nodes at a time.
	ImagePreDownloadParallelismAnnotation = "apps.kruise.io/image-predownload-parallelism"
	// ImagePreDownloadTimeoutSecondsAnnotation is the time for one pull.
	ImagePreDownloadTimeoutSecondsAnnotation = "apps.kruise.io/image-predownload-timeout-seconds"
	// ImagePreDownloadMinUpdatedReadyPodsAnnotation is how many updated pods
	// must be ready before the download starts.
	ImagePreDownloadMinUpdatedReadyPodsAnnotation = "apps.kruise.io/image-predownload-min-updated-ready-pods"
	// ImagePreDownloadCreatedLabel is on a revision whose jobs were created.
	ImagePreDownloadCreatedLabel = "apps.kruise.io/pre-predownload-created"
	// ImagePreDownloadIgnoredLabel is on a revision that needs no download.
	ImagePreDownloadIgnoredLabel = "apps.kruise.io/image-predownload-ignored"
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
	// ContainerLaunchPriorityCompletedAnnotation is "true" once all started.
	ContainerLaunchPriorityCompletedAnnotation = "apps.kruise.io/container-launch-priority-completed"
	// ContainerPriorityEnv is a container's priority; larger starts earlier.
	ContainerPriorityEnv = "KRUISE_CONTAINER_PRIORITY"
	// ContainerBarrierEnv holds a container until its key of the pod's
	// barrier ConfigMap exists.
	ContainerBarrierEnv = "KRUISE_CONTAINER_BARRIER"
	// UsingEnhancedLivenessAnnotation, "true", takes the liveness probes out.
	UsingEnhancedLivenessAnnotation = "apps.kruise.io/using-enhanced-liveness"
	// ContainerProbeContextAnnotation keeps the probes taken out.
	ContainerProbeContextAnnotation = "apps.kruise.io/container-probe-context"
	// TerminateSidecarEnv marks a container that ends with the job.
	TerminateSidecarEnv = "KRUISE_TERMINATE_SIDECAR_WHEN_JOB_EXIT"
	// TerminateSidecarWithImageEnv gives the image that ends the container on
	// a virtual node.
	TerminateSidecarWithImageEnv = "KRUISE_TERMINATE_SIDECAR_WHEN_JOB_EXIT_WITH_IMAGE"
	// TerminateSidecarIgnoreExitCodeEnv leaves the sidecar's exit code out of
	// the pod's result.
	TerminateSidecarIgnoreExitCodeEnv = "KRUISE_TERMINATE_SIDECAR_IGNORE_EXIT_CODE"
)

// Pod probes (docs/kruise/protection.md#other-features), on pods.
const (
	PodProbeAnnotation           = "kruise.io/podprobe"
	PodProbeMarkerListAnnotation = "kruise.io/podprobemarker-list"
)
