package clusterread

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// factKind is one kind of fact: how it is asked for, and what of it is kept.
type factKind struct {
	group, name, resource string
	// version is that of the API; Kruise's kinds have the newest that is served.
	version string
	// keep names the fields that rendering reads, besides the identity; drop is
	// taken away from them again. Everything else stays in the cluster: it would
	// make a file of facts long, changing, or give away what was not asked for.
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

// workloadFacts keeps what says whose it is, whom it selects and how big it is.
func workloadFacts(group, version, name, resource string) *factKind {
	return &factKind{group: group, version: version, name: name, resource: resource, keep: []string{
		metaLabels, owners + "apiVersion", owners + "kind", owners + "name", owners + "controller",
		"spec replicas", "spec selector", "spec serviceName", "spec podManagementPolicy", "spec scaleStrategy podsToDelete",
		"spec ordinals", "spec reserveOrdinals",
		"status readyReplicas",
	}}
}

// The kinds that rendering asks about.
var (
	namespaces = &factKind{version: "v1", name: "Namespace", resource: "namespaces", keep: []string{metaLabels}}
	nodeFacts  = &factKind{version: "v1", name: "Node", resource: "nodes", keep: []string{
		metaLabels, "spec taints key", "spec taints value", "spec taints effect", "spec unschedulable", "status allocatable",
	}}
	limitRanges     = &factKind{version: "v1", name: "LimitRange", resource: "limitranges", keep: []string{"spec limits"}}
	serviceAccounts = &factKind{version: "v1", name: "ServiceAccount", resource: "serviceaccounts", keep: []string{"imagePullSecrets"}}
	services        = &factKind{version: "v1", name: "Service", resource: "services", keep: []string{metaLabels, "spec clusterIP", "spec selector"}, tidy: addressless}
	podFacts        = &factKind{version: "v1", name: "Pod", resource: "pods", keep: []string{
		metaLabels, "spec nodeName", "status phase", "status conditions type", "status conditions status", "status conditions reason",
	}}
	configuration = &factKind{version: "v1", name: "ConfigMap", resource: "configmaps", keep: []string{"data"}}
	copies        = &factKind{version: "v1", name: "ConfigMap", resource: "configmaps", keep: []string{
		metaLabels, "metadata annotations " + kruise.ResourceDistributedByAnnotation,
		owners + "apiVersion", owners + "kind", owners + "name", owners + "controller", "immutable",
	}}
	immutableCopies  = &factKind{version: "v1", name: "ConfigMap", resource: "configmaps", keep: append([]string{"data", "binaryData"}, copies.keep...)}
	sidecarRevisions = &factKind{group: "apps", version: "v1", name: "ControllerRevision", resource: "controllerrevisions", keep: []string{
		metaLabels, "revision", "data spec",
	}}
	autoscalers   = &factKind{group: "autoscaling", version: "v2", name: "HorizontalPodAutoscaler", resource: "horizontalpodautoscalers", keep: []string{"spec scaleTargetRef", "spec minReplicas"}}
	scaledObjects = &factKind{group: "keda.sh", name: "ScaledObject", resource: "scaledobjects", keep: []string{"spec scaleTargetRef", "spec minReplicaCount"}}

	deployments     = workloadFacts("apps", "v1", kruise.KindDeployment, "deployments")
	statefulSets    = workloadFacts("apps", "v1", kruise.KindStatefulSet, "statefulsets")
	replicaSets     = workloadFacts("apps", "v1", kruise.KindReplicaSet, "replicasets")
	cloneSets       = workloadFacts(kruise.Group, "", kruise.KindCloneSet, "clonesets")
	advancedSets    = workloadFacts(kruise.Group, "", kruise.KindStatefulSet, "statefulsets")
	advancedDaemons = workloadFacts(kruise.Group, "", kruise.KindDaemonSet, "daemonsets")

	unitedDeployments = &factKind{
		group: kruise.Group, name: kruise.KindUnitedDeployment, resource: "uniteddeployments",
		keep: []string{
			"spec selector", "spec topology subsets name", "spec topology subsets nodeSelectorTerm", "spec topology subsets tolerations",
			"spec template statefulSetTemplate spec", "spec template advancedStatefulSetTemplate spec",
			"status subsetStatuses name", "status subsetStatuses replicas", "status subsetStatuses reservedPods",
			"status subsetStatuses conditions type", "status subsetStatuses conditions status",
		},
		drop: []string{"spec template statefulSetTemplate spec template", "spec template advancedStatefulSetTemplate spec template"},
	}
	resourceDistributions = &factKind{group: kruise.Group, name: kruise.KindResourceDistribution, resource: "resourcedistributions", keep: []string{
		"spec resource apiVersion", "spec resource kind", "spec resource metadata name", "spec targets",
	}}
	workloadSpreads = &factKind{group: kruise.Group, name: kruise.KindWorkloadSpread, resource: "workloadspreads", keep: []string{
		targetRef, "status subsetStatuses name", "status subsetStatuses replicas", "status subsetStatuses missingReplicas",
		"status subsetStatuses conditions type", "status subsetStatuses conditions status",
	}}
	podUnavailableBudgets = &factKind{group: kruise.PolicyGroup, name: kruise.KindPodUnavailableBudget, resource: "podunavailablebudgets", keep: []string{targetRef, "spec selector"}}
)

// FactKinds are the names of all kinds of facts, sorted.
func FactKinds() []string {
	set := map[string]bool{clusterFacts: true}
	for _, k := range []*factKind{
		namespaces, nodeFacts, limitRanges, serviceAccounts, services, podFacts, configuration, sidecarRevisions, autoscalers, scaledObjects,
		deployments, statefulSets, replicaSets, cloneSets, advancedDaemons, unitedDeployments,
		resourceDistributions, workloadSpreads, podStates, podUnavailableBudgets,
	} {
		set[k.name] = true
	}
	return sortedKeys(set)
}
