package schema

import "github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"

// mergeKeys are the lists of Kruise's own whose elements have a key, by kind and
// path in the newest version; [] steps into a list. The lists of Kubernetes'
// types, such as containers and volumes, bring theirs along.
var mergeKeys = map[string]map[string]string{
	kruise.KindContainerRecreateRequest: {"spec.containers": "name"},
	kruise.KindEphemeralJob:             {"spec.template.ephemeralContainers": "name"},
	kruise.KindNodeImage:                {"spec.images.{}.tags": "tag"},
	kruise.KindPersistentPodState:       {"spec.persistentPodAnnotations": "key"},
	kruise.KindPodProbeMarker:           {"spec.probes": "name"},
	kruise.KindResourceDistribution: {
		"spec.targets.includedNamespaces.list": "name",
		"spec.targets.excludedNamespaces.list": "name",
	},
	kruise.KindSidecarSet: {
		"spec.initContainers":   "name",
		"spec.containers":       "name",
		"spec.volumes":          "name",
		"spec.imagePullSecrets": "name",
	},
	kruise.KindUnitedDeployment: {"spec.topology.subsets": "name"},
	kruise.KindWorkloadSpread:   {"spec.subsets": "name"},
}
