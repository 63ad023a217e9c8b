package schema

// mergeKeys are the lists of Kruise's own whose elements have a key, by kind and
// path in the newest version; [] steps into a list. The lists of Kubernetes'
// types, such as containers and volumes, bring theirs along.
var mergeKeys = map[string]map[string]string{
	"ContainerRecreateRequest": {"spec.containers": "name"},
	"EphemeralJob":             {"spec.template.ephemeralContainers": "name"},
	"NodeImage":                {"spec.images.{}.tags": "tag"},
	"PersistentPodState":       {"spec.persistentPodAnnotations": "key"},
	"PodProbeMarker":           {"spec.probes": "name"},
	"ResourceDistribution": {
		"spec.targets.includedNamespaces.list": "name",
		"spec.targets.excludedNamespaces.list": "name",
	},
	"SidecarSet": {
		"spec.initContainers":   "name",
		"spec.containers":       "name",
		"spec.volumes":          "name",
		"spec.imagePullSecrets": "name",
	},
	"UnitedDeployment": {"spec.topology.subsets": "name"},
	"WorkloadSpread":   {"spec.subsets": "name"},
}
