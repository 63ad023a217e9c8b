package kruise

// The names of Kruise's kinds, as an object's field kind has them.
const (
	KindAdvancedCronJob          = "AdvancedCronJob"
	KindBroadcastJob             = "BroadcastJob"
	KindCloneSet                 = "CloneSet"
	KindContainerRecreateRequest = "ContainerRecreateRequest"
	KindEphemeralJob             = "EphemeralJob"
	KindImageListPullJob         = "ImageListPullJob"
	KindImagePullJob             = "ImagePullJob"
	KindNodeImage                = "NodeImage"
	KindNodePodProbe             = "NodePodProbe"
	KindPersistentPodState       = "PersistentPodState"
	KindPodProbeMarker           = "PodProbeMarker"
	KindPodUnavailableBudget     = "PodUnavailableBudget"
	KindResourceDistribution     = "ResourceDistribution"
	KindSidecarSet               = "SidecarSet"
	KindUnitedDeployment         = "UnitedDeployment"
	KindWorkloadSpread           = "WorkloadSpread"
)

// The names that Kruise and Kubernetes both have a kind of: the group distinguishes them.
const (
	KindDaemonSet   = "DaemonSet"
	KindStatefulSet = "StatefulSet"
)

// The names of Kubernetes' own workloads that Kruise has no kind of.
const (
	KindDeployment = "Deployment"
	KindReplicaSet = "ReplicaSet"
)
