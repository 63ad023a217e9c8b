package check_test

import (
	"strings"
	"testing"
)

// object is a manifest of a kind with these fields in its spec.
func object(kind, spec string) string {
	version := "v1beta1"
	if kind == "PodProbeMarker" {
		version = "v1alpha1"
	}
	return "apiVersion: apps.kruise.io/" + version + "\nkind: " + kind + "\nmetadata: {name: web, namespace: shop}\nspec: {" + spec + "}\n"
}

// TestObject_AcceptedValues: what Kruise takes, although it hardly was meant, is marked as accepted, and
// its neighbours are refused. The recordings of random objects have each of them.
func TestObject_AcceptedValues(t *testing.T) {
	const selects = "selector: {matchLabels: {app: web}}, " + podOf
	const subsets = "selector: {matchLabels: {app: web}}, replicas: 4, "
	clones := "template: {cloneSetTemplate: {metadata: {labels: {app: web}}, spec: {selector: {matchLabels: {app: web}}, " + podOf + "}}}"
	deployments := "template: {deploymentTemplate: {metadata: {labels: {app: web}}, spec: {selector: {matchLabels: {app: web}}, " + podOf + "}}}"
	sets := "template: {statefulSetTemplate: {metadata: {labels: {app: web}}, spec: {selector: {matchLabels: {app: web}}, " + podOf + "}}}"
	two := ", topology: {subsets: [{name: a, replicas: 2}, {name: b}]}"
	pod := func(of, line string) string {
		return strings.Replace(of, "spec: {containers", "spec: {"+line+", containers", 1)
	}
	labels := func(of string) string {
		return strings.Replace(of, podOf, strings.Replace(podOf, "app: web", "app: web, extra: 'not ok!'", 1), 1)
	}
	probe := "containerName: web, probe: {exec: {command: [x]}}"
	for name, c := range map[string]struct{ object, want string }{
		"StatefulSet, bad pod":              {object("StatefulSet", "serviceName: web, "+pod(selects, "serviceAccountName: 'S A'")), "pod/template-invalid spec.template.spec.serviceAccountName (accepted)"},
		"StatefulSet, bad label":            {object("StatefulSet", "serviceName: web, "+labels(selects)), "pod/template-invalid spec.template.metadata.labels"},
		"StatefulSet, start":                {object("StatefulSet", "serviceName: web, ordinals: {start: -1}, "+selects), "statefulset/number-negative spec.ordinals.start (accepted)"},
		"StatefulSet, claim":                {object("StatefulSet", "serviceName: web, volumeClaimTemplates: [{metadata: {name: Bad Name}, spec: {}}], "+selects), "pod/template-invalid spec.volumeClaimTemplates[0].metadata.name (accepted)"},
		"CloneSet, bad pod":                 {object("CloneSet", pod(selects, "serviceAccountName: 'S A'")), "pod/template-invalid spec.template.spec.serviceAccountName"},
		"CloneSet, claim":                   {object("CloneSet", "volumeClaimTemplates: [{metadata: {name: Bad Name}, spec: {}}], "+selects), "pod/template-invalid spec.volumeClaimTemplates[0].metadata.name"},
		"CloneSet, minReadySeconds":         {object("CloneSet", "minReadySeconds: -1, "+selects), "cloneset/number-negative spec.minReadySeconds (accepted)"},
		"CloneSet, revisionHistoryLimit":    {object("CloneSet", "revisionHistoryLimit: -1, "+selects), "cloneset/number-negative spec.revisionHistoryLimit (accepted)"},
		"CloneSet, maxUnavailable":          {object("CloneSet", "updateStrategy: {rollingUpdate: {maxUnavailable: -1}}, "+selects), "cloneset/max-unavailable-invalid spec.updateStrategy.rollingUpdate.maxUnavailable (accepted)"},
		"CloneSet, time to stop":            {object("CloneSet", pod(selects, "terminationGracePeriodSeconds: -1")), "pod/template-invalid spec.template.spec.terminationGracePeriodSeconds (accepted)"},
		"StatefulSet, dots in the name":     {strings.Replace(object("StatefulSet", "serviceName: web, "+selects), "name: web,", "name: web.a,", 1), "object/name-invalid metadata.name"},
		"StatefulSet, a long name":          {strings.Replace(object("StatefulSet", "serviceName: web, "+selects), "name: web,", "name: "+strings.Repeat("w", 64)+",", 1), "object/name-invalid metadata.name"},
		"CloneSet, replicas":                {object("CloneSet", "replicas: -1, "+selects), "cloneset/number-negative spec.replicas"},
		"CloneSet, maxSurge":                {object("CloneSet", "updateStrategy: {rollingUpdate: {maxSurge: -1}}, "+selects), "cloneset/max-surge-invalid spec.updateStrategy.rollingUpdate.maxSurge (accepted)"},
		"CloneSet, partition":               {object("CloneSet", "updateStrategy: {rollingUpdate: {partition: -1}}, "+selects), "cloneset/partition-invalid spec.updateStrategy.rollingUpdate.partition"},
		"CloneSet, partition in per cent":   {object("CloneSet", "updateStrategy: {rollingUpdate: {partition: -5%}}, "+selects), "cloneset/partition-invalid spec.updateStrategy.rollingUpdate.partition (accepted)"},
		"CloneSet, empty weight selector":   {object("CloneSet", "updateStrategy: {rollingUpdate: {priorityStrategy: {weightPriority: [{weight: 1}]}}}, "+selects), "cloneset/priority-invalid spec.updateStrategy.rollingUpdate.priorityStrategy.weightPriority[0].matchSelector"},
		"DaemonSet, nodes":                  {object("DaemonSet", "updateStrategy: {rollingUpdate: {selector: {matchLabels: {'a b': c}}}}, "+selects), "daemonset/node-selector-invalid spec.updateStrategy.rollingUpdate.selector.matchLabels (accepted)"},
		"DaemonSet, partition":              {object("DaemonSet", "updateStrategy: {rollingUpdate: {partition: 101%}}, "+selects), "daemonset/partition-invalid spec.updateStrategy.rollingUpdate.partition"},
		"UnitedDeployment, no subsets":      {object("UnitedDeployment", subsets+clones+", topology: {}"), "uniteddeployment/topology-invalid spec.topology.subsets (accepted)"},
		"UnitedDeployment, replicas":        {object("UnitedDeployment", strings.Replace(subsets, "4", "-1", 1)+clones+", topology: {}"), "uniteddeployment/replicas-invalid spec.replicas"},
		"UnitedDeployment, bad Deployment":  {object("UnitedDeployment", subsets+pod(deployments, "activeDeadlineSeconds: 9")+two), "pod/template-invalid spec.template.deploymentTemplate.spec.template.spec.activeDeadlineSeconds"},
		"UnitedDeployment, pods that end":   {object("UnitedDeployment", subsets+pod(deployments, "restartPolicy: Never")+two), "pod/template-invalid spec.template.deploymentTemplate.spec.template.spec.restartPolicy"},
		"UnitedDeployment, no containers":   {object("UnitedDeployment", subsets+strings.Replace(deployments, "[{name: web, image: 'example.com/web:1'}]", "[]", 1)+two), "pod/template-invalid spec.template.deploymentTemplate.spec.template.spec.containers"},
		"UnitedDeployment, bad label":       {object("UnitedDeployment", subsets+labels(sets)+two), "pod/template-invalid spec.template.statefulSetTemplate.spec.template.metadata.labels"},
		"UnitedDeployment, toleration":      {object("UnitedDeployment", subsets+clones+strings.Replace(two, "name: a", "name: a, tolerations: [{key: k, operator: Like}]", 1)), "uniteddeployment/topology-invalid spec.topology.subsets[0].tolerations[0].operator"},
		"UnitedDeployment, nodes":           {object("UnitedDeployment", subsets+clones+strings.Replace(two, "name: a", "name: a, nodeSelectorTerm: {matchExpressions: [{key: k, operator: Like, values: [b]}]}", 1)), "uniteddeployment/topology-invalid spec.topology.subsets[0].nodeSelectorTerm.matchExpressions[0].operator"},
		"PodProbeMarker, own condition":     {object("PodProbeMarker", "selector: {matchLabels: {app: web}}, probes: [{name: a, podConditionType: Ready, "+probe+"}]"), "podprobemarker/probe-invalid spec.probes[0].podConditionType (accepted)"},
		"PodProbeMarker, condition twice":   {object("PodProbeMarker", "selector: {matchLabels: {app: web}}, probes: [{name: a, podConditionType: x/a, "+probe+"}, {name: b, podConditionType: x/a, "+probe+"}]"), "podprobemarker/probe-invalid spec.probes[1].podConditionType"},
		"PodProbeMarker, state twice":       {object("PodProbeMarker", "selector: {matchLabels: {app: web}}, probes: [{name: a, markerPolicy: [{state: Failed, labels: {a: b}}, {state: Failed, labels: {a: c}}], "+probe+"}]"), "podprobemarker/marker-invalid spec.probes[0].markerPolicy[1].state"},
		"PodProbeMarker, label":             {object("PodProbeMarker", "selector: {matchLabels: {app: web}}, probes: [{name: a, markerPolicy: [{state: Failed, labels: {'a b': c}}], "+probe+"}]"), "podprobemarker/marker-invalid spec.probes[0].markerPolicy[0].labels"},
		"PodProbeMarker, marker of nothing": {object("PodProbeMarker", "selector: {matchLabels: {app: web}}, probes: [{name: a, markerPolicy: [{state: Failed}], "+probe+"}]"), "podprobemarker/marker-invalid spec.probes[0].markerPolicy[0]"},
		"PodProbeMarker, annotation":        {object("PodProbeMarker", "selector: {matchLabels: {app: web}}, probes: [{name: a, markerPolicy: [{state: Failed, annotations: {a: b}}], "+probe+"}]"), ""},
		"ResourceDistribution, namespace":   {object("ResourceDistribution", "resource: {apiVersion: v1, kind: ConfigMap, metadata: {name: c}}, targets: {includedNamespaces: {list: [{name: Bad_}]}}"), "resourcedistribution/targets-invalid spec.targets.includedNamespaces.list[0].name"},
		"ResourceDistribution, excluded":    {object("ResourceDistribution", "resource: {apiVersion: v1, kind: ConfigMap, metadata: {name: c}}, targets: {excludedNamespaces: {list: [{name: ''}]}}"), "resourcedistribution/targets-invalid spec.targets.excludedNamespaces.list[0].name"},
		"ImagePullJob, node twice":          {object("ImagePullJob", "image: 'example.com/web:1', completionPolicy: {type: Never}, selector: {names: [x, x]}"), "imagepulljob/selector-invalid spec.selector.names[1]"},
		"ImagePullJob, deadline":            {object("ImagePullJob", "image: 'example.com/web:1', completionPolicy: {type: Always, activeDeadlineSeconds: 10}"), "imagepulljob/completion-invalid spec.completionPolicy.activeDeadlineSeconds"},
		"ImageListPullJob, deadline":        {object("ImageListPullJob", "images: ['example.com/web:1'], completionPolicy: {type: Always, activeDeadlineSeconds: 10}"), "imagelistpulljob/completion-invalid spec.completionPolicy.activeDeadlineSeconds (accepted)"},
		"WorkloadSpread, no such kind":      {object("WorkloadSpread", "targetRef: {apiVersion: apps/v1, kind: CloneSet, name: web}, subsets: [{name: a}]"), "workloadspread/target-invalid spec.targetRef.kind"},
		"WorkloadSpread, of Kruise":         {object("WorkloadSpread", "targetRef: {apiVersion: apps.kruise.io/v1beta1, kind: Deployment, name: web}, subsets: [{name: a}]"), "workloadspread/target-invalid spec.targetRef.kind"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := faultsOf(t, c.object); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
