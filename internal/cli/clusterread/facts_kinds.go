package clusterread

import (
	_ "embed"
	"sync"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/placement"
)

// factKind is one kind of fact: how it is asked for, and what of it is kept.
type factKind struct {
	group, name, resource string
	// version is that of the API; Kruise's kinds have the newest that is served.
	version string
	// mask is the entry of masks with what of it is kept.
	mask string
	// momentary facts are about what is done at once; in a file they would be wrong
	// a minute later.
	momentary bool
}

// mask is what is read of an object.
type mask struct {
	Keep paths `json:"keep"`
	Drop paths `json:"drop"`
}

//go:embed masks.yaml
var masksFile []byte

// masks are by their names in [factKind].
var masks = sync.OnceValue(func() map[string]mask {
	var out map[string]mask
	if err := yaml.UnmarshalStrict(masksFile, &out); err != nil {
		panic("masks.yaml: " + err.Error()) // it is embedded: a test would show it
	}
	for _, m := range out { // the identity
		if m.Keep["metadata"] == nil {
			m.Keep["metadata"] = paths{}
		}
		m.Keep["apiVersion"], m.Keep["kind"], m.Keep["metadata"]["name"], m.Keep["metadata"]["namespace"] = nil, nil, nil, nil
	}
	return out
})

func workloadFacts(group, version, name, resource string) *factKind {
	return &factKind{group: group, version: version, name: name, resource: resource, mask: "workloads"}
}

// The kinds that rendering asks about.
var (
	namespaces       = &factKind{version: "v1", name: "Namespace", resource: "namespaces", mask: "namespaces"}
	nodeFacts        = &factKind{version: "v1", name: "Node", resource: "nodes", mask: "nodes"}
	limitRanges      = &factKind{version: "v1", name: "LimitRange", resource: "limitranges", mask: "limit ranges"}
	serviceAccounts  = &factKind{version: "v1", name: "ServiceAccount", resource: "serviceaccounts", mask: "service accounts"}
	services         = &factKind{version: "v1", name: "Service", resource: "services", mask: "services"}
	podFacts         = &factKind{version: "v1", name: "Pod", resource: "pods", mask: "pods"}
	runningPods      = &factKind{version: "v1", name: "Pod", resource: "pods", mask: "running pods", momentary: true}
	placedPods       = &factKind{version: "v1", name: "Pod", resource: "pods", mask: "placed pods"}
	configuration    = &factKind{version: "v1", name: "ConfigMap", resource: "configmaps", mask: "configuration"}
	copies           = &factKind{version: "v1", name: "ConfigMap", resource: "configmaps", mask: "copies"}
	immutableCopies  = &factKind{version: "v1", name: "ConfigMap", resource: "configmaps", mask: "immutable copies"}
	renderedStates   = &factKind{version: "v1", name: "ConfigMap", resource: "configmaps", mask: "rendered states"}
	sidecarRevisions = &factKind{group: "apps", version: "v1", name: "ControllerRevision", resource: "controllerrevisions", mask: "revisions"}
	autoscalers      = &factKind{group: "autoscaling", version: "v2", name: "HorizontalPodAutoscaler", resource: "horizontalpodautoscalers", mask: "autoscalers"}
	scaledObjects    = &factKind{group: "keda.sh", name: "ScaledObject", resource: "scaledobjects", mask: "scaled objects"}

	deployments     = workloadFacts("apps", "v1", kruise.KindDeployment, "deployments")
	statefulSets    = workloadFacts("apps", "v1", kruise.KindStatefulSet, "statefulsets")
	replicaSets     = workloadFacts("apps", "v1", kruise.KindReplicaSet, "replicasets")
	cloneSets       = workloadFacts(kruise.Group, "", kruise.KindCloneSet, "clonesets")
	advancedSets    = workloadFacts(kruise.Group, "", kruise.KindStatefulSet, "statefulsets")
	advancedDaemons = workloadFacts(kruise.Group, "", kruise.KindDaemonSet, "daemonsets")

	unitedDeployments     = &factKind{group: kruise.Group, name: kruise.KindUnitedDeployment, resource: "uniteddeployments", mask: "united deployments"}
	resourceDistributions = &factKind{group: kruise.Group, name: kruise.KindResourceDistribution, resource: "resourcedistributions", mask: "distributions"}
	workloadSpreads       = &factKind{group: kruise.Group, name: kruise.KindWorkloadSpread, resource: "workloadspreads", mask: "spreads"}
	podStates             = &factKind{group: kruise.Group, name: placement.Kind, resource: "persistentpodstates", mask: "pod states"}
	podUnavailableBudgets = &factKind{group: kruise.PolicyGroup, name: kruise.KindPodUnavailableBudget, resource: "podunavailablebudgets", mask: "budgets"}
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
