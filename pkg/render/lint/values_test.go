package lint_test

import "strings"

// toWeb begins a SidecarSet for the pods of clone.
const toWeb = "  selector: {matchLabels: {app: web}}\n"

// limitedClone is clone with a limit, which is the request too.
var limitedClone = strings.Replace(clone(""), "imagePullPolicy: Always", "imagePullPolicy: Always, resources: {limits: {cpu: 1}}", 1)

// policy is a sidecar that computes its cpu.
func policy(limit, request string) string {
	return "  containers: [{name: mesh, image: \"example.com/mesh:1\", resourcesPolicy: {targetContainersMode: sum, resourcesExpr: {limits: {cpu: " + limit + "}, requests: {cpu: " + request + "}}}}]\n"
}

func spreads(target, spec string) string {
	return `
apiVersion: apps.kruise.io/v1beta1
kind: WorkloadSpread
metadata: {name: web, namespace: shop}
spec:
  targetRef: {` + target + `}
` + spec + "\n"
}

const (
	ofClone      = "apiVersion: apps.kruise.io/v1alpha1, kind: CloneSet, name: web"
	ofDeployment = "apiVersion: apps/v1, kind: Deployment, name: web"
)

func bare(version, kind string) string {
	return "---\napiVersion: " + version + "\nkind: " + kind + "\nmetadata: {name: web, namespace: shop}\n"
}

func unites(template, more string) string {
	return `
apiVersion: apps.kruise.io/v1beta1
kind: UnitedDeployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 4
  selector: {matchLabels: {app: web}}
  template:
    ` + template + `:
      metadata: {labels: {app: web}}
      spec:
        selector: {matchLabels: {app: web}}
        template:
          metadata: {labels: {app: web}}
          ` + container + `
` + more + "\n"
}

func states(weight string) string {
	return `
apiVersion: apps.kruise.io/v1beta1
kind: PersistentPodState
metadata: {name: db, namespace: shop}
spec:
  targetRef: {apiVersion: apps.kruise.io/v1beta1, kind: StatefulSet, name: db}
  preferredPersistentTopology: [{weight: ` + weight + `, preference: {keys: [a]}}]
`
}

func broadcasts(restarts, more string) string {
	return `
apiVersion: apps.kruise.io/v1beta1
kind: BroadcastJob
metadata: {name: clean, namespace: shop}
spec:
  template: {spec: {restartPolicy: ` + restarts + `, containers: [{name: c, image: "example.com/c:1", imagePullPolicy: Always}]}}
` + more + "\n"
}

// marked puts labels or annotations into the metadata of an object of shop.
func marked(object, more string) string {
	return strings.Replace(object, "namespace: shop", "namespace: shop, "+more, 1)
}

// valueSituations are about values that are accepted and do not do what they say.
func valueSituations() map[string]situation {
	const pods = "apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: shop}\n"
	return map[string]situation{
		"words that nobody knows": {
			input: sidecars(toWeb + "  initContainers: [{name: i, image: \"example.com/i:1\", podInjectPolicy: Somewhere}]\n" + mesh +
				"  updateStrategy: {type: Sometimes}\n"),
			context: clone(""),
			want:    []string{"sidecarset/unknown-value spec.initContainers[0].podInjectPolicy", "sidecarset/unknown-value spec.updateStrategy.type"},
		},
		"a pair without its idle half": {
			input:   sidecars(toWeb + "  containers: [{name: mesh, image: \"example.com/mesh:1\", upgradeStrategy: {upgradeType: HotUpgrade}, lifecycle: {postStart: {exec: {command: [x]}}}}]\n"),
			context: clone(""),
			want:    []string{"sidecarset/hot-upgrade-without-empty-image spec.containers[0].upgradeStrategy"},
		},
		"more asked for than allowed": {
			input:   sidecars(toWeb + policy("cpu*50%", "cpu")),
			context: limitedClone,
			want:    []string{"sidecarset/requests-above-limits spec.containers[0].resourcesPolicy.resourcesExpr.requests.cpu"},
		},
		"more asked for by a set that is only known": {
			input:   limitedClone,
			context: sidecars(toWeb + policy("cpu*50%", "cpu")),
			want:    []string{"sidecarset/requests-above-limits "},
		},
		"as much asked for as allowed": {input: sidecars(toWeb + policy("cpu*50%", "cpu*0.5")), context: limitedClone},
		"without a limit to be above":  {input: sidecars(toWeb + policy("cpu*50%", "cpu")), context: clone("")},
		"a workload that it does not reach": {
			input: sidecars(strings.Replace(toWeb, "web", "api", 1) + policy("cpu*50%", "cpu")), context: limitedClone,
			want: []string{"sidecarset/matches-nothing spec.selector"},
		},
		"metadata": {
			input: sidecars(toWeb + mesh + "  patchPodMetadata: [{patchPolicy: Sometimes, annotations: {a/b: x}}, {patchPolicy: MergePatchJson, annotations: {c/d: '{', e/f: '{}'}}]\n"),
			context: clone("") + `---
apiVersion: v1
kind: ConfigMap
metadata: {name: kruise-configuration, namespace: kruise-system}
data: {SidecarSet_PatchPodMetadata_WhiteList: '{"rules": [{"allowedAnnotationKeyExprs": [".*"]}]}'}
`,
			want: []string{"sidecarset/unknown-value spec.patchPodMetadata[0].patchPolicy", "sidecarset/merge-patch-not-json spec.patchPodMetadata[1].annotations[c/d]"},
		},
		"fields that no pod has": {
			input: strings.Replace(clone(""), "containers: [{name: c", "priorityclassName: high, containers: [{resource: {}, name: c", 1),
			want:  []string{"object/dropped-field spec.template.spec.containers[0].resource", "object/dropped-field spec.template.spec.priorityclassName"},
		},
		"a field that no probe has, beside what comes of it": {
			input: strings.Replace(clone(""), "containers: [{name: c", "containers: [{readinessProbe: {httpget: {port: 80}}, name: c", 1),
			want:  []string{"pod/template-invalid spec.template.spec.containers[0].readinessProbe", "object/dropped-field spec.template.spec.containers[0].readinessProbe.httpget"},
		},
		"a field that no sidecar has": {
			input:   sidecars(toWeb + "  containers: [{name: mesh, image: \"example.com/mesh:1\", imagePullpolicy: Always}]\n"),
			context: clone(""),
			want:    []string{"object/dropped-field spec.containers[0].imagePullpolicy"},
		},
		"a field of what is distributed": {
			input: `
apiVersion: apps.kruise.io/v1beta1
kind: ResourceDistribution
metadata: {name: web}
spec:
  resource: {apiVersion: v1, kind: ConfigMap, metadata: {name: a, anotations: {}}, dta: {a: b}}
  targets: {allNamespaces: true}
`,
		},
		"volumes": {
			input:   sidecars(toWeb + "  containers: [{name: mesh, image: \"example.com/mesh:1\", volumeMounts: [{name: a, mountPath: /a}]}]\n  volumes: [{name: a, emptyDir: {}}, {name: b, emptyDir: {}}]\n"),
			context: clone(""),
			want:    []string{"sidecarset/unused-volume spec.volumes[1]"},
		},
		"sidecars that stay": {
			input: sidecars(toWeb + mesh + "  updateStrategy: {type: RollingUpdate, partition: 100%, maxUnavailable: 0}\n"), context: clone(""),
			want: []string{"sidecarset/max-unavailable-zero spec.updateStrategy.maxUnavailable", "sidecarset/partition-updates-nothing spec.updateStrategy.partition"},
		},

		"a spread that fits": {
			input: spreads(ofClone, "  subsets: [{name: a, maxReplicas: 50%}, {name: b}]"), context: clone(""),
		},
		"an open subset first": {
			input: spreads(ofClone, "  subsets: [{name: a}, {name: b, maxReplicas: 1}]"), context: clone(""),
			want: []string{"workloadspread/open-subset-first spec.subsets[0].name"},
		},
		"too little room": {
			input: spreads(ofClone, "  subsets: [{name: a, maxReplicas: 1}, {name: b, maxReplicas: 2}]"), context: clone(""),
			want: []string{"workloadspread/limits-below-replicas spec.subsets"},
		},
		"percentages of a CloneSet": {
			input: spreads(strings.Replace(ofClone, "v1alpha1", "v1beta1", 1), "  subsets: [{name: a, maxReplicas: 50%}, {name: b, maxReplicas: 50%}]"), context: clone(""),
			want: []string{"workloadspread/percentages-of-cloneset spec.targetRef.apiVersion"},
		},
		"percentages that do not sum": {
			input: spreads(ofClone, "  subsets: [{name: a, maxReplicas: 50%}, {name: b, maxReplicas: 40%}]"), context: clone(""),
			want: []string{"workloadspread/max-replicas-invalid spec.subsets[0].maxReplicas"},
		},
		"a filter of nothing": {
			input: spreads(ofDeployment, "  targetFilter: {replicasPathList: [spec.replicas]}\n  subsets: [{name: a}]"),
			want:  []string{"workloadspread/filter-matches-nothing spec.targetFilter"},
		},
		"a name of a subset": {
			input: spreads(ofDeployment, "  subsets: [{name: A_B}]"),
			want:  []string{"workloadspread/subset-name spec.subsets[0].name"},
		},
		"a ReplicaSet": {
			input: spreads("apiVersion: apps/v1, kind: ReplicaSet, name: web", "  subsets: [{name: a, maxReplicas: 1}, {name: b}]"),
			want:  []string{"workloadspread/replicaset-target spec.targetRef"},
		},
		"holes among ordinals": {
			input: spreads("apiVersion: apps.kruise.io/v1beta1, kind: StatefulSet, name: db", "  subsets: [{name: a, maxReplicas: 1}, {name: b}]"), context: stateful("v1beta1", "  reserveOrdinals: [1]"),
			want: []string{"workloadspread/reserved-ordinals spec.targetRef"},
		},

		"partitions of subsets": {
			input: unites("cloneSetTemplate", "  topology: {subsets: [{name: a, replicas: 2}, {name: b}]}\n  updateStrategy: {type: Manual, manualUpdate: {partitions: {a: 2, b: 1}}}"),
			want:  []string{"uniteddeployment/partition-updates-nothing spec.updateStrategy.manualUpdate.partitions[a]"},
		},
		"partitions of Deployments": {
			input: unites("deploymentTemplate", "  topology: {subsets: [{name: a}]}\n  updateStrategy: {type: Manual, manualUpdate: {partitions: {a: 1}}}"),
			want:  []string{"uniteddeployment/partition-updates-nothing spec.updateStrategy.manualUpdate.partitions[a]"},
		},
		"fields of nodes": {
			input: unites("deploymentTemplate", "  topology: {subsets: [{name: a, nodeSelectorTerm: {matchFields: [{key: metadata.name, operator: In, values: [node]}]}}]}"),
			want:  []string{"uniteddeployment/match-fields spec.topology.subsets[0].nodeSelectorTerm.matchFields"},
		},

		"a plain word where nobody knows what is wanted": {
			input: bare("example.com/v1", "Lamp") + "spec: {light: on, name: \"on\"}\n", want: []string{"object/ambiguous-yaml spec.light"},
		},
		"a plain key":                  {input: bare("v1", "ConfigMap") + "data: {1.10: a, '1.20': b, 3: c}\n", want: []string{"object/ambiguous-yaml data[1.1]"}},
		"a boolean that kubectl takes": {input: bare("apps/v1", "Deployment") + "spec: {paused: yes}\n", want: []string{"object/ambiguous-yaml spec.paused"}},
		"a plain word in data":         {input: bare("v1", "ConfigMap") + "data: {a: off}\n", want: []string{"object/wrong-type data[a]"}},
		"a number in a Secret":         {input: bare("v1", "Secret") + "stringData: {pin: 0755}\n", want: []string{"object/wrong-type stringData[pin]"}},
		"a plain word of a pod": {
			input: bare("apps/v1", "Deployment") + "spec: {template: {spec: {containers: [{name: c, args: [-a, no]}]}}}\n", want: []string{"object/wrong-type spec.template.spec.containers[0].args[1]"},
		},
		"text that looks like a number elsewhere": {input: bare("v1", "ConfigMap") + "data: {a: 12:30:45, b: \"0755\", c: 'no', d: 10Mi}\n"},

		"a weight": {input: states("100")},
		"no weight": {
			input: states("0"), want: []string{"persistentpodstate/weight spec.preferredPersistentTopology[0].weight"},
		},
		"a negative weight, which only v1alpha1 takes": {
			input: strings.NewReplacer("kind: PersistentPodState", "kind: PersistentPodState", "io/v1beta1\nkind: P", "io/v1alpha1\nkind: P", "keys", "nodeTopologyKeys").Replace(states("-1")),
			want:  []string{"persistentpodstate/weight spec.preferredPersistentTopology[0].weight"},
		},
		"a switch alone": {
			input: marked(stateful("v1beta1", ""), "annotations: {kruise.io/auto-generate-persistent-pod-state: 'true'}"),
			want:  []string{"statefulset/pod-state-annotations metadata.annotations[kruise.io/auto-generate-persistent-pod-state]"},
		},
		"a topology alone, and blanks": {
			input: marked(strings.Replace(stateful("v1beta1", ""), "apps.kruise.io/v1beta1", "apps/v1", 1), "annotations: {kruise.io/required-persistent-topology: a}") + "---" +
				marked(stateful("v1beta1", ""), "annotations: {kruise.io/auto-generate-persistent-pod-state: 'true', kruise.io/required-persistent-topology: 'a, b'}"),
			want: []string{"statefulset/pod-state-annotations metadata.annotations[kruise.io/required-persistent-topology]", "statefulset/pod-state-annotations metadata.annotations[kruise.io/required-persistent-topology]"},
		},
		"a share that comes to nothing": {
			input: clone("maxUnavailable: 33.3%"),
			want: []string{
				"workload/max-unavailable-zero spec.updateStrategy.rollingUpdate.maxUnavailable",
				"workload/fractional-percentage spec.updateStrategy.rollingUpdate.maxUnavailable",
			},
		},
		"no pod may come": {
			input: strings.Replace(clone(""), "  updateStrategy", "  scaleStrategy: {maxUnavailable: 0}\n  updateStrategy", 1),
			want:  []string{"workload/max-unavailable-zero spec.scaleStrategy.maxUnavailable"},
		},
		"an older StatefulSet": {input: stateful("v1alpha1", ""), want: []string{"statefulset/v1alpha1 apiVersion"}},

		"a policy of failures": {
			input: broadcasts("Never", "  failurePolicy: {type: Retry}"),
			want:  []string{"broadcastjob/failure-policy spec.failurePolicy.type"},
		},
		"restarts that count": {
			input: broadcasts("OnFailure", "  failurePolicy: {type: Continue, restartLimit: 2}"),
			want:  []string{"broadcastjob/restart-limit spec.failurePolicy.restartLimit"},
		},
		"none at a time": {
			input: broadcasts("Never", "  parallelism: 0%"), want: []string{"broadcastjob/parallelism-zero spec.parallelism"},
		},
		"jobs without end": {
			input: `
apiVersion: apps.kruise.io/v1beta1
kind: AdvancedCronJob
metadata: {name: clean, namespace: shop}
spec:
  schedule: "@daily"
  template: {jobTemplate: {spec: {template: {spec: {restartPolicy: Always, containers: [{name: c, image: "example.com/c:1", imagePullPolicy: Always}]}}}}}
`,
			want: []string{"advancedcronjob/restart-policy spec.template.jobTemplate.spec.template.spec.restartPolicy"},
		},

		"targets twice": {
			input: `
apiVersion: apps.kruise.io/v1beta1
kind: ResourceDistribution
metadata: {name: ca}
spec:
  resource: {apiVersion: v1, kind: ConfigMap, metadata: {name: ca, namespace: shop}, data: {a: b}}
  targets: {allNamespaces: true, includedNamespaces: {list: [{name: shop}]}, namespaceSelector: {matchLabels: {a: b}}}
`,
			want: []string{
				"resourcedistribution/ignored-field spec.resource.metadata.namespace",
				"resourcedistribution/ignored-field spec.targets.includedNamespaces", "resourcedistribution/ignored-field spec.targets.namespaceSelector",
			},
		},
		"a hook that nobody calls": {
			input: strings.Replace(daemon(""), "  template:", "  lifecycle: {preNormal: {labelsHandler: {a: b}}}\n  template:", 1),
			want:  []string{"daemonset/ignored-field spec.lifecycle.preNormal"},
		},

		"the older spelling": {
			input:   marked(guard("selector: {matchLabels: {app: web}}, maxUnavailable: 1"), "annotations: {kruise.io/pub-protect-operations: EVICT}"),
			context: clone(""),
			want:    []string{"object/older-spelling metadata.annotations[kruise.io/pub-protect-operations]"},
		},
		"both spellings": {
			input:   marked(guard("selector: {matchLabels: {app: web}}, maxUnavailable: 1, protectOperations: [EVICT]"), "annotations: {kruise.io/pub-protect-operations: EVICT}"),
			context: clone(""),
		},
		"the older version": {
			input: strings.Replace(marked(strings.Replace(clone(""), "updateStrategy: {rollingUpdate: {}}", "updateStrategy: {}", 1),
				"labels: {apps.kruise.io/cloneset-scaling-exclude-preparing-delete: 'true'}"), "v1beta1", "v1alpha1", 1),
			want: []string{"object/deprecated-spelling metadata.labels[apps.kruise.io/cloneset-scaling-exclude-preparing-delete]"},
		},
		"surging": {
			input: strings.Replace(daemon("rollingUpdateType: Surging, maxSurge: 1"), "v1beta1", "v1alpha1", 1),
			want:  []string{"object/deprecated-spelling spec.updateStrategy.rollingUpdate.rollingUpdateType"},
		},
		"kinds that are none": {
			input: bare("apps.kruise.io/v1beta1", "Cloneset") + bare("apps.kruise.io/v1beta1", "PodUnavailableBudget") + bare("policy.kruise.io/v1alpha1", "Budget"),
			want:  []string{"object/unknown-kind kind", "object/unknown-kind kind", "object/unknown-kind kind"},
		},
		"a kind that the files define": {
			input:   bare("apps.kruise.io/v1beta1", "Newest"),
			context: "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: newests.apps.kruise.io}\nspec: {group: apps.kruise.io, names: {kind: Newest}}\n",
		},
		"kinds of others": {
			input: bare("rollouts.kruise.io/v1beta1", "Rollout") + bare("example.com/v1", "CloneSett"),
		},
		"protection that is none": {
			input: marked(clone(""), "labels: {policy.kruise.io/delete-protection: always}") + "---\n" + marked(pods, "labels: {policy.kruise.io/delete-protection: Cascading}"),
			want:  []string{"object/protection-without-effect metadata.labels[policy.kruise.io/delete-protection]", "object/protection-without-effect metadata.labels[policy.kruise.io/delete-protection]"},
		},
		"protection": {
			input: marked(clone(""), "labels: {policy.kruise.io/delete-protection: Cascading}") + "---\n" + marked(pods, "labels: {policy.kruise.io/delete-protection: Always}"),
		},
	}
}
