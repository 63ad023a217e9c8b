package finding

import "github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"

// What becomes of the order in which the containers of a pod start
// (docs/kruise/protection.md#container-launch-priority).
var startOrderRules = []Rule{
	{
		ID: "containerlaunchpriority/sidecars", Kind: "ContainerLaunchPriority", Severity: Approximate,
		Fields: []string{
			"metadata.annotations[apps.kruise.io/container-launch-priority]",
			"spec.containers[].env[KRUISE_CONTAINER_PRIORITY]",
		},
		Becomes: "all containers but those of the lowest priority become native sidecars (init containers with restartPolicy Always), in the order of their launch: patches, autoscalers for single containers and other tools that expect them in spec.containers do not find them there; they cannot be updated in place, and terminate after the others, in reverse order",
		Action:  "check everything that names these containers; native sidecars need Kubernetes 1.29",
	},
	{
		ID: "containerlaunchpriority/probe", Kind: "ContainerLaunchPriority", Severity: Approximate,
		Fields:  []string{"spec.containers[].readinessProbe"},
		Becomes: "the readiness probe is also the startup probe, without a limit of failures: the next container starts once it succeeds, as Kruise waits until the container is ready",
		Action:  "write a startupProbe to restart a container that never starts",
	},
	{
		ID: "containerlaunchpriority/equal", Kind: "ContainerLaunchPriority", When: "containers of one priority", Severity: Approximate,
		Fields:  []string{"spec.containers[].env[KRUISE_CONTAINER_PRIORITY]"},
		Becomes: "they start one after the other, whereas Kruise starts them together",
		Action:  "no action needed, unless they wait for each other",
	},
	{
		ID: "containerlaunchpriority/job", Kind: "ContainerLaunchPriority", When: "restartPolicy Never or OnFailure", Severity: Lost,
		Fields:  []string{"spec.containers"},
		Becomes: "all containers start at once: a native sidecar does not count for the end of a job",
		Action:  "turn the container that must run first into an init container",
	},
}

// What becomes of sidecars that end with a job (docs/kruise/protection.md#other-features).
var sidecarEndRules = []Rule{
	{
		ID: "sidecarterminator/sidecar", Kind: "SidecarTerminator", Severity: Exact,
		Fields:  []string{"spec.containers[].env[KRUISE_TERMINATE_SIDECAR_WHEN_JOB_EXIT]"},
		Becomes: "the container becomes a native sidecar, which the kubelet terminates when the other containers are done; its exit code does not count",
	},
	{
		ID: "sidecarterminator/all", Kind: "SidecarTerminator", When: "every container is marked", Severity: Lost,
		Fields:  []string{"spec.containers"},
		Becomes: "not rendered: no container is left whose completion would end the pod",
		Action:  "remove the variable from the container that does the work",
	},
}

// What becomes of the label that protects objects from deletion
// (docs/kruise/protection.md#deletion-protection), on native objects of the output.
var protectionRules = []Rule{
	{
		ID: "deletionprotection/always", Kind: "DeletionProtection", When: "Always", Severity: Exact,
		Fields:  []string{"metadata.labels[policy.kruise.io/delete-protection]"},
		Becomes: "the label stays, and a ValidatingAdmissionPolicy with its binding refuses the deletion",
	},
	{
		ID: "deletionprotection/cascading", Kind: "DeletionProtection", When: "Cascading, on a workload", Severity: Exact,
		Fields:  []string{"metadata.labels[policy.kruise.io/delete-protection]"},
		Becomes: "the label stays, and a ValidatingAdmissionPolicy with its binding refuses the deletion while spec.replicas is above 0",
	},
	{
		ID: "deletionprotection/cascading-counted", Kind: "DeletionProtection", When: "Cascading, on a Namespace or CustomResourceDefinition", Severity: Lost,
		Fields:  []string{"metadata.labels[policy.kruise.io/delete-protection]"},
		Becomes: "not rendered: a policy cannot count the objects inside",
		Action:  "set Always",
	},
	{
		ID: "deletionprotection/older", Kind: "DeletionProtection", When: "--kubernetes-version below 1.30", Severity: Lost,
		Fields:  []string{"metadata.labels[policy.kruise.io/delete-protection]"},
		Becomes: "the label stays, but nothing refuses the deletion: API servers serve no ValidatingAdmissionPolicy v1",
		Action:  "guard the label with a webhook",
	},
}

// What becomes of objects that name an expanded object. These rules
// belong to no Kruise kind: the objects are native ones, or Kruise objects
// that stay.
var referenceRules = []Rule{
	{
		ID: "references/followed", Kind: "*", Severity: Exact,
		Becomes: "a reference to an expanded object now names the object that replaces it",
	},
	{
		ID: "references/immutable", Kind: "*", Severity: Approximate,
		Becomes: "an immutable reference now names the object that replaces the expanded one",
		Action:  "if the cluster has this object with the old reference, delete it there before you apply",
	},
	{
		ID: "references/per-piece", Kind: "*", Severity: Approximate,
		Becomes: "the target was split, and each part has a copy of this object",
		Action:  "delete the original if the cluster has it",
	},
	{
		ID: "references/per-piece-hpa", Kind: "*", Severity: Approximate,
		Becomes: "the target was split, and each part has its own autoscaler: each has the share of the lower and the upper limit that its subset takes; they scale on their own, so they keep the limits of the subsets, and not their ratio",
		Action:  "check the limits of each autoscaler, and delete the original if the cluster has it",
	},
	{
		ID: "references/selector", Kind: "*", Severity: Approximate,
		Becomes: "the target was split: the budget protects the pods of all parts through the selector of the target",
		Action:  "if the cluster has this budget with targetRef, delete it there before you apply: the field is immutable",
	},
	{
		ID: "references/split", Kind: "*", Severity: Lost,
		Becomes: "the target was split into several objects and this object can only name one: it is left out",
		Action:  "write one object for each part, or do not split the target",
	},
	{
		ID: "references/unfit", Kind: "*", Severity: Lost,
		Becomes: "the target was replaced by a kind that this object does not support: this object is left out",
		Action:  "remove this object, or replace it by one for the new kind",
	},
	{
		ID: "references/gone", Kind: "*", Severity: Lost,
		Becomes: "the target is not in the output in any form: this object is left out",
		Action:  "remove this object from the input",
	},
}

// What differs between releases of Kruise.
var releaseRules = []Rule{
	{
		ID: "sidecarset/dropped-by-release", Kind: kruise.KindSidecarSet, Severity: Exact,
		Fields:  []string{"spec.containers[].resourcesPolicy", "spec.containers[].shareVolumeDevicePolicy", "spec.initContainers[].restartPolicy"},
		When:    "the release of Kruise is older than the field",
		Becomes: "ignored: the schema of this release accepts the field and its webhook silently drops it, and so does rendering",
		Action:  "remove it, or name a newer release with --kruise-version",
	},
	{
		ID: "uniteddeployment/form-by-release", Kind: kruise.KindUnitedDeployment, Severity: Exact,
		Fields:  []string{"spec.template.cloneSetTemplate"},
		When:    "it has the form of CloneSet v1alpha1, and the release of Kruise is not known",
		Becomes: "read in that form, as every release of Kruise up to 1.9 does; later releases read only the form of v1beta1",
		Action:  "name the release with --kruise-version",
	},
	{
		ID: "object/lost-in-version", Kind: "*", Fields: []string{"spec"}, Severity: Lost,
		When:    "an object of Kruise is written in an older version, the only one that the release serves",
		Becomes: "a field that this version lacks is left out",
		Action:  "use a release of Kruise that serves the newer version, or expand the kind",
	},
}

// Kinds of Kruise that this version does not know stay Kruise objects, under one
// rule.
var unknownKindRules = []Rule{{
	ID: "object/refused", Kind: "*", Severity: Error,
	Becomes: "not rendered: Kruise, or the renderer, refuses the object; the rest of the output is written",
	Action:  "correct the object",
}, {
	ID: "kruise/not-expanded", Kind: "*", Severity: Lost,
	Becomes: "the object stays a Kruise object: it needs Kruise in the cluster",
	Action:  "install Kruise in the cluster, or replace the object by native ones",
}}
