package compare

import "strings"

// filling is a value that an API server writes where there is none. The path
// leads through maps by key and through every item of lists marked with [].
type filling struct {
	path  string
	value any
	// like names a field beside it whose value is taken instead.
	like string
}

// defaults are those of kinds that have no type here or whose type comes without
// them, by GROUP/KIND: what people write out as often as not.
var defaults = map[string][]filling{
	"/Service": {
		{path: "spec.type", value: "ClusterIP"},
		{path: "spec.sessionAffinity", value: "None"},
		{path: "spec.internalTrafficPolicy", value: "Cluster"},
		{path: "spec.ports[].protocol", value: "TCP"},
		{path: "spec.ports[].targetPort", like: "port"},
	},
	"/Secret":                {{path: "type", value: "Opaque"}},
	"/PersistentVolumeClaim": {{path: "spec.volumeMode", value: "Filesystem"}},
	"/PersistentVolume": {
		{path: "spec.volumeMode", value: "Filesystem"}, {path: "spec.persistentVolumeReclaimPolicy", value: "Retain"},
	},
	"batch/Job": append([]filling{
		{path: "spec.parallelism", value: 1.0}, {path: "spec.completions", like: "parallelism"},
	}, job("spec")...),
	"batch/CronJob": append([]filling{
		{path: "spec.concurrencyPolicy", value: "Allow"},
		{path: "spec.suspend", value: false},
		{path: "spec.successfulJobsHistoryLimit", value: 3.0},
		{path: "spec.failedJobsHistoryLimit", value: 1.0},
	}, job("spec.jobTemplate.spec")...),
	"/Pod":                                append(pod("spec"), filling{path: "spec.enableServiceLinks", value: true}),
	"autoscaling/HorizontalPodAutoscaler": {{path: "spec.minReplicas", value: 1.0}},
	"storage.k8s.io/StorageClass":         {{path: "reclaimPolicy", value: "Delete"}, {path: "volumeBindingMode", value: "Immediate"}},
	"networking.k8s.io/NetworkPolicy": {
		{path: "spec.ingress[].ports[].protocol", value: "TCP"}, {path: "spec.egress[].ports[].protocol", value: "TCP"},
	},
	"apps.kruise.io/CloneSet":                      inPlace,
	"apps.kruise.io/StatefulSet":                   inPlace,
	"rbac.authorization.k8s.io/RoleBinding":        binding,
	"rbac.authorization.k8s.io/ClusterRoleBinding": binding,
}

var binding = []filling{{path: "roleRef.apiGroup", value: "rbac.authorization.k8s.io"}}

// inPlace: the webhook writes an empty strategy, which says nothing.
var inPlace = []filling{{path: "spec.updateStrategy.rollingUpdate.inPlaceUpdateStrategy", value: map[string]any{}}}

func job(spec string) []filling {
	return append([]filling{
		{path: spec + ".backoffLimit", value: 6.0},
		{path: spec + ".completionMode", value: "NonIndexed"},
		{path: spec + ".suspend", value: false},
		{path: spec + ".podReplacementPolicy", value: "TerminatingOrFailed"},
	}, pod(spec+".template.spec")...)
}

// pod are the defaults that are written out most of a pod that no workload of
// package kruise holds.
func pod(spec string) []filling {
	out := []filling{
		{path: spec + ".dnsPolicy", value: "ClusterFirst"},
		{path: spec + ".schedulerName", value: "default-scheduler"},
		{path: spec + ".terminationGracePeriodSeconds", value: 30.0},
		{path: spec + ".restartPolicy", value: "Always"},
	}
	for _, list := range []string{".containers[]", ".initContainers[]"} {
		out = append(out,
			filling{path: spec + list + ".terminationMessagePath", value: "/dev/termination-log"},
			filling{path: spec + list + ".terminationMessagePolicy", value: "File"},
			filling{path: spec + list + ".ports[].protocol", value: "TCP"},
		)
	}
	return out
}

// fill sets the value where the maps that would hold it are there and it is not.
func (d filling) fill(v map[string]any) { d.at(v, strings.Split(d.path, ".")) }

func (d filling) at(v any, steps []string) {
	m, ok := v.(map[string]any)
	if !ok {
		return
	}
	key, list := strings.CutSuffix(steps[0], "[]")
	switch {
	case list:
		items, _ := m[key].([]any)
		for _, item := range items {
			d.at(item, steps[1:])
		}
	case len(steps) > 1:
		d.at(m[key], steps[1:])
	case m[key] == nil:
		if m[key] = d.value; d.like != "" {
			m[key] = m[d.like]
		}
	}
}
