package emit

import (
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// applyOrder are the kinds in the order to create them: what others need
// comes first. Kinds that are not listed come behind all these but before
// applyLast. The same kind in two groups is the same here.
var applyOrder = [][]string{
	{"Namespace"},
	{"CustomResourceDefinition"},
	{"PriorityClass", "StorageClass", "RuntimeClass", "IngressClass", "VolumeAttributesClass", "DeviceClass"},
	{
		"ResourceQuota", "LimitRange", "NetworkPolicy", "ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding",
		"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding",
	},
	{"ConfigMap", "Secret", kruise.KindResourceDistribution, "PersistentVolume", "PersistentVolumeClaim", "ResourceClaim", "ResourceClaimTemplate"},
	{kruise.KindSidecarSet, kruise.KindPodProbeMarker, kruise.KindPersistentPodState, kruise.KindWorkloadSpread, kruise.KindPodUnavailableBudget, "PodDisruptionBudget"},
	{"Service", "Endpoints", "EndpointSlice"},
	{
		kruise.KindDeployment, kruise.KindStatefulSet, kruise.KindDaemonSet, kruise.KindReplicaSet, "ReplicationController", "CronJob", "Job", "Pod",
		kruise.KindCloneSet, kruise.KindUnitedDeployment, kruise.KindAdvancedCronJob, kruise.KindBroadcastJob, kruise.KindImagePullJob, kruise.KindImageListPullJob, kruise.KindNodeImage,
	},
}

// applyLast are webhooks: they can refuse everything behind them until what
// serves them runs.
var applyLast = []string{"APIService", "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"}

var ranks = func() map[string]int {
	m := map[string]int{}
	for rank, kinds := range applyOrder {
		for _, k := range kinds {
			m[k] = rank - len(applyOrder)
		}
	}
	for _, k := range applyLast {
		m[k] = 1
	}
	return m
}()

// ApplyOrder returns the resources in an order in which they can be applied
// (--order apply). Resources of one rank keep their order; rs stays as it is.
func ApplyOrder(rs []*resource.Resource) []*resource.Resource {
	out := slices.Clone(rs)
	slices.SortStableFunc(out, func(a, b *resource.Resource) int { return Rank(a.Kind()) - Rank(b.Kind()) })
	return out
}

// Rank returns the position of a kind in the order: lower ranks are applied first.
func Rank(kind string) int { return ranks[kind] }
