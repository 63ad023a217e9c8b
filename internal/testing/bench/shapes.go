package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// shape is an input of any size, whose cost must not grow faster than it does.
type shape struct {
	name string
	// groups are what it consists of, one list after the other.
	groups []group
	// beside are objects that exist in the cluster (--with).
	beside []group
	// product: the output grows faster than the input, so that the exponent is against
	// the size of the output.
	product bool
	// verbs are those whose growth is measured, bounds what others may take.
	verbs  []string
	bounds []bound
}

// group are objects of one template: amount of them in an input of n.
type group struct {
	template string
	amount   func(n int) int
}

// The amounts of a group.
var (
	all     = func(n int) int { return n }
	half    = func(n int) int { return n / 2 }
	third   = func(n int) int { return n / 3 }
	quarter = func(n int) int { return n / 4 }
	one     = func(int) int { return 1 }
	few     = func(n int) int { return int(math.Cbrt(float64(n))) }
)

// text is the input of about n objects, each in a version that says what its image or
// another value is.
func text(groups []group, n, version int) []byte {
	var out []byte
	for _, g := range groups {
		for i := range g.amount(n) {
			doc := strings.NewReplacer("$i", strconv.Itoa(i), "$v", strconv.Itoa(version), "$n", strconv.Itoa(n)).Replace(g.template)
			out = append(append(out, "---\n"...), doc...)
		}
	}
	return out
}

// manifest is an object as a template of text; spec is in flow style, on a line of its own
// for each field.
func manifest(apiVersion, kind, meta string, fields ...string) string {
	return fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata: {name: %s}\n%s\n", apiVersion, kind, meta, strings.Join(fields, "\n"))
}

const (
	// inShop names an object of a namespace, clusterWide one of the cluster.
	inShop      = "object-$i, namespace: shop"
	clusterWide = "object-$i"

	stable   = "apps.kruise.io/v1beta1"
	preview  = "apps.kruise.io/v1alpha1"
	policies = "policy.kruise.io/v1alpha1"

	// pod is a template whose labels say which it is, and what all have in common.
	pod = `  template:
    metadata: {labels: {app: app-$i, team: shop, own-$i: "yes"}}
    spec:
      containers:
      - {name: main, image: "registry.example.org/shop/app:$v", env: [{name: A, value: b}], ports: [{containerPort: 8080}]}`

	selected = "  selector: {matchLabels: {app: app-$i}}"
	// service is what the manifests of a StatefulSet need.
	service = "  serviceName: object-$i"
	// claims gives the pods of a StatefulSet a claim each.
	claims = "  volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}]\n"
	task   = `
      restartPolicy: Never`
)

// workload is one with a template, beside other fields of its spec.
func workload(apiVersion, kind string, fields ...string) string {
	return manifest(apiVersion, kind, inShop, append(append([]string{"spec:"}, fields...), selected, pod)...)
}

// set is a SidecarSet with a selector.
func set(selector string) string {
	return manifest(stable, kruise.KindSidecarSet, clusterWide, "spec:", "  selector: "+selector,
		`  containers: [{name: agent-$i, image: "registry.example.org/mesh/agent:$v", volumeMounts: [{name: data-$i, mountPath: /var/run/agent-$i}]}]`,
		"  volumes: [{name: data-$i, emptyDir: {}}]")
}

// spread is a WorkloadSpread over two zones.
const spread = `spec:
  targetRef: {apiVersion: apps.kruise.io/v1beta1, kind: CloneSet, name: object-$i}
  subsets: [{name: a, maxReplicas: 1, requiredNodeSelectorTerm: {matchExpressions: [{key: zone, operator: In, values: [a]}]}}, {name: b, requiredNodeSelectorTerm: {matchExpressions: [{key: zone, operator: In, values: [b]}]}}]`

// distribution brings a ConfigMap to the namespaces that targets name.
func distribution(targets string) string {
	return manifest(preview, kruise.KindResourceDistribution, clusterWide,
		`spec: {resource: {apiVersion: v1, kind: ConfigMap, metadata: {name: shared-$i}, data: {key: value-$v}}, targets: `+targets+"}")
}

// manifests are one object of each kind, by itself valid.
var manifests = map[string]string{
	kruise.KindCloneSet:                        cloneSet,
	kruise.KindStatefulSet + ".apps.kruise.io": workload(stable, kruise.KindStatefulSet, "  replicas: 2", service),
	kruise.KindDaemonSet + ".apps.kruise.io":   workload(preview, kruise.KindDaemonSet),
	kruise.KindBroadcastJob:                    manifest(preview, kruise.KindBroadcastJob, inShop+", annotations: {kubectl-kruise.dev/nodes: \"3\"}", "spec:", pod+task, "  completionPolicy: {type: Always}"),
	kruise.KindAdvancedCronJob:                 manifest(preview, kruise.KindAdvancedCronJob, inShop, "spec:", `  schedule: "*/5 * * * *"`, "  template: {jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: \"registry.example.org/shop/app:$v\"}]}}}}}"),
	kruise.KindSidecarSet:                      set("{matchLabels: {app: app-$i}}"),
	kruise.KindUnitedDeployment:                manifest(preview, kruise.KindUnitedDeployment, inShop, "spec:", "  replicas: 4", selected, "  topology: {subsets: [{name: a, replicas: 50%}, {name: b}]}", "  template:", "    cloneSetTemplate:", "      metadata: {labels: {app: app-$i}}", "      spec: {selector: {matchLabels: {app: app-$i}}, template: {metadata: {labels: {app: app-$i}}, spec: {containers: [{name: main, image: \"registry.example.org/shop/app:$v\"}]}}}"),
	kruise.KindWorkloadSpread:                  manifest(preview, kruise.KindWorkloadSpread, inShop, spread),
	kruise.KindResourceDistribution:            distribution("{includedNamespaces: {list: [{name: shop}]}}"),
	kruise.KindContainerRecreateRequest:        manifest(preview, kruise.KindContainerRecreateRequest, inShop, "spec: {podName: pod-$i, containers: [{name: main}], activeDeadlineSeconds: 6$v}"),
	kruise.KindEphemeralJob:                    manifest(preview, kruise.KindEphemeralJob, inShop, "spec: {selector: {matchLabels: {app: app-$i}}, template: {ephemeralContainers: [{name: look, image: \"registry.example.org/tools:$v\", terminationMessagePolicy: File, imagePullPolicy: IfNotPresent}]}}"),
	kruise.KindImagePullJob:                    manifest(preview, kruise.KindImagePullJob, inShop, "spec: {image: \"registry.example.org/shop/app-$i:$v\", completionPolicy: {type: Always}, selector: {names: [node-$i]}}"),
	kruise.KindImageListPullJob:                manifest(preview, kruise.KindImageListPullJob, inShop, "spec: {images: [\"registry.example.org/shop/app-$i:$v\"], completionPolicy: {type: Always}, selector: {names: [node-$i]}}"),
	kruise.KindPersistentPodState:              manifest(preview, kruise.KindPersistentPodState, inShop, "spec: {targetRef: {apiVersion: apps.kruise.io/v1beta1, kind: StatefulSet, name: object-$i}, requiredPersistentTopology: {nodeTopologyKeys: [zone-$v]}}"),
	kruise.KindPodProbeMarker:                  manifest(preview, kruise.KindPodProbeMarker, inShop, "spec: {selector: {matchLabels: {app: app-$i}}, probes: [{name: idle, containerName: main, podConditionType: example.org/idle, probe: {exec: {command: [idle, \"$v\"]}}}]}"),
	kruise.KindPodUnavailableBudget:            manifest(policies, kruise.KindPodUnavailableBudget, inShop, "spec: {selector: {matchLabels: {app: app-$i}}, maxUnavailable: $v}"),
	kruise.KindNodeImage:                       manifest(preview, kruise.KindNodeImage, clusterWide, "spec: {images: {\"registry.example.org/shop/app\": {tags: [{tag: v$v, pullPolicy: {ttlSecondsAfterFinished: 600}}]}}}"),
	kruise.KindDeployment:                      workload("apps/v1", kruise.KindDeployment, "  replicas: 2"),
	kruise.KindStatefulSet:                     workload("apps/v1", kruise.KindStatefulSet, "  replicas: 2", service),
	kruise.KindDaemonSet:                       workload("apps/v1", kruise.KindDaemonSet),
	"Job":                                      manifest("batch/v1", "Job", inShop, "spec:", pod+task),
	"CronJob":                                  manifest("batch/v1", "CronJob", inShop, "spec:", `  schedule: "*/5 * * * *"`, "  jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: \"registry.example.org/shop/app:$v\"}]}}}}"),
	"Pod":                                      manifest("v1", "Pod", inShop+", labels: {app: app-$i}", "spec: {containers: [{name: main, image: \"registry.example.org/shop/app:$v\"}]}"),
	"Service":                                  manifest("v1", "Service", inShop, "spec: {selector: {app: app-$i}, ports: [{port: 808$v}]}"),
	"ConfigMap":                                manifest("v1", "ConfigMap", inShop, "data: {key: value-$v}"),
	"Secret":                                   manifest("v1", "Secret", inShop, "stringData: {key: value-$v}"),
	"PodDisruptionBudget":                      manifest("policy/v1", "PodDisruptionBudget", inShop, "spec: {selector: {matchLabels: {app: app-$i}}, maxUnavailable: $v}"),
	"HorizontalPodAutoscaler":                  autoscaler("apps/v1", kruise.KindDeployment),
	"Namespace":                                manifest("v1", "Namespace", "shop-$i, labels: {team: team-$i, all: \"yes\", version: v$v}"),
	"Node":                                     node,
}

// dumped is a pod of a CloneSet, as a cluster shows it.
const dumped = `apiVersion: v1
kind: Pod
metadata:
  name: object-$i-x
  namespace: shop
  uid: uid-of-pod-$i
  creationTimestamp: "2026-03-01T00:00:00Z"
  labels: {app: app-$i, team: shop, own-$i: "yes", controller-revision-hash: object-$i-1}
  ownerReferences: [{apiVersion: apps.kruise.io/v1beta1, kind: CloneSet, name: object-$i, controller: true}]
spec:
  nodeName: node-1
  readinessGates: [{conditionType: InPlaceUpdateReady}]
  containers:
  - {name: main, image: "registry.example.org/shop/app:1", env: [{name: A, value: b}], ports: [{containerPort: 8080}]}
status:
  phase: Running
  conditions: [{type: Ready, status: "True", lastTransitionTime: "2026-03-01T00:01:00Z"}]
`

var (
	cloneSet = workload(stable, kruise.KindCloneSet, "  replicas: 2")
	node     = manifest("v1", "Node", "node-$i, labels: {zone: a, kubernetes.io/hostname: node-$i, version: v$v}", "spec: {}")
)

// autoscaler refers to a workload by its name.
func autoscaler(apiVersion, kind string) string {
	return manifest("autoscaling/v2", "HorizontalPodAutoscaler", inShop, "spec: {maxReplicas: 1$v, scaleTargetRef: {apiVersion: "+apiVersion+", kind: "+kind+", name: object-$i}}")
}

// The verbs whose growth is measured.
var (
	onFiles  = []string{"render", "lint", "diff", "convert"}
	onServer = []string{"inventory"}
)

// shapes are all inputs whose growth is measured: each kind by itself, then what many objects have to
// do with many.
func shapes() []shape { return slices.Concat(singleKinds(), related(), served()) }

// singleKinds are the inputs of one kind each.
func singleKinds() []shape {
	var out []shape
	for kind := range manifests {
		s := shape{name: kind + " alone", groups: []group{{manifests[kind], all}}, verbs: onFiles}
		if strings.Contains(manifests[kind], selected) && kind != kruise.KindUnitedDeployment {
			s.bounds = severalObjects
		}
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b shape) int { return strings.Compare(a.name, b.name) })
	return out
}

// related are the inputs in which objects of one kind look for those of another.
func related() []shape {
	deployments, cloneSets := group{manifests[kruise.KindDeployment], half}, group{cloneSet, half}
	pods, spaces := group{manifests["Pod"], half}, group{manifests["Namespace"], half}
	forEach := func(name string, template string, others ...group) shape {
		return shape{name: name, groups: append([]group{{template, half}}, others...), verbs: onFiles}
	}
	return []shape{
		forEach("SidecarSets × Deployments, by a value", manifests[kruise.KindSidecarSet], deployments),
		forEach("SidecarSets × CloneSets, by a value", manifests[kruise.KindSidecarSet], cloneSets),
		forEach("SidecarSets × Deployments, by a key", set("{matchExpressions: [{key: own-$i, operator: Exists}]}"), deployments),
		forEach("SidecarSets × Deployments, by a list", set("{matchExpressions: [{key: app, operator: In, values: [app-$i, none-$i]}], matchLabels: {team: shop}}"), deployments),
		{name: "SidecarSets × Deployments, all by all", groups: []group{{set("{matchLabels: {team: shop}}"), few}, {manifests[kruise.KindDeployment], all}}, verbs: onFiles, product: true},
		{name: "SidecarSets × pods beside", groups: []group{{manifests[kruise.KindSidecarSet], half}}, beside: []group{pods}, verbs: []string{"render", "lint", "diff"}},
		forEach("WorkloadSpreads × CloneSets", manifests[kruise.KindWorkloadSpread], cloneSets),
		{name: "WorkloadSpreads × CloneSets × autoscalers", groups: []group{{manifests[kruise.KindWorkloadSpread], third}, {cloneSet, third}, {autoscaler(stable, kruise.KindCloneSet), third}}, verbs: onFiles},
		forEach("ResourceDistributions × Namespaces, by name", distribution("{includedNamespaces: {list: [{name: shop-$i}]}}"), spaces),
		forEach("ResourceDistributions × Namespaces, by label", distribution("{namespaceLabelSelector: {matchLabels: {team: team-$i}}}"), spaces),
		{name: "ResourceDistributions × Namespaces beside", groups: []group{{distribution("{namespaceLabelSelector: {matchLabels: {team: team-$i}}}"), half}}, beside: []group{spaces}, verbs: []string{"render", "lint", "diff"}},
		{name: "ResourceDistributions × Namespaces, all to all", groups: []group{{distribution("{allNamespaces: true}"), few}, {manifests["Namespace"], all}}, verbs: []string{"render"}, product: true},
		forEach("PodUnavailableBudgets × CloneSets", manifests[kruise.KindPodUnavailableBudget], cloneSets),
		forEach("PodUnavailableBudgets × pods", manifests[kruise.KindPodUnavailableBudget], pods),
		{name: "PodUnavailableBudgets × pods beside", groups: []group{{manifests[kruise.KindPodUnavailableBudget], half}}, beside: []group{pods}, verbs: []string{"render", "lint", "diff"}},
		forEach("PodDisruptionBudgets × Deployments", manifests["PodDisruptionBudget"], deployments),
		forEach("autoscalers × CloneSets", autoscaler(stable, kruise.KindCloneSet), cloneSets),
		forEach("Services × CloneSets", manifests["Service"], cloneSets),
		forEach("ConfigMaps × Deployments that name them", manifests["ConfigMap"], group{strings.Replace(manifests[kruise.KindDeployment], "name: A, value: b", "name: A, valueFrom: {configMapKeyRef: {name: object-$i, key: key}}", 1), half}),
		forEach("PersistentPodStates × StatefulSets", manifests[kruise.KindPersistentPodState], group{manifests[kruise.KindStatefulSet+".apps.kruise.io"], half}),
		forEach("PodProbeMarkers × CloneSets", manifests[kruise.KindPodProbeMarker], cloneSets),
		forEach("EphemeralJobs × pods", manifests[kruise.KindEphemeralJob], pods),
		forEach("ImagePullJobs × Nodes", manifests[kruise.KindImagePullJob], group{node, half}),
		{name: "UnitedDeployments × SidecarSets", groups: []group{{manifests[kruise.KindUnitedDeployment], half}, {manifests[kruise.KindSidecarSet], half}}, verbs: onFiles},
	}
}

// manyPods are the inputs of one workload with n pods.
func manyPods() []shape {
	var out []shape
	for kind, bounds := range map[string][]bound{
		kruise.KindCloneSet: atOnce, kruise.KindDeployment: atOnce, kruise.KindStatefulSet + ".apps.kruise.io": oneByOne, kruise.KindStatefulSet: oneByOne,
	} {
		template := strings.Replace(manifests[kind], "  replicas: 2", "  replicas: $n", 1)
		out = append(out, shape{name: "pods of a " + kind, groups: []group{{template, one}}, bounds: bounds})
	}
	slices.SortFunc(out, func(a, b shape) int { return strings.Compare(a.name, b.name) })
	withClaims := strings.NewReplacer("  replicas: 2", "  replicas: $n", service+"\n", service+"\n"+claims).Replace(manifests[kruise.KindStatefulSet+".apps.kruise.io"])
	out = append(out, shape{name: "pods of a StatefulSet.apps.kruise.io with volumeClaimTemplates", groups: []group{{withClaims, one}}, bounds: oneByOne})
	unordered := strings.NewReplacer("  replicas: 2", "  replicas: $n", service+"\n", service+"\n  podManagementPolicy: Parallel\n  updateStrategy: {rollingUpdate: {unorderedUpdate: {}}}\n").Replace(manifests[kruise.KindStatefulSet+".apps.kruise.io"])
	out = append(out, shape{name: "pods of a StatefulSet.apps.kruise.io with unorderedUpdate", groups: []group{{unordered, one}}, bounds: oneByOne})
	byPriority := strings.Replace(unordered, "unorderedUpdate: {}", "unorderedUpdate: {priorityStrategy: {weightPriority: [{weight: 50, matchSelector: {matchLabels: {team: shop}}}]}}", 1)
	out = append(out, shape{name: "pods of a StatefulSet.apps.kruise.io with priorityStrategy", groups: []group{{byPriority, one}}, bounds: oneByOne})
	scattered := strings.Replace(cloneSet, "  replicas: 2", "  replicas: $n\n  updateStrategy: {rollingUpdate: {priorityStrategy: {orderPriority: [{orderedKey: app}]}, scatterStrategy: [{key: team, value: shop}]}}", 1)
	out = append(out, shape{name: "pods of a CloneSet with priorityStrategy and scatterStrategy", groups: []group{{scattered, one}}, bounds: atOnce})
	for _, each := range []struct{ how, strategy string }{
		{"one at a time", "{rollingUpdate: {maxUnavailable: 1}}"},
		{"one at a time, with maxSurge", "{rollingUpdate: {maxUnavailable: 1, maxSurge: 1}}"},
		{"one at a time, with minReadySeconds", "{rollingUpdate: {maxUnavailable: 1}}\n  minReadySeconds: 10"},
		{"one at a time, with priorityStrategy and scatterStrategy", "{rollingUpdate: {maxUnavailable: 1, priorityStrategy: {orderPriority: [{orderedKey: app}]}, scatterStrategy: [{key: team, value: shop}]}}"},
		{"one at a time, with volumeClaimTemplates", "{rollingUpdate: {maxUnavailable: 1}}\n" + claims},
		{"one at a time, in place", "{rollingUpdate: {maxUnavailable: 1, podUpdatePolicy: InPlaceIfPossible}}"},
	} {
		template := strings.Replace(cloneSet, "  replicas: 2", "  replicas: $n\n  updateStrategy: "+each.strategy, 1)
		out = append(out, shape{name: "pods of a CloneSet, " + each.how, groups: []group{{template, one}}, bounds: oneByOne})
	}
	budget := group{strings.Replace(manifests[kruise.KindPodUnavailableBudget], "maxUnavailable: $v", "maxUnavailable: 20%", 1), one}
	out = append(out,
		shape{name: "pods of a CloneSet × a budget", groups: []group{{strings.Replace(cloneSet, "  replicas: 2", "  replicas: $n", 1), one}}, beside: []group{budget}, bounds: atOnce},
		shape{name: "objects beside a CloneSet", groups: []group{{cloneSet, one}}, beside: []group{{manifests[kruise.KindPodUnavailableBudget], third}, {manifests["PodDisruptionBudget"], third}, {manifests[kruise.KindDeployment], third}}, bounds: severalObjects},
	)
	return out
}

// podsWithSidecars are the inputs of one SidecarSet that upgrades the pods of a workload one at a time,
// which is the default.
func podsWithSidecars() []shape {
	beside := []group{{strings.Replace(cloneSet, "  replicas: 2", "  replicas: $n", 1), one}}
	cold := set("{matchLabels: {team: shop}}")
	const image = `image: "registry.example.org/mesh/agent:$v"`
	hot := strings.Replace(cold, image, image+`, upgradeStrategy: {upgradeType: HotUpgrade, hotUpgradeEmptyImage: "registry.example.org/mesh/empty:1"}`, 1)
	scattered := strings.Replace(cold, "spec:\n", "spec:\n  updateStrategy: {scatterStrategy: [{key: app, value: \"*\"}]}\n", 1)
	return []shape{
		{name: "pods of a SidecarSet, one at a time", groups: []group{{cold, one}}, beside: beside, bounds: oneByOne},
		{name: "pods of a SidecarSet with scatterStrategy, one at a time", groups: []group{{scattered, one}}, beside: beside, bounds: oneByOne},
		{name: "pods of a SidecarSet with hot upgrade, one at a time", groups: []group{{hot, one}}, beside: beside, bounds: oneByOne},
	}
}

// manyPlans are the inputs of many workloads with what the cluster holds around them.
func manyPlans() []shape {
	cloneSets := []group{{cloneSet, half}}
	quickSet := strings.Replace(set("{matchLabels: {team: shop}}"), "spec:\n", "spec:\n  updateStrategy: {maxUnavailable: 20%}\n", 1)
	return []shape{
		{name: "CloneSets × pods beside", groups: cloneSets, beside: []group{{dumped, half}}, bounds: severalObjects},
		{name: "CloneSets × PodUnavailableBudgets beside", groups: cloneSets, beside: []group{{manifests[kruise.KindPodUnavailableBudget], half}}, bounds: severalObjects},
		{name: "CloneSets × PodDisruptionBudgets beside", groups: cloneSets, beside: []group{{manifests["PodDisruptionBudget"], half}}, bounds: severalObjects},
		{name: "CloneSets × budgets of both kinds beside a SidecarSet", groups: []group{{quickSet, one}}, beside: []group{{cloneSet, third}, {manifests[kruise.KindPodUnavailableBudget], third}, {manifests["PodDisruptionBudget"], third}}, bounds: severalObjects},
		{name: "CloneSets × pods × budgets of both kinds beside", groups: []group{{cloneSet, quarter}}, beside: []group{{dumped, quarter}, {manifests[kruise.KindPodUnavailableBudget], quarter}, {manifests["PodDisruptionBudget"], quarter}}, bounds: severalObjects},
	}
}

// served are what a cluster holds for an inventory.
func served() []shape {
	var out []shape
	for _, kind := range []string{"Namespace", "Node", "ConfigMap", kruise.KindSidecarSet, kruise.KindCloneSet, kruise.KindWorkloadSpread, "Pod"} {
		out = append(out, shape{name: kind + " in a cluster", groups: []group{{manifests[kind], all}}, verbs: onServer})
	}
	return append(out,
		shape{name: "WorkloadSpreads × CloneSets in a cluster", groups: []group{{manifests[kruise.KindWorkloadSpread], half}, {cloneSet, half}}, verbs: onServer},
		shape{name: "ResourceDistributions × Namespaces in a cluster", groups: []group{{distribution("{namespaceLabelSelector: {matchLabels: {team: team-$i}}}"), half}, {manifests["Namespace"], half}}, verbs: onServer},
	)
}
