package live

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// kind is one kind of fact: how it is asked for, and what of it is kept.
type kind struct {
	group, name, resource string
	// version is that of the API; Kruise's kinds have the newest that is served.
	version string
	// keep names the fields that rendering reads, besides the identity; drop is
	// taken away from them again. Everything else stays in the cluster: it would
	// make a file of facts long, restless, or give away what nobody asked for.
	keep, drop []string
	// tidy is the last to look at what was kept.
	tidy func(object map[string]any)
	// momentary facts are about what is done at once; in a file they would be wrong
	// a minute later.
	momentary bool
}

// The parts of objects that several kinds keep.
const (
	metaLabels = "metadata labels"
	owners     = "metadata ownerReferences "
	targetRef  = "spec targetRef"
)

// workload keeps what says whose it is, whom it selects and how big it is.
func workload(group, version, name, resource string) *kind {
	return &kind{group: group, version: version, name: name, resource: resource, keep: []string{
		metaLabels, owners + "apiVersion", owners + "kind", owners + "name", owners + "controller",
		"spec replicas", "spec selector", "spec serviceName", "spec podManagementPolicy", "spec scaleStrategy podsToDelete",
		"spec ordinals", "spec reserveOrdinals",
		"status readyReplicas",
	}}
}

// The kinds that rendering asks about.
var (
	namespaces = &kind{version: "v1", name: "Namespace", resource: "namespaces", keep: []string{metaLabels}}
	nodes      = &kind{version: "v1", name: "Node", resource: "nodes", keep: []string{
		metaLabels, "spec taints key", "spec taints value", "spec taints effect", "spec unschedulable", "status allocatable",
	}}
	limitRanges     = &kind{version: "v1", name: "LimitRange", resource: "limitranges", keep: []string{"spec limits"}}
	serviceAccounts = &kind{version: "v1", name: "ServiceAccount", resource: "serviceaccounts", keep: []string{"imagePullSecrets"}}
	services        = &kind{version: "v1", name: "Service", resource: "services", keep: []string{metaLabels, "spec clusterIP", "spec selector"}, tidy: addressless}
	pods            = &kind{version: "v1", name: "Pod", resource: "pods", keep: []string{
		metaLabels, "spec nodeName", "status phase", "status conditions type", "status conditions status", "status conditions reason",
	}}
	configuration = &kind{version: "v1", name: "ConfigMap", resource: "configmaps", keep: []string{"data"}}
	copies        = &kind{version: "v1", name: "ConfigMap", resource: "configmaps", keep: []string{
		metaLabels, "metadata annotations " + kruise.ResourceDistributedByAnnotation,
		owners + "apiVersion", owners + "kind", owners + "name", owners + "controller", "immutable",
	}}
	frozenCopies = &kind{version: "v1", name: "ConfigMap", resource: "configmaps", keep: append([]string{"data", "binaryData"}, copies.keep...)}
	revisions    = &kind{group: "apps", version: "v1", name: "ControllerRevision", resource: "controllerrevisions", keep: []string{
		metaLabels, "revision", "data spec",
	}}
	autoscalers   = &kind{group: "autoscaling", version: "v2", name: "HorizontalPodAutoscaler", resource: "horizontalpodautoscalers", keep: []string{"spec scaleTargetRef", "spec minReplicas"}}
	scaledObjects = &kind{group: "keda.sh", name: "ScaledObject", resource: "scaledobjects", keep: []string{"spec scaleTargetRef", "spec minReplicaCount"}}

	deployments     = workload("apps", "v1", kruise.KindDeployment, "deployments")
	statefulSets    = workload("apps", "v1", kruise.KindStatefulSet, "statefulsets")
	replicaSets     = workload("apps", "v1", kruise.KindReplicaSet, "replicasets")
	cloneSets       = workload(kruise.Group, "", kruise.KindCloneSet, "clonesets")
	advancedSets    = workload(kruise.Group, "", kruise.KindStatefulSet, "statefulsets")
	advancedDaemons = workload(kruise.Group, "", kruise.KindDaemonSet, "daemonsets")

	unitedDeployments = &kind{
		group: kruise.Group, name: kruise.KindUnitedDeployment, resource: "uniteddeployments",
		keep: []string{
			"spec selector", "spec topology subsets name", "spec topology subsets nodeSelectorTerm", "spec topology subsets tolerations",
			"spec template statefulSetTemplate spec", "spec template advancedStatefulSetTemplate spec",
			"status subsetStatuses name", "status subsetStatuses replicas", "status subsetStatuses reservedPods",
			"status subsetStatuses conditions type", "status subsetStatuses conditions status",
		},
		drop: []string{"spec template statefulSetTemplate spec template", "spec template advancedStatefulSetTemplate spec template"},
	}
	resourceDistributions = &kind{group: kruise.Group, name: kruise.KindResourceDistribution, resource: "resourcedistributions", keep: []string{
		"spec resource apiVersion", "spec resource kind", "spec resource metadata name", "spec targets",
	}}
	workloadSpreads = &kind{group: kruise.Group, name: kruise.KindWorkloadSpread, resource: "workloadspreads", keep: []string{
		targetRef, "status subsetStatuses name", "status subsetStatuses replicas", "status subsetStatuses missingReplicas",
		"status subsetStatuses conditions type", "status subsetStatuses conditions status",
	}}
	budgets = &kind{group: kruise.PolicyGroup, name: kruise.KindPodUnavailableBudget, resource: "podunavailablebudgets", keep: []string{targetRef, "spec selector"}}
)

// Kinds are the names of all kinds of facts, sorted.
func Kinds() []string {
	set := map[string]bool{clusterFacts: true}
	for _, k := range []*kind{
		namespaces, nodes, limitRanges, serviceAccounts, services, pods, configuration, revisions, autoscalers, scaledObjects,
		deployments, statefulSets, replicaSets, cloneSets, advancedDaemons, unitedDeployments,
		resourceDistributions, workloadSpreads, podStates, budgets,
	} {
		set[k.name] = true
	}
	return sorted(set)
}
