package finding

import (
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// The forms that a CloneSet can take (docs/fidelity.md), as the catalogue
// names them.
const (
	toDeployment  = "becomes a Deployment"
	toStatefulSet = "becomes a StatefulSet"
	byClient      = "--driver client"
	toReplicaSet  = "--driver client, becomes a ReplicaSet"
)

// What becomes of the fields of a CloneSet that are no strategy (docs/kruise/workloads.md#cloneset
// and docs/kruise/workloads.md#what-is-added-to-pods,
// docs/kruise/sidecarset.md#observed-on-a-cluster).
var cloneSetRules = slices.Concat(workloadRules(kruise.KindCloneSet, "cloneset"), []Rule{
	alwaysPulled(kruise.KindCloneSet, "cloneset"),
	{
		ID: "cloneset/replicas", Kind: kruise.KindCloneSet, Severity: Exact,
		Fields:  []string{"spec.replicas"},
		Becomes: "the same field; both kinds default to 1",
	},
	{
		ID: "cloneset/min-ready-seconds", Kind: kruise.KindCloneSet, Severity: Exact,
		Fields:  []string{"spec.minReadySeconds"},
		Becomes: "the same field",
	},
	{
		ID: "cloneset/revision-history-client", Kind: kruise.KindCloneSet, When: toReplicaSet, Severity: Lost,
		Fields:  []string{"spec.revisionHistoryLimit"},
		Becomes: "a ReplicaSet keeps no earlier templates",
		Action:  "roll back by applying the earlier manifest",
	},
	{
		ID: "cloneset/lifecycle", Kind: kruise.KindCloneSet, Severity: Lost,
		Fields:  []string{"spec.lifecycle"},
		Becomes: "no hook is run: pods are deleted and started without waiting for labels or finalizers",
		Action:  "use a preStop hook, a finalizer on the pod or a readiness gate; or --driver client",
	},
	{
		ID: "cloneset/lifecycle-client", Kind: kruise.KindCloneSet, When: byClient, Severity: Approximate,
		Fields:  []string{"spec.lifecycle"},
		Becomes: "hooks are honored only for pods that this tool replaces, while it runs",
		Action:  "do not rely on hooks for evictions and scaling done by others",
	},
})

// Scaling and volume claims (docs/kruise/workloads.md#revisions and
// docs/kruise/workloads.md#named-pods-and-claims).
var cloneSetScaleRules = []Rule{
	{
		ID: "cloneset/pods-to-delete", Kind: kruise.KindCloneSet, Severity: Lost,
		Fields:  []string{"spec.scaleStrategy.podsToDelete"},
		Becomes: "no pod is chosen by name",
		Action:  "set the annotation controller.kubernetes.io/pod-deletion-cost on these pods before scaling in (Deployment only), or delete them",
	},
	{
		ID: "cloneset/pods-to-delete-client", Kind: kruise.KindCloneSet, When: byClient, Severity: Approximate,
		Fields:  []string{"spec.scaleStrategy.podsToDelete"},
		Becomes: "kept in the strategy annotation: this tool deletes these pods; no controller does",
		Action:  "scale in with this tool",
	},
	{
		ID: "cloneset/scale-max-unavailable", Kind: kruise.KindCloneSet, Severity: Lost,
		Fields:  []string{"spec.scaleStrategy.maxUnavailable"},
		Becomes: "missing pods are created all at once, however many are unavailable",
		Action:  "scale out in steps if that matters",
	},
	{
		ID: "cloneset/exclude-preparing-delete", Kind: kruise.KindCloneSet, Severity: Lost,
		Fields:  []string{"spec.scaleStrategy.excludePreparingDelete"},
		Becomes: "dropped: without lifecycle hooks, no pod is kept from deletion",
		Action:  "see cloneset/lifecycle",
	},
	{
		ID: "cloneset/exclude-preparing-delete-client", Kind: kruise.KindCloneSet, When: byClient, Severity: Approximate,
		Fields:  []string{"spec.scaleStrategy.excludePreparingDelete"},
		Becomes: "a pod that waits for its hook still counts for the native controller until it is deleted",
		Action:  "keep the preDelete hooks short",
	},
	{
		ID: "cloneset/pvc-reuse", Kind: kruise.KindCloneSet, When: toStatefulSet + ", reuse is off", Severity: Approximate,
		Fields:  []string{"spec.scaleStrategy.enablePVCReuse"},
		Becomes: "a replacement pod gets the existing claims of its ordinal, whereas a CloneSet without reuse creates new ones",
		Action:  "delete the claim together with the pod if you want an empty volume",
	},
	{
		ID: "cloneset/volume-claims", Kind: kruise.KindCloneSet, When: toStatefulSet, Severity: Approximate,
		Fields:  []string{"spec.volumeClaimTemplates"},
		Becomes: "claims are named by ordinal (TEMPLATE-NAME-0 …) and the field cannot change later; existing claims of a CloneSet are not used",
		Action:  "move the data of existing claims before switching",
	},
	{
		ID: "cloneset/claim-retention", Kind: kruise.KindCloneSet, When: toStatefulSet, Severity: Approximate,
		Fields:  []string{"spec.volumeClaimTemplates"},
		Becomes: "persistentVolumeClaimRetentionPolicy is Delete, because a CloneSet's claims go with their pod and with the CloneSet; but a pod that an update recreates keeps its claim, whereas Kruise gives it a new one",
		Action:  "delete the claim together with the pod where an update must start from an empty volume",
	},
	{
		ID: "cloneset/name", Kind: kruise.KindCloneSet, When: toStatefulSet + ", with a dot in its name or more than 52 characters", Severity: Approximate,
		Becomes: "a StatefulSet cannot have this name: dots become dashes, and a name that is too long ends in a hash",
		Action:  "refer to the new name",
	},
	{
		ID: "cloneset/headless-service", Kind: kruise.KindCloneSet, When: toStatefulSet, Severity: Exact,
		Fields:  []string{"spec.volumeClaimTemplates"},
		Becomes: "a headless Service without ports is added, which a StatefulSet needs; pods get DNS names from it once ready",
	},
}

// What becomes of a CloneSet's update strategy (docs/kruise/workloads.md#percentages-and-defaults
// and docs/kruise/workloads.md#image-pre-download).
var cloneSetStrategyRules = []Rule{
	{
		ID: "cloneset/type", Kind: kruise.KindCloneSet, Severity: Exact,
		Fields:  []string{"spec.updateStrategy.type"},
		Becomes: "RollingUpdate stays; so does OnDelete, except on a Deployment",
	},
	{
		ID: "cloneset/on-delete", Kind: kruise.KindCloneSet, When: toDeployment, Severity: Lost,
		Fields:  []string{"spec.updateStrategy.type"},
		Becomes: "a Deployment has no OnDelete: it replaces pods by itself when the template changes",
		Action:  "render with --driver client (a ReplicaSet replaces only pods that are deleted), or pause the Deployment after its first rollout",
	},
	{
		ID: "cloneset/recreate", Kind: kruise.KindCloneSet, Severity: Exact,
		Fields:  []string{"spec.updateStrategy.rollingUpdate.podUpdatePolicy"},
		Becomes: "ReCreate is what native workloads do",
	},
	{
		ID: "cloneset/in-place", Kind: kruise.KindCloneSet, When: "InPlaceIfPossible", Severity: Approximate,
		Fields:  []string{"spec.updateStrategy.rollingUpdate.podUpdatePolicy"},
		Becomes: "every update recreates pods: new names, IPs and nodes",
		Action:  "render with --driver client to update in place",
	},
	{
		ID: "cloneset/in-place-only", Kind: kruise.KindCloneSet, When: "InPlaceOnly", Severity: Lost,
		Fields:  []string{"spec.updateStrategy.rollingUpdate.podUpdatePolicy"},
		Becomes: "every update recreates pods, which InPlaceOnly forbids",
		Action:  "render with --driver client to update in place",
	},
	{
		ID: "cloneset/in-place-client", Kind: kruise.KindCloneSet, When: byClient, Severity: Exact,
		Fields:  []string{"spec.updateStrategy.rollingUpdate.podUpdatePolicy"},
		Becomes: "kept in the strategy annotation: this tool updates in place by the same rules",
	},
	{
		ID: "cloneset/partition", Kind: kruise.KindCloneSet, When: toDeployment, Severity: Lost,
		Fields:  []string{"spec.updateStrategy.rollingUpdate.partition"},
		Becomes: "a Deployment has no partition: all pods are updated",
		Action:  "render with --driver client, or apply the new template only when all pods may have it",
	},
	{
		ID: "cloneset/canary", Kind: kruise.KindCloneSet, When: "the state before is given with --against, and the partition keeps pods", Severity: Approximate,
		Fields:  []string{"spec.updateStrategy.rollingUpdate.partition"},
		Becomes: "two workloads: a stable one with the old template, the name and the selector, and a canary with the new template and an additional label; Services and budgets select the pods of both, and references to the CloneSet now name the stable one",
		Action:  "apply the canary first and wait for its pods (--patches-dir has the order); render again when replicas or partition change, and delete the canary when it is no longer in the output",
	},
	{
		ID: "cloneset/canary-autoscaled", Kind: kruise.KindCloneSet, When: "the same, with an autoscaler", Severity: Approximate,
		Fields:  []string{"spec.replicas"},
		Becomes: "the autoscaler scales the stable workload, by the load of the pods of both; the canary keeps its number of pods",
		Action:  "do not keep the canary for long",
	},
	{
		ID: "cloneset/canary-unchanged", Kind: kruise.KindCloneSet, When: "the state before has the same template", Severity: Exact,
		Fields:  []string{"spec.updateStrategy.rollingUpdate.partition"},
		Becomes: "the template does not change, so the partition keeps no pod back",
	},
	{
		ID: "cloneset/canary-no-base", Kind: kruise.KindCloneSet, When: "the state before does not hold the CloneSet", Severity: Lost,
		Fields:  []string{"spec.updateStrategy.rollingUpdate.partition"},
		Becomes: "the template of the pods that the partition would keep is not known",
		Action:  "give a --against that holds this CloneSet",
	},
	{
		ID: "cloneset/partition-statefulset", Kind: kruise.KindCloneSet, When: toStatefulSet, Severity: Approximate,
		Fields:  []string{"spec.updateStrategy.rollingUpdate.partition"},
		Becomes: "the same number of pods stays at the old revision, but always those with the lowest ordinals, and a percentage becomes a number",
		Action:  "render again when replicas change",
	},
	{
		ID: "cloneset/partition-client", Kind: kruise.KindCloneSet, When: byClient, Severity: Approximate,
		Fields:  []string{"spec.updateStrategy.rollingUpdate.partition"},
		Becomes: "kept in the strategy annotation: this tool stops there; but the native controller recreates lost pods from the new template, even if they had the old one",
		Action:  "do not leave a rollout incomplete for long",
	},
	{
		ID: "cloneset/max-unavailable", Kind: kruise.KindCloneSet, Severity: Exact,
		Fields:  []string{"spec.updateStrategy.rollingUpdate.maxUnavailable"},
		Becomes: "the same number of pods at the rendered replicas, written out because the defaults differ (20% against 25%)",
	},
	{
		ID: "cloneset/max-unavailable-rounded", Kind: kruise.KindCloneSet, Severity: Approximate,
		Fields:  []string{"spec.updateStrategy.rollingUpdate.maxUnavailable"},
		Becomes: "a number instead of the percentage, which native workloads round down and a CloneSet without surge rounds up",
		Action:  "render again when replicas change",
	},
	{
		ID: "cloneset/max-unavailable-percent", Kind: kruise.KindCloneSet, When: "replicas are 0 or set by an autoscaler", Severity: Approximate,
		Fields:  []string{"spec.updateStrategy.rollingUpdate.maxUnavailable"},
		Becomes: "the percentage stays, but native workloads round it down (to at least 1), whereas a CloneSet without surge rounds up",
		Action:  "set a number if the difference of one pod matters",
	},
	{
		ID: "cloneset/max-unavailable-zero", Kind: kruise.KindCloneSet, Severity: Approximate,
		Fields:  []string{"spec.updateStrategy.rollingUpdate.maxUnavailable"},
		Becomes: "1 instead of 0: native workloads do not allow both maxSurge and maxUnavailable to be 0",
		Action:  "set maxUnavailable to a value that the application tolerates",
	},
	{
		ID: "cloneset/max-unavailable-statefulset", Kind: kruise.KindCloneSet, When: toStatefulSet + ", --kubernetes-version below 1.37", Severity: Approximate,
		Fields:  []string{"spec.updateStrategy.rollingUpdate.maxUnavailable"},
		Becomes: "left out, since it is disabled by default in API servers (gate MaxUnavailableStatefulSet): pods are updated one at a time",
		Action:  "expect a slower rollout, or enable the gate and render for 1.37",
	},
	{
		ID: "cloneset/max-unavailable-client", Kind: kruise.KindCloneSet, When: byClient, Severity: Exact,
		Fields:  []string{"spec.updateStrategy.rollingUpdate.maxUnavailable"},
		Becomes: "kept in the strategy annotation: this tool works within the same budget",
	},
	{
		ID: "cloneset/max-surge", Kind: kruise.KindCloneSet, Severity: Exact,
		Fields:  []string{"spec.updateStrategy.rollingUpdate.maxSurge"},
		Becomes: "the same value, written out because the defaults differ (0 against 25%); both kinds round up",
	},
	{
		ID: "cloneset/max-surge-statefulset", Kind: kruise.KindCloneSet, When: toStatefulSet, Severity: Lost,
		Fields:  []string{"spec.updateStrategy.rollingUpdate.maxSurge"},
		Becomes: "a StatefulSet never has more pods than replicas: capacity drops by maxUnavailable during an update",
		Action:  "add replicas for the time of an update",
	},
	{
		ID: "cloneset/max-surge-client", Kind: kruise.KindCloneSet, When: byClient, Severity: Lost,
		Fields:  []string{"spec.updateStrategy.rollingUpdate.maxSurge"},
		Becomes: "the native parent cannot surge: capacity drops by maxUnavailable during an update",
		Action:  "add replicas for the time of an update, or use the native driver",
	},
	{
		ID: "cloneset/paused", Kind: kruise.KindCloneSet, When: toDeployment, Severity: Approximate,
		Fields:  []string{"spec.updateStrategy.rollingUpdate.paused"},
		Becomes: "the same field; but a Deployment that is created paused creates no pods at all, whereas a CloneSet does",
		Action:  "apply it unpaused the first time",
	},
	{
		ID: "cloneset/paused-statefulset", Kind: kruise.KindCloneSet, When: toStatefulSet, Severity: Approximate,
		Fields:  []string{"spec.updateStrategy.rollingUpdate.paused"},
		Becomes: "updateStrategy OnDelete: no pod is updated, and deleted pods are recreated from the new template",
		Action:  "render again without paused to continue",
	},
	{
		ID: "cloneset/paused-client", Kind: kruise.KindCloneSet, When: byClient, Severity: Exact,
		Fields:  []string{"spec.updateStrategy.rollingUpdate.paused"},
		Becomes: "kept in the strategy annotation: while it is set, neither this tool nor the native parent updates pods",
	},
	{
		ID: "cloneset/update-order", Kind: kruise.KindCloneSet, Severity: Lost,
		Fields:  []string{"spec.updateStrategy.rollingUpdate.priorityStrategy", "spec.updateStrategy.rollingUpdate.scatterStrategy"},
		Becomes: "the native controller has its own order",
		Action:  "render with --driver client to keep the order",
	},
	{
		ID: "cloneset/update-order-client", Kind: kruise.KindCloneSet, When: byClient, Severity: Exact,
		Fields:  []string{"spec.updateStrategy.rollingUpdate.priorityStrategy", "spec.updateStrategy.rollingUpdate.scatterStrategy"},
		Becomes: "kept in the strategy annotation: this tool updates in the same order",
	},
	{
		ID: "cloneset/grace-period", Kind: kruise.KindCloneSet, Severity: Approximate,
		Fields:  []string{"spec.updateStrategy.rollingUpdate.inPlaceUpdateStrategy.gracePeriodSeconds"},
		Becomes: "pods are recreated, so their own termination (preStop, terminationGracePeriodSeconds) replaces the grace period",
		Action:  "make sure that the containers terminate gracefully",
	},
	{
		ID: "cloneset/grace-period-client", Kind: kruise.KindCloneSet, When: byClient, Severity: Exact,
		Fields:  []string{"spec.updateStrategy.rollingUpdate.inPlaceUpdateStrategy.gracePeriodSeconds"},
		Becomes: "kept in the strategy annotation: this tool waits for that time before it changes the image",
	},
	{
		ID: "cloneset/image-predownload", Kind: kruise.KindCloneSet, Severity: Lost,
		Fields:  predownload,
		Becomes: "no image is pulled ahead of the rollout",
		Action:  "pull images ahead with a DaemonSet, or use --driver client",
	},
	{
		ID: "cloneset/image-predownload-client", Kind: kruise.KindCloneSet, When: byClient, Severity: Approximate,
		Fields:  predownload,
		Becomes: "a plan pulls the images first, on all nodes of the pods, with its own limits",
		Action:  "set parallelism and time limit on the plan",
	},
	{
		ID: "cloneset/progress-deadline", Kind: kruise.KindCloneSet, When: toDeployment, Severity: Approximate,
		Fields:  []string{"spec.progressDeadlineSeconds"},
		Becomes: "the same field, but for a Deployment the time starts again with every pod that makes progress, whereas for a CloneSet it starts with the last change of state",
		Action:  "no action needed, unless an alert depends on ProgressDeadlineExceeded",
	},
	{
		ID: "cloneset/progress-deadline-none", Kind: kruise.KindCloneSet, When: toDeployment + ", none given", Severity: Exact,
		Fields:  []string{"spec.progressDeadlineSeconds"},
		Becomes: "2147483647, which means none: a Deployment's default is 600",
	},
	{
		ID: "cloneset/progress-deadline-raised", Kind: kruise.KindCloneSet, When: toDeployment, Severity: Approximate,
		Fields:  []string{"spec.progressDeadlineSeconds"},
		Becomes: "raised above minReadySeconds, as a Deployment requires",
		Action:  "set a deadline longer than minReadySeconds",
	},
	{
		ID: "cloneset/progress-deadline-statefulset", Kind: kruise.KindCloneSet, When: toStatefulSet, Severity: Lost,
		Fields:  []string{"spec.progressDeadlineSeconds"},
		Becomes: "a StatefulSet does not report a rollout that makes no progress",
		Action:  "set the time where you wait for it, such as kubectl rollout status --timeout",
	},
	{
		ID: "cloneset/progress-deadline-client", Kind: kruise.KindCloneSet, When: byClient, Severity: Exact,
		Fields:  []string{"spec.progressDeadlineSeconds"},
		Becomes: "kept in the strategy annotation: this tool stops a rollout that makes no progress for that time",
	},
}

var predownload = []string{
	"spec.updateStrategy.rollingUpdate.inPlaceUpdateStrategy.imagePreDownloadParallelism",
	"spec.updateStrategy.rollingUpdate.inPlaceUpdateStrategy.imagePreDownloadTimeoutSeconds",
	"spec.updateStrategy.rollingUpdate.inPlaceUpdateStrategy.imagePreDownloadMinUpdatedReadyPods",
}
