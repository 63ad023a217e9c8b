package main

import "github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"

// kind is what Argo CD is told of one of Kruise's kinds.
type argoKind struct {
	group, name string
	// actions that people may start, in the order of the menu.
	actions []string
	// ignored are JSON pointers to what others than Git write.
	ignored []string
}

func (k argoKind) key() string { return k.group + "_" + k.name }

const apps = "apps.kruise.io"

var rolling = []string{"pause", "resume", "promote", "restart"}

// kinds are all of them: a kind without a health script is no concern of Argo CD's.
var argoKinds = []argoKind{
	{apps, kruise.KindAdvancedCronJob, []string{"pause", "resume"}, nil},
	{apps, kruise.KindBroadcastJob, []string{"pause", "resume"}, nil},
	{apps, kruise.KindCloneSet, rolling, []string{
		"/spec/replicas", "/spec/scaleStrategy/podsToDelete", "/spec/updateStrategy/partition", "/spec/updateStrategy/paused",
		"/spec/updateStrategy/rollingUpdate/partition", "/spec/updateStrategy/rollingUpdate/paused",
	}},
	{apps, kruise.KindContainerRecreateRequest, nil, []string{"/metadata/labels", "/spec/containers"}},
	{apps, kruise.KindDaemonSet, rolling, []string{"/spec/updateStrategy/rollingUpdate/partition", "/spec/updateStrategy/rollingUpdate/paused"}},
	{apps, kruise.KindEphemeralJob, []string{"pause", "resume"}, nil},
	{apps, kruise.KindImageListPullJob, nil, nil},
	{apps, kruise.KindImagePullJob, nil, nil},
	{apps, kruise.KindNodeImage, nil, nil},
	{apps, kruise.KindPersistentPodState, nil, nil},
	{apps, kruise.KindPodProbeMarker, nil, nil},
	{"policy.kruise.io", kruise.KindPodUnavailableBudget, nil, nil},
	{apps, kruise.KindResourceDistribution, nil, nil},
	{apps, kruise.KindSidecarSet, []string{"pause", "resume", "promote"}, []string{
		"/metadata/annotations/kruise.io~1sidecarset-hash", "/metadata/annotations/kruise.io~1sidecarset-hash-without-image",
		"/spec/updateStrategy/partition", "/spec/updateStrategy/paused",
	}},
	{apps, kruise.KindStatefulSet, rolling, []string{"/spec/replicas", "/spec/updateStrategy/rollingUpdate/partition", "/spec/updateStrategy/rollingUpdate/paused"}},
	{apps, kruise.KindUnitedDeployment, []string{"promote", "restart"}, []string{"/spec/replicas", "/spec/updateStrategy/manualUpdate/partitions"}},
	{apps, kruise.KindWorkloadSpread, nil, nil},
}
