package finding

import "github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"

// What becomes of the fields of a SidecarSet that say what goes where
// (docs/kruise/sidecarset.md#which-pods-match and docs/kruise/sidecarset.md#injection).
var _ = register(
	Rule{
		ID: "sidecarset/scope", Kind: kruise.KindSidecarSet, Severity: Approximate,
		Fields:  []string{"spec.selector"},
		Becomes: "injected into every pod template of the input that the selector matches; pods from elsewhere get nothing",
		Action:  "render all workloads that the set is meant for together with it",
	},
	Rule{
		ID: "sidecarset/namespaces", Kind: kruise.KindSidecarSet, Severity: Exact,
		Fields:  []string{"spec.namespaceSelector"},
		Becomes: "decided here, from the labels of the Namespace objects",
	},
	Rule{
		ID: "sidecarset/namespace-unknown", Kind: kruise.KindSidecarSet, Severity: Lost,
		Fields:  []string{"spec.namespaceSelector"},
		Becomes: "the labels of a namespace are not known: nothing is injected there",
		Action:  "add the Namespace object to the input, or by --with or --live",
	},
	Rule{
		ID: "sidecarset/template-path", Kind: kruise.KindSidecarSet, Severity: Lost,
		Becomes: "an object of a kind named with --template-paths holds no pod template at that path: nothing is injected into it",
		Action:  "check the path: keys with dots between them, such as spec.template",
	},
	Rule{
		ID: "sidecarset/containers", Kind: kruise.KindSidecarSet, Severity: Exact,
		Fields:  []string{"spec.containers"},
		Becomes: "containers of the pod templates, as Kruise's webhook builds them",
	},
	Rule{
		ID: "sidecarset/init-containers", Kind: kruise.KindSidecarSet, Severity: Exact,
		Fields:  []string{"spec.initContainers"},
		Becomes: "init containers of the pod templates, as Kruise's webhook builds them",
	},
	Rule{
		ID: "sidecarset/replaced-container", Kind: kruise.KindSidecarSet, Severity: Approximate,
		Fields:  []string{"spec.containers[].name", "spec.initContainers[].name"},
		Becomes: "a container of the template has the sidecar's name and is replaced by it, as in Kruise",
		Action:  "rename one of the two if that is not meant",
	},
	Rule{
		ID: "sidecarset/copied-from-replaced", Kind: kruise.KindSidecarSet, Severity: Approximate,
		Fields:  []string{"spec.containers[].transferEnv", "spec.containers[].shareVolumePolicy", "spec.containers[].shareVolumeDevicePolicy"},
		Becomes: "sidecars may copy from a container that another sidecar replaces: rendering the output again cannot see the original",
		Action:  "rename the container or the sidecar",
	},
	Rule{
		ID: "sidecarset/hot-upgrade", Kind: kruise.KindSidecarSet, Severity: Lost,
		Fields:  []string{"spec.containers[].upgradeStrategy", "spec.initContainers[].upgradeStrategy"},
		Becomes: "the pair of containers is injected, but they are not swapped: a new image replaces the pods, as with ColdUpgrade",
		Action:  "use ColdUpgrade, which saves the idle container, unless Kruise runs the cluster; or --driver client",
	},
	Rule{
		ID: "sidecarset/hot-upgrade-client", Kind: kruise.KindSidecarSet, When: "--driver client", Severity: Approximate,
		Fields:  []string{"spec.containers[].upgradeStrategy"},
		Becomes: "the pair of containers is injected, and a rollout by this client exchanges them: of ReplicaSets and OnDelete sets, while it runs; other workloads replace their pods",
		Action:  "roll the workload out with kubectl kruise rollout run or apply",
	},
	Rule{
		ID: "sidecarset/no-empty-image", Kind: kruise.KindSidecarSet, Severity: Approximate,
		Fields:  []string{"spec.containers[].upgradeStrategy.hotUpgradeEmptyImage", "spec.initContainers[].upgradeStrategy.hotUpgradeEmptyImage"},
		Becomes: "HotUpgrade without an empty image: Kruise accepts the set, and every pod that it matches is refused",
		Action:  "give hotUpgradeEmptyImage",
	},
	Rule{
		ID: "sidecarset/ignored-value", Kind: kruise.KindSidecarSet, Severity: Approximate,
		Fields:  []string{"spec.initContainers[].podInjectPolicy", "spec.containers[].upgradeStrategy.upgradeType", "spec.patchPodMetadata[].patchPolicy"},
		Becomes: "Kruise accepts the value and ignores it; so does the renderer",
		Action:  "check the spelling",
	},
	Rule{
		ID: "sidecarset/resources-policy", Kind: kruise.KindSidecarSet, Severity: Approximate,
		Fields:  []string{"spec.containers[].resourcesPolicy", "spec.initContainers[].resourcesPolicy"},
		Becomes: "computed from what the templates state; defaults of a LimitRange, which Kruise would see, are not known",
		Action:  "add the namespace's LimitRange to the input, or by --with or --live",
	},
	Rule{
		ID: "sidecarset/requests-above-limits", Kind: kruise.KindSidecarSet, Severity: Approximate,
		Fields:  []string{"spec.containers[].resourcesPolicy", "spec.initContainers[].resourcesPolicy"},
		Becomes: "the policy computes a request above its limit: with Kruise the API server refuses every such pod, and here the workload's pods or the workload itself",
		Action:  "let the expression of the request stay below that of the limit: min(...)",
	},
	Rule{
		ID: "sidecarset/volumes", Kind: kruise.KindSidecarSet, Severity: Exact,
		Fields:  []string{"spec.volumes"},
		Becomes: "volumes of the pod templates, as far as a sidecar mounts them; a template's volume of that name wins",
	},
	Rule{
		ID: "sidecarset/pull-secrets", Kind: kruise.KindSidecarSet, Severity: Exact,
		Fields:  []string{"spec.imagePullSecrets"},
		Becomes: "pull secrets of the pod templates, behind their own",
	},
	Rule{
		ID: "sidecarset/service-account", Kind: kruise.KindSidecarSet, Severity: Approximate,
		Fields:  []string{"spec.imagePullSecrets"},
		Becomes: "a template that lists pull secrets no longer gets those of its ServiceAccount, which is not known here",
		Action:  "add the ServiceAccount to the input, or by --with, or list its secrets in the template",
	},
	Rule{
		ID: "sidecarset/pod-metadata", Kind: kruise.KindSidecarSet, Severity: Exact,
		Fields:  []string{"spec.patchPodMetadata"},
		Becomes: "annotations of the pod templates",
	},
	Rule{
		ID: "sidecarset/merge-not-json", Kind: kruise.KindSidecarSet, Severity: Approximate,
		Fields:  []string{"spec.patchPodMetadata[].annotations"},
		Becomes: "MergePatchJson with a text that is not JSON: Kruise accepts the set, and refuses pods that have the annotation already",
		Action:  "write a JSON object",
	},
	Rule{
		ID: "sidecarset/whitelist-unknown", Kind: kruise.KindSidecarSet, Severity: Approximate,
		Fields:  []string{"spec.patchPodMetadata[].annotations"},
		Becomes: "Kruise accepts only annotations that its whitelist allows; the whitelist is not known here, so all are taken",
		Action:  "add ConfigMap kruise-configuration of namespace kruise-system by --with or --live",
	},
	Rule{
		ID: "sidecarset/kube-system", Kind: kruise.KindSidecarSet, Severity: Approximate,
		Fields:  []string{"spec.namespaceSelector"},
		Becomes: "injected in kube-system too, as with Kruise's plain manifests; its Helm chart leaves that namespace out",
		Action:  "exclude the namespace in namespaceSelector if you use the Helm chart",
	},
)
