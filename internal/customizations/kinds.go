package main

// kind is what Argo CD is told of one of Kruise's kinds.
type kind struct {
	group, name string
	// actions that people may start, in the order of the menu.
	actions []string
	// ignored are JSON pointers to what others than Git write.
	ignored []string
}

func (k kind) key() string { return k.group + "_" + k.name }

const apps = "apps.kruise.io"

var rolling = []string{"pause", "resume", "promote", "restart"}

// kinds are all of them: a kind without a health script is no concern of Argo CD's.
var kinds = []kind{
	{apps, "AdvancedCronJob", []string{"pause", "resume"}, nil},
	{apps, "BroadcastJob", []string{"pause", "resume"}, nil},
	{apps, "CloneSet", rolling, []string{
		"/spec/replicas", "/spec/scaleStrategy/podsToDelete", "/spec/updateStrategy/partition", "/spec/updateStrategy/paused",
		"/spec/updateStrategy/rollingUpdate/partition", "/spec/updateStrategy/rollingUpdate/paused",
	}},
	{apps, "ContainerRecreateRequest", nil, []string{"/metadata/labels", "/spec/containers"}},
	{apps, "DaemonSet", rolling, []string{"/spec/updateStrategy/rollingUpdate/partition", "/spec/updateStrategy/rollingUpdate/paused"}},
	{apps, "EphemeralJob", []string{"pause", "resume"}, nil},
	{apps, "ImageListPullJob", nil, nil},
	{apps, "ImagePullJob", nil, nil},
	{apps, "NodeImage", nil, nil},
	{apps, "PersistentPodState", nil, nil},
	{apps, "PodProbeMarker", nil, nil},
	{"policy.kruise.io", "PodUnavailableBudget", nil, nil},
	{apps, "ResourceDistribution", nil, nil},
	{apps, "SidecarSet", []string{"pause", "resume", "promote"}, []string{
		"/metadata/annotations/kruise.io~1sidecarset-hash", "/metadata/annotations/kruise.io~1sidecarset-hash-without-image",
		"/spec/updateStrategy/partition", "/spec/updateStrategy/paused",
	}},
	{apps, "StatefulSet", rolling, []string{"/spec/replicas", "/spec/updateStrategy/rollingUpdate/partition", "/spec/updateStrategy/rollingUpdate/paused"}},
	{apps, "UnitedDeployment", []string{"promote", "restart"}, []string{"/spec/replicas", "/spec/updateStrategy/manualUpdate/partitions"}},
	{apps, "WorkloadSpread", nil, nil},
}
