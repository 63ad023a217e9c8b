package kruise

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
	// MatchedWorkloadSpreadAnnotation says in which subset a pod is (JSON).
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
	// ScheduledAtAnnotation is on what an AdvancedCronJob created (RFC 3339).
	ScheduledAtAnnotation = "apps.kruise.io/scheduled-at"
	// The copies of pull secrets carry these.
	ImagePullJobSourceKeyAnnotation  = "imagepulljobs.kruise.io/source-key"
	ImagePullJobReferencesAnnotation = "imagepulljobs.kruise.io/references"
	ImagePullJobModeAnnotation       = "imagepulljobs.kruise.io/mode"
	// ImagePullJobFinalizer holds an ImagePullJob until its secrets are gone.
	ImagePullJobFinalizer = "apps.kruise.io/deletion-protection"
	// DaemonConfigNamespace is where they are, DaemonConfigNamespaceEnv what
	// moves it.
	DaemonConfigNamespace    = "kruise-daemon-config"
	DaemonConfigNamespaceEnv = "KRUISE_DAEMON_CONFIG_NS"
	// EphemeralJobEnv holds the job's uid in the containers it added.
	EphemeralJobEnv = "KRUISE_EJOB_ID"
	// EphemeralJobFinalizer is on EphemeralJobs.
	EphemeralJobFinalizer = "apps.kruise.io/ephemeralcontainers-cleanup"
)

// ContainerRecreateRequest (docs/kruise/jobs.md#containerrecreaterequest and
// docs/kruise/distribution.md#in-two-versions).
const (
	// The request carries these labels.
	ContainerRecreatePodUIDLabel   = "crr.apps.kruise.io/pod-uid"
	ContainerRecreateNodeNameLabel = "crr.apps.kruise.io/node-name"
	ContainerRecreateActiveLabel   = "crr.apps.kruise.io/active"
	// ContainerRecreateSyncStatusesAnnotation (JSON) of v1alpha1 is
	// status.containerStatusSnapshot of v1beta1.
	ContainerRecreateSyncStatusesAnnotation = "crr.apps.kruise.io/sync-container-statuses"
	// ContainerRecreateUnreadyAcquiredAnnotation (RFC 3339) of v1alpha1 is the
	// condition [ContainerRecreatePreRecreateGrace] of v1beta1.
	ContainerRecreateUnreadyAcquiredAnnotation = "crr.apps.kruise.io/unready-acquired"
	// ContainerRecreatePreRecreateGrace is the condition whose last transition
	// starts the grace period.
	ContainerRecreatePreRecreateGrace = "PreRecreateGrace"
	// ContainerRecreateFinalizer is there while the pod is held unready.
	ContainerRecreateFinalizer = "crr.apps.kruise.io/unready-acquired"
)
