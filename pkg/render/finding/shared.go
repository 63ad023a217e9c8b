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
		Becomes: "all containers but those of the lowest priority become native sidecars (init containers with restartPolicy Always), in the order of their launch: what looks for them in spec.containers, such as patches and an autoscaler of single containers, does not find them there; they do not change in place, and end after the others, in reverse order",
		Action:  "look through what names these containers; native sidecars need Kubernetes 1.29",
	},
	{
		ID: "containerlaunchpriority/probe", Kind: "ContainerLaunchPriority", Severity: Approximate,
		Fields:  []string{"spec.containers[].readinessProbe"},
		Becomes: "is also the start-up probe, without an end of patience: the next container waits until it answers, as Kruise waits until the container is ready",
		Action:  "write a startupProbe to restart a container that never starts",
	},
	{
		ID: "containerlaunchpriority/equal", Kind: "ContainerLaunchPriority", When: "containers of one priority", Severity: Approximate,
		Fields:  []string{"spec.containers[].env[KRUISE_CONTAINER_PRIORITY]"},
		Becomes: "start one after the other, where Kruise starts them together",
		Action:  "nothing, unless they wait for each other",
	},
	{
		ID: "containerlaunchpriority/job", Kind: "ContainerLaunchPriority", When: "restartPolicy Never or OnFailure", Severity: Lost,
		Fields:  []string{"spec.containers"},
		Becomes: "all containers start at once: a native sidecar does not count for the end of a job",
		Action:  "make what must be done first an init container",
	},
}

// What becomes of sidecars that end with a job (docs/kruise/protection.md#other-features).
var sidecarEndRules = []Rule{
	{
		ID: "sidecarterminator/sidecar", Kind: "SidecarTerminator", Severity: Exact,
		Fields:  []string{"spec.containers[].env[KRUISE_TERMINATE_SIDECAR_WHEN_JOB_EXIT]"},
		Becomes: "the container becomes a native sidecar, which the kubelet ends when the others are done; its exit code does not count",
	},
	{
		ID: "sidecarterminator/all", Kind: "SidecarTerminator", When: "every container is marked", Severity: Lost,
		Fields:  []string{"spec.containers"},
		Becomes: "nothing: no container is left whose end would count",
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
		Becomes: "nothing: a policy cannot count what is inside",
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
		Becomes: "a reference to an expanded object names what the object became",
	},
	{
		ID: "references/immutable", Kind: "*", Severity: Approximate,
		Becomes: "a reference that a cluster does not let change names what the object became",
		Action:  "delete this object in a cluster that holds it with the old reference, then apply",
	},
	{
		ID: "references/per-piece", Kind: "*", Severity: Approximate,
		Becomes: "the target was split, and each piece has a copy of this object",
		Action:  "delete the original in a cluster that holds it",
	},
	{
		ID: "references/per-piece-hpa", Kind: "*", Severity: Approximate,
		Becomes: "the target was split, and each piece has an autoscaler of its own: they share minReplicas and maxReplicas in the ratio of the rendered replicas, and no longer keep the ratio of the subsets",
		Action:  "check the limits of each autoscaler, and delete the original in a cluster that holds it",
	},
	{
		ID: "references/selector", Kind: "*", Severity: Approximate,
		Becomes: "the target was split: the budget guards the pods of all pieces through the target's selector",
		Action:  "delete this budget in a cluster that holds it with targetRef, then apply: the field is immutable",
	},
	{
		ID: "references/split", Kind: "*", Severity: Lost,
		Becomes: "the target was split into several objects and this object can only name one: it is left out",
		Action:  "write one object for each piece, or keep the target whole",
	},
	{
		ID: "references/unfit", Kind: "*", Severity: Lost,
		Becomes: "the target became a kind that this object cannot work with: it is left out",
		Action:  "remove this object, or write what takes its place for the new kind",
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
		Becomes: "nothing: the schema of the release takes the field and its webhook drops it without a word, and so does the renderer",
		Action:  "remove it, or name a newer release with --kruise-version",
	},
	{
		ID: "uniteddeployment/form-by-release", Kind: kruise.KindUnitedDeployment, Severity: Exact,
		Fields:  []string{"spec.template.cloneSetTemplate"},
		When:    "it has the form of CloneSet v1alpha1, and the release of Kruise is not known",
		Becomes: "read in that form, as every release of Kruise up to 1.9 does; what comes after reads the form of v1beta1 alone",
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
	ID: "kruise/not-expanded", Kind: "*", Severity: Lost,
	Becomes: "the object stays a Kruise object: it needs Kruise in the cluster",
	Action:  "install Kruise where this is applied, or replace the object by native ones",
}}
