package finding

import "github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"

// The fields of a SidecarSet about what is injected where
// (docs/kruise/sidecarset.md#which-pods-match and docs/kruise/sidecarset.md#injection).
var sidecarSetRules = []Rule{
	{
		ID: "sidecarset/scope", Kind: kruise.KindSidecarSet, Severity: Approximate,
		Fields:  []string{"spec.selector"},
		Becomes: "injected into every pod template of the input that the selector matches; other pods get nothing",
		Action:  "render the set together with all workloads that it is intended for",
	},
	{
		ID: "sidecarset/namespaces", Kind: kruise.KindSidecarSet, Severity: Exact,
		Fields:  []string{"spec.namespaceSelector"},
		Becomes: "decided here, from the labels of the Namespace objects",
	},
	{
		ID: "sidecarset/namespace-unknown", Kind: kruise.KindSidecarSet, Severity: Lost,
		Fields:  []string{"spec.namespaceSelector"},
		Becomes: "the labels of a namespace are not known: nothing is injected there",
		Action:  "add the Namespace object to the input, or by --with or --live",
	},
	{
		ID: "sidecarset/template-path", Kind: kruise.KindSidecarSet, Severity: Lost,
		Becomes: "an object of a kind named with --template-paths holds no pod template at that path: nothing is injected into it",
		Action:  "check the path: keys with dots between them, such as spec.template",
	},
	{
		ID: "sidecarset/containers", Kind: kruise.KindSidecarSet, Severity: Exact,
		Fields:  []string{"spec.containers"},
		Becomes: "containers of the pod templates, as Kruise's webhook builds them",
	},
	{
		ID: "sidecarset/init-containers", Kind: kruise.KindSidecarSet, Severity: Exact,
		Fields:  []string{"spec.initContainers"},
		Becomes: "init containers of the pod templates, as Kruise's webhook builds them",
	},
	{
		ID: "sidecarset/replaced-container", Kind: kruise.KindSidecarSet, Severity: Approximate,
		Fields:  []string{"spec.containers[].name", "spec.initContainers[].name"},
		Becomes: "a container of the template has the name of the sidecar, which replaces it, as in Kruise",
		Action:  "rename one of the two if that is not intended",
	},
	{
		ID: "sidecarset/copied-from-replaced", Kind: kruise.KindSidecarSet, Severity: Approximate,
		Fields:  []string{"spec.containers[].transferEnv", "spec.containers[].shareVolumePolicy", "spec.containers[].shareVolumeDevicePolicy"},
		Becomes: "sidecars may copy from a container that another sidecar replaces: rendering the output again cannot see the original",
		Action:  "rename the container or the sidecar",
	},
	{
		ID: "sidecarset/hot-upgrade", Kind: kruise.KindSidecarSet, Severity: Lost,
		Fields:  []string{"spec.containers[].upgradeStrategy", "spec.initContainers[].upgradeStrategy"},
		Becomes: "the pair of containers is injected, but they are not swapped: a new image replaces the pods, as with ColdUpgrade",
		Action:  "use ColdUpgrade, which saves the idle container, unless Kruise runs the cluster; or --driver client",
	},
	{
		ID: "sidecarset/hot-upgrade-client", Kind: kruise.KindSidecarSet, When: "--driver client", Severity: Approximate,
		Fields:  []string{"spec.containers[].upgradeStrategy"},
		Becomes: "the pair of containers is injected, and a rollout by this client exchanges them: for ReplicaSets and OnDelete workloads, while it runs; other workloads replace their pods",
		Action:  "roll the workload out with 'kubectl kruise rollout run' or 'kubectl kruise apply'",
	},
	{
		ID: "sidecarset/no-empty-image", Kind: kruise.KindSidecarSet, Severity: Approximate,
		Fields:  []string{"spec.containers[].upgradeStrategy.hotUpgradeEmptyImage", "spec.initContainers[].upgradeStrategy.hotUpgradeEmptyImage"},
		Becomes: "HotUpgrade without an empty image: Kruise accepts the set, and every pod that it matches is refused",
		Action:  "give hotUpgradeEmptyImage",
	},
	{
		ID: "sidecarset/ignored-value", Kind: kruise.KindSidecarSet, Severity: Approximate,
		Fields:  []string{"spec.initContainers[].podInjectPolicy", "spec.containers[].upgradeStrategy.upgradeType", "spec.patchPodMetadata[].patchPolicy"},
		Becomes: "Kruise accepts the value and ignores it; so does the renderer",
		Action:  "check the spelling",
	},
	{
		ID: "sidecarset/resources-policy", Kind: kruise.KindSidecarSet, Severity: Approximate,
		Fields:  []string{"spec.containers[].resourcesPolicy", "spec.initContainers[].resourcesPolicy"},
		Becomes: "computed from the templates; defaults of a LimitRange, which Kruise would see, are not known",
		Action:  "add the namespace's LimitRange to the input, or by --with or --live",
	},
	{
		ID: "sidecarset/requests-above-limits", Kind: kruise.KindSidecarSet, Severity: Approximate,
		Fields:  []string{"spec.containers[].resourcesPolicy", "spec.initContainers[].resourcesPolicy"},
		Becomes: "the policy computes a request above its limit: with Kruise, the API server refuses every such pod; after rendering, it refuses the pods of the workload or the workload itself",
		Action:  "keep the expression of the request below that of the limit: min(...)",
	},
	{
		ID: "sidecarset/volumes", Kind: kruise.KindSidecarSet, Severity: Exact,
		Fields:  []string{"spec.volumes"},
		Becomes: "volumes of the pod templates, if a sidecar mounts them; a volume of the template with the same name takes precedence",
	},
	{
		ID: "sidecarset/pull-secrets", Kind: kruise.KindSidecarSet, Severity: Exact,
		Fields:  []string{"spec.imagePullSecrets"},
		Becomes: "pull secrets of the pod templates, after their own",
	},
	{
		ID: "sidecarset/service-account", Kind: kruise.KindSidecarSet, Severity: Approximate,
		Fields:  []string{"spec.imagePullSecrets"},
		Becomes: "a template that lists pull secrets no longer gets those of its ServiceAccount, which is not known here",
		Action:  "add the ServiceAccount to the input, or by --with, or list its secrets in the template",
	},
	{
		ID: "sidecarset/pod-metadata", Kind: kruise.KindSidecarSet, Severity: Exact,
		Fields:  []string{"spec.patchPodMetadata"},
		Becomes: "annotations of the pod templates",
	},
	{
		ID: "sidecarset/merge-not-json", Kind: kruise.KindSidecarSet, Severity: Approximate,
		Fields:  []string{"spec.patchPodMetadata[].annotations"},
		Becomes: "MergePatchJson with a text that is not JSON: Kruise accepts the set, and refuses pods that have the annotation already",
		Action:  "write a JSON object",
	},
	{
		ID: "sidecarset/whitelist-unknown", Kind: kruise.KindSidecarSet, Severity: Approximate,
		Fields:  []string{"spec.patchPodMetadata[].annotations"},
		Becomes: "Kruise accepts only annotations that its whitelist allows; the whitelist is not known here, so all are taken",
		Action:  "add ConfigMap kruise-configuration of namespace kruise-system by --with or --live",
	},
	{
		ID: "sidecarset/kube-system", Kind: kruise.KindSidecarSet, Severity: Approximate,
		Fields:  []string{"spec.namespaceSelector"},
		Becomes: "injected in kube-system too, as with Kruise's plain manifests; its Helm chart leaves that namespace out",
		Action:  "exclude the namespace in namespaceSelector if you use the Helm chart",
	},
}

// The fields of a SidecarSet about when it takes effect: revisions and updates
// (docs/kruise/sidecarset.md#which-pods-match and
// docs/kruise/sidecarset.md#updating-injected-pods).
var sidecarSetStrategyRules = []Rule{
	{
		ID: "sidecarset/paused", Kind: kruise.KindSidecarSet, Severity: Exact,
		Fields:  []string{"spec.injectionStrategy.paused"},
		Becomes: "nothing is injected",
	},
	{
		ID: "sidecarset/revision", Kind: kruise.KindSidecarSet, Severity: Exact,
		Fields:  []string{"spec.injectionStrategy.revision"},
		Becomes: "the stored revision is injected, from its ControllerRevision",
	},
	{
		ID: "sidecarset/revision-unknown", Kind: kruise.KindSidecarSet, Severity: Approximate,
		Fields:  []string{"spec.injectionStrategy.revision.revisionName", "spec.injectionStrategy.revision.customVersion"},
		Becomes: "Kruise refuses the set unless the revision is stored; the stored revisions are not known here",
		Action:  "add the ControllerRevision of namespace kruise-system by --with or --live",
	},
	{
		ID: "sidecarset/partial", Kind: kruise.KindSidecarSet, Severity: Approximate,
		Fields:  []string{"spec.injectionStrategy.revision.policy"},
		Becomes: "Kruise chooses between two revisions at random for each pod; rendering chooses one of them for each template, by a hash of its name, for all its pods",
		Action:  "use two sets, or a percentage of 0 or 100, for a predictable result",
	},
	{
		ID: "sidecarset/custom-version", Kind: kruise.KindSidecarSet, Severity: Approximate,
		Fields:  []string{"spec.customVersion"},
		Becomes: "names stored revisions, which do not exist without Kruise",
		Action:  "tag the commit that holds the set",
	},
	{
		ID: "sidecarset/history", Kind: kruise.KindSidecarSet, Severity: Approximate,
		Fields:  []string{"spec.revisionHistoryLimit"},
		Becomes: "no revisions are stored; the history of the rendered files replaces them",
		Action:  "no action needed",
	},
	{
		ID: "sidecarset/update", Kind: kruise.KindSidecarSet, Severity: Approximate,
		Fields:  []string{"spec.updateStrategy.type"},
		Becomes: "sidecars become part of the pod templates: whatever the type is, a changed SidecarSet changes the templates, and the workloads then replace their pods by their own strategy",
		Action:  "render a changed SidecarSet only when the pods may be replaced",
	},
	{
		ID: "sidecarset/update-paused", Kind: kruise.KindSidecarSet, Severity: Lost,
		Fields:  []string{"spec.updateStrategy.paused"},
		Becomes: "does not pause the workloads, whose templates change at once",
		Action:  "pause the workloads, or keep the old set until the update can continue",
	},
	{
		ID: "sidecarset/update-partition", Kind: kruise.KindSidecarSet, Severity: Lost,
		Fields:  []string{"spec.updateStrategy.partition"},
		Becomes: "all pods get the new sidecars, in the order and at the pace of their workloads",
		Action:  "use the partition of the workloads, or a canary set with its own selector",
	},
	{
		ID: "sidecarset/update-unavailable", Kind: kruise.KindSidecarSet, Severity: Lost,
		Fields:  []string{"spec.updateStrategy.maxUnavailable"},
		Becomes: "each workload has its own limit; there is no common limit",
		Action:  "use the strategy of the workloads or a PodDisruptionBudget",
	},
	{
		ID: "sidecarset/update-selector", Kind: kruise.KindSidecarSet, Severity: Lost,
		Fields:  []string{"spec.updateStrategy.selector"},
		Becomes: "pods that it does not match get the new sidecars too",
		Action:  "use a canary set with its own selector",
	},
	{
		ID: "sidecarset/update-order", Kind: kruise.KindSidecarSet, Severity: Lost,
		Fields:  []string{"spec.updateStrategy.priorityStrategy", "spec.updateStrategy.scatterStrategy"},
		Becomes: "pods are replaced in the order of their workloads",
		Action:  "there is no native equivalent",
	},
}

const asAdmission = "--sidecarset-as admission"

// What becomes of a SidecarSet that is rendered as a policy of the API server
// (docs/kruise/sidecarset.md#which-pods-match and docs/kruise/sidecarset.md#injection).
var sidecarSetAdmissionRules = []Rule{
	{
		ID: "sidecarset/admission", Kind: kruise.KindSidecarSet, When: asAdmission, Severity: Exact,
		Fields:  []string{"spec.selector", "spec.namespaceSelector"},
		Becomes: "a MutatingAdmissionPolicy with its binding, for all matching pods that are created in the cluster; namespaces with the label control-plane are excluded, as with Kruise's webhook",
	},
	{
		ID: "sidecarset/admission-content", Kind: kruise.KindSidecarSet, When: asAdmission, Severity: Exact,
		Fields:  []string{"spec.containers", "spec.initContainers", "spec.volumes", "spec.imagePullSecrets"},
		Becomes: "added to the pods by the policy, as Kruise's webhook does",
	},
	{
		ID: "sidecarset/admission-metadata", Kind: kruise.KindSidecarSet, When: asAdmission, Severity: Exact,
		Fields:  []string{"spec.patchPodMetadata"},
		Becomes: "annotations of the pods, by the policy",
	},
	{
		ID: "sidecarset/admission-paused", Kind: kruise.KindSidecarSet, When: asAdmission, Severity: Exact,
		Fields:  []string{"spec.injectionStrategy.paused"},
		Becomes: "a policy that matches no pod, so that applying it stops the injection",
	},
	{
		ID: "sidecarset/admission-injected", Kind: kruise.KindSidecarSet, When: asAdmission, Severity: Lost,
		Fields:  []string{"spec.containers[].resourcesPolicy", "spec.initContainers[].resourcesPolicy", "spec.patchPodMetadata[].patchPolicy"},
		Becomes: "no policy can express the set: it is injected into the pod templates of the input, and other pods get nothing",
		Action:  "remove the values that the finding names, or move them to another set",
	},
	{
		ID: "sidecarset/admission-revision", Kind: kruise.KindSidecarSet, When: asAdmission, Severity: Lost,
		Fields:  []string{"spec.injectionStrategy.revision"},
		Becomes: "ignored: new pods get the set as it is now",
		Action:  "render the set as it was, from the history of its file",
	},
	{
		ID: "sidecarset/admission-not-update", Kind: kruise.KindSidecarSet, When: asAdmission + ", NotUpdate", Severity: Exact,
		Fields:  []string{"spec.updateStrategy.type"},
		Becomes: "a changed set reaches the pods that are created later",
	},
	{
		ID: "sidecarset/admission-update", Kind: kruise.KindSidecarSet, When: asAdmission + ", RollingUpdate", Severity: Approximate,
		Fields:  []string{"spec.updateStrategy.type"},
		Becomes: "sidecars in running pods are not updated: a changed set reaches only pods that are created later",
		Action:  "restart the workloads when the new sidecars are wanted",
	},
	{
		ID: "sidecarset/admission-rollout", Kind: kruise.KindSidecarSet, When: asAdmission, Severity: Lost,
		Fields: []string{
			"spec.updateStrategy.paused", "spec.updateStrategy.partition", "spec.updateStrategy.maxUnavailable",
			"spec.updateStrategy.selector", "spec.updateStrategy.priorityStrategy", "spec.updateStrategy.scatterStrategy",
		},
		Becomes: "every new pod gets the new sidecars at once: running pods are not updated, so this has no effect",
		Action:  "use a canary set with its own selector",
	},
	{
		ID: "sidecarset/admission-hot-upgrade", Kind: kruise.KindSidecarSet, When: asAdmission, Severity: Lost,
		Fields:  []string{"spec.containers[].upgradeStrategy", "spec.initContainers[].upgradeStrategy"},
		Becomes: "the policy injects the pair of containers, but they are not swapped: a new image reaches new pods only",
		Action:  "use ColdUpgrade, which saves the idle container, unless Kruise runs the cluster",
	},
	{
		ID: "sidecarset/admission-startup", Kind: kruise.KindSidecarSet, When: asAdmission, Severity: Lost,
		Fields:  []string{"spec.containers[].env"},
		Becomes: "environment variables for Kruise's start order or for ending sidecars with their job: rendering turns such containers of pod templates into native sidecars, a policy does not",
		Action:  "use a native sidecar: an init container with restartPolicy Always",
	},
	{
		ID: "sidecarset/admission-preview", Kind: kruise.KindSidecarSet, When: asAdmission + " with --kubernetes-version below 1.36", Severity: Approximate,
		Becomes: "a policy in an alpha or beta API that is disabled by default: applying the output fails until it is enabled",
		Action:  "start the API server with the feature gate MutatingAdmissionPolicy and with the API version of the policy in --runtime-config",
	},
}
