package finding

import "github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"

const asAdmission = "--sidecarset-as admission"

// What becomes of a SidecarSet that is rendered as a policy of the API server
// (docs/kruise/sidecarset.md#which-pods-match and docs/kruise/sidecarset.md#injection).
var _ = register(
	Rule{
		ID: "sidecarset/admission", Kind: kruise.KindSidecarSet, When: asAdmission, Severity: Exact,
		Fields:  []string{"spec.selector", "spec.namespaceSelector"},
		Becomes: "a MutatingAdmissionPolicy with its binding, for all pods that both match when they are created, wherever they come from; namespaces with the label control-plane stay out, as with Kruise's webhook",
	},
	Rule{
		ID: "sidecarset/admission-content", Kind: kruise.KindSidecarSet, When: asAdmission, Severity: Exact,
		Fields:  []string{"spec.containers", "spec.initContainers", "spec.volumes", "spec.imagePullSecrets"},
		Becomes: "put into the pods by the policy, as Kruise's webhook does",
	},
	Rule{
		ID: "sidecarset/admission-metadata", Kind: kruise.KindSidecarSet, When: asAdmission, Severity: Exact,
		Fields:  []string{"spec.patchPodMetadata"},
		Becomes: "annotations of the pods, by the policy",
	},
	Rule{
		ID: "sidecarset/admission-paused", Kind: kruise.KindSidecarSet, When: asAdmission, Severity: Exact,
		Fields:  []string{"spec.injectionStrategy.paused"},
		Becomes: "a policy that matches no pod, so that applying it ends what went on before",
	},
	Rule{
		ID: "sidecarset/admission-injected", Kind: kruise.KindSidecarSet, When: asAdmission, Severity: Lost,
		Fields:  []string{"spec.containers[].resourcesPolicy", "spec.initContainers[].resourcesPolicy", "spec.patchPodMetadata[].patchPolicy"},
		Becomes: "no policy can express the set: it is injected into the pod templates of the input, and pods from elsewhere get nothing",
		Action:  "leave out what the finding names, or split it off into a set of its own",
	},
	Rule{
		ID: "sidecarset/admission-revision", Kind: kruise.KindSidecarSet, When: asAdmission, Severity: Lost,
		Fields:  []string{"spec.injectionStrategy.revision"},
		Becomes: "ignored: new pods get the set as it is now",
		Action:  "render the set as it was, from the history of its file",
	},
	Rule{
		ID: "sidecarset/admission-not-update", Kind: kruise.KindSidecarSet, When: asAdmission + ", NotUpdate", Severity: Exact,
		Fields:  []string{"spec.updateStrategy.type"},
		Becomes: "a changed set reaches the pods that are created later",
	},
	Rule{
		ID: "sidecarset/admission-update", Kind: kruise.KindSidecarSet, When: asAdmission + ", RollingUpdate", Severity: Approximate,
		Fields:  []string{"spec.updateStrategy.type"},
		Becomes: "sidecars in running pods are not updated: a changed set reaches only pods that are created later",
		Action:  "restart the workloads when the new sidecars are wanted",
	},
	Rule{
		ID: "sidecarset/admission-rollout", Kind: kruise.KindSidecarSet, When: asAdmission, Severity: Lost,
		Fields: []string{
			"spec.updateStrategy.paused", "spec.updateStrategy.partition", "spec.updateStrategy.maxUnavailable",
			"spec.updateStrategy.selector", "spec.updateStrategy.priorityStrategy", "spec.updateStrategy.scatterStrategy",
		},
		Becomes: "every new pod gets the new sidecars at once: there is no update of running pods that this could steer",
		Action:  "use a canary set with its own selector",
	},
	Rule{
		ID: "sidecarset/admission-hot-upgrade", Kind: kruise.KindSidecarSet, When: asAdmission, Severity: Lost,
		Fields:  []string{"spec.containers[].upgradeStrategy", "spec.initContainers[].upgradeStrategy"},
		Becomes: "the policy injects the pair of containers, but they are not swapped: a new image reaches new pods only",
		Action:  "use ColdUpgrade, which saves the idle container, unless Kruise runs the cluster",
	},
	Rule{
		ID: "sidecarset/admission-startup", Kind: kruise.KindSidecarSet, When: asAdmission, Severity: Lost,
		Fields:  []string{"spec.containers[].env"},
		Becomes: "env by which Kruise orders starts, or ends sidecars with their job: rendering turns those of pod templates into native sidecars, a policy does not",
		Action:  "make the sidecar a native one: an init container with restartPolicy Always",
	},
	Rule{
		ID: "sidecarset/admission-preview", Kind: kruise.KindSidecarSet, When: asAdmission + " with --kubernetes-version below 1.36", Severity: Approximate,
		Becomes: "a policy in an alpha or beta API that the server has off: applying the output fails until it is switched on",
		Action:  "start the API server with the feature gate MutatingAdmissionPolicy and with the API version of the policy in --runtime-config",
	},
)
