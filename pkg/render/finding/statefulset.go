package finding

import (
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// What becomes of an Advanced StatefulSet (docs/kruise/workloads.md#advanced-statefulset). Without
// Kruise the pods keep their names and claims.
var statefulSetRules = slices.Concat(workloadRules(kruise.KindStatefulSet, "statefulset"), []Rule{
	alwaysPulled(kruise.KindStatefulSet, "statefulset"),
	{
		ID: "statefulset/replicas", Kind: kruise.KindStatefulSet, Severity: Exact,
		Fields:  []string{"spec.replicas"},
		Becomes: "the same field; both kinds default to 1",
	},
	{
		ID: "statefulset/service-name", Kind: kruise.KindStatefulSet, Severity: Exact,
		Fields:  []string{"spec.serviceName"},
		Becomes: "the same field",
	},
	{
		ID: "statefulset/pod-management", Kind: kruise.KindStatefulSet, Severity: Exact,
		Fields:  []string{"spec.podManagementPolicy"},
		Becomes: "the same field; both kinds default to OrderedReady",
	},
	{
		ID: "statefulset/volume-claims", Kind: kruise.KindStatefulSet, Severity: Approximate,
		Fields:  []string{"spec.volumeClaimTemplates"},
		Becomes: "the same field and the same names of claims, so existing claims are used; but a StatefulSet refuses changes of the templates later, whereas Kruise allows them for new claims",
		Action:  "to change them, delete the StatefulSet with --cascade=orphan and apply it again",
	},
	{
		ID: "statefulset/claim-update", Kind: kruise.KindStatefulSet, When: "OnPodRollingUpdate", Severity: Lost,
		Fields:  []string{"spec.volumeClaimUpdateStrategy"},
		Becomes: "existing claims are not resized when their template changes",
		Action:  "raise spec.resources.requests.storage of each claim",
	},
	{
		ID: "statefulset/claim-retention", Kind: kruise.KindStatefulSet, Severity: Exact,
		Fields:  []string{"spec.persistentVolumeClaimRetentionPolicy"},
		Becomes: "the same field; both kinds default to Retain",
	},
	{
		ID: "statefulset/ordinals", Kind: kruise.KindStatefulSet, Severity: Approximate,
		Fields:  []string{"spec.ordinals"},
		Becomes: "the same field; but Kruise uses it only with its feature gate StatefulSetStartOrdinal, which is disabled by default",
		Action:  "remove the field if the gate is disabled",
	},
	{
		ID: "statefulset/reserve-ordinals", Kind: kruise.KindStatefulSet, When: "no reserved ordinal between two pods", Severity: Approximate,
		Fields:  []string{"spec.reserveOrdinals"},
		Becomes: "ordinals.start after the reserved ordinals: the same pods at these replicas; reserved ordinals above the last pod are dropped",
		Action:  "render again when replicas change",
	},
	{
		ID: "statefulset/reserve-ordinals-holes", Kind: kruise.KindStatefulSet, When: "a reserved ordinal between two pods", Severity: Lost,
		Fields:  []string{"spec.reserveOrdinals"},
		Becomes: "a StatefulSet cannot skip ordinals: pods are numbered without gaps",
		Action:  "move the data of the pods above the gap, or split the set in two with ordinals.start",
	},
	{
		ID: "statefulset/lifecycle", Kind: kruise.KindStatefulSet, Severity: Lost,
		Fields:  []string{"spec.lifecycle"},
		Becomes: "no hook is run: pods are deleted and started without waiting for labels or finalizers",
		Action:  "use a preStop hook, a finalizer on the pod or a readiness gate; or --driver client",
	},
	{
		ID: "statefulset/lifecycle-client", Kind: kruise.KindStatefulSet, When: byClient, Severity: Approximate,
		Fields:  []string{"spec.lifecycle"},
		Becomes: "hooks are honored only for pods that this tool replaces, while it runs",
		Action:  "do not rely on hooks for evictions and scaling done by others",
	},
	{
		ID: "statefulset/scale-max-unavailable", Kind: kruise.KindStatefulSet, Severity: Lost,
		Fields:  []string{"spec.scaleStrategy.maxUnavailable"},
		Becomes: "missing pods are created one by one (OrderedReady) or all at once (Parallel)",
		Action:  "scale out in steps if that matters",
	},
})

// What becomes of its update strategy.
var statefulSetStrategyRules = []Rule{
	{
		ID: "statefulset/type", Kind: kruise.KindStatefulSet, Severity: Exact,
		Fields:  []string{"spec.updateStrategy.type"},
		Becomes: "RollingUpdate and OnDelete stay; with the client driver it is OnDelete, so that only this tool replaces pods",
	},
	{
		ID: "statefulset/recreate", Kind: kruise.KindStatefulSet, Severity: Exact,
		Fields:  []string{"spec.updateStrategy.rollingUpdate.podUpdatePolicy"},
		Becomes: "ReCreate is what a StatefulSet does",
	},
	{
		ID: "statefulset/in-place", Kind: kruise.KindStatefulSet, When: "InPlaceIfPossible", Severity: Approximate,
		Fields:  []string{"spec.updateStrategy.rollingUpdate.podUpdatePolicy"},
		Becomes: "every update recreates pods, under the same names, with new IPs and perhaps on other nodes",
		Action:  "render with --driver client to update in place",
	},
	{
		ID: "statefulset/in-place-only", Kind: kruise.KindStatefulSet, When: "InPlaceOnly", Severity: Lost,
		Fields:  []string{"spec.updateStrategy.rollingUpdate.podUpdatePolicy"},
		Becomes: "every update recreates pods, which InPlaceOnly forbids",
		Action:  "render with --driver client to update in place",
	},
	{
		ID: "statefulset/in-place-client", Kind: kruise.KindStatefulSet, When: byClient, Severity: Exact,
		Fields:  []string{"spec.updateStrategy.rollingUpdate.podUpdatePolicy"},
		Becomes: "kept in the strategy annotation: this tool updates in place by the same rules",
	},
	{
		ID: "statefulset/partition", Kind: kruise.KindStatefulSet, Severity: Exact,
		Fields:  []string{"spec.updateStrategy.rollingUpdate.partition"},
		Becomes: "the same number: the pods with the lowest ordinals stay at the old revision, as with Kruise",
	},
	{
		ID: "statefulset/partition-client", Kind: kruise.KindStatefulSet, When: byClient, Severity: Approximate,
		Fields:  []string{"spec.updateStrategy.rollingUpdate.partition"},
		Becomes: "kept in the strategy annotation: this tool stops there; but the native controller recreates lost pods from the new template, even if they had the old one",
		Action:  "do not leave a rollout incomplete for long",
	},
	{
		ID: "statefulset/max-unavailable", Kind: kruise.KindStatefulSet, Severity: Exact,
		Fields:  []string{"spec.updateStrategy.rollingUpdate.maxUnavailable"},
		Becomes: "the same value; both kinds default to 1, round percentages down, and take at least 1",
	},
	{
		ID: "statefulset/max-unavailable-older", Kind: kruise.KindStatefulSet, When: "--kubernetes-version below 1.37", Severity: Approximate,
		Fields:  []string{"spec.updateStrategy.rollingUpdate.maxUnavailable"},
		Becomes: "left out, since it is disabled by default in API servers (gate MaxUnavailableStatefulSet): pods are updated one at a time",
		Action:  "expect a slower rollout, or enable the gate and render for 1.37",
	},
	{
		ID: "statefulset/max-unavailable-client", Kind: kruise.KindStatefulSet, When: byClient, Severity: Exact,
		Fields:  []string{"spec.updateStrategy.rollingUpdate.maxUnavailable"},
		Becomes: "kept in the strategy annotation: this tool works within the same budget",
	},
	{
		ID: "statefulset/min-ready-seconds", Kind: kruise.KindStatefulSet, Severity: Exact,
		Fields:  []string{"spec.updateStrategy.rollingUpdate.minReadySeconds"},
		Becomes: "spec.minReadySeconds",
	},
	{
		ID: "statefulset/paused", Kind: kruise.KindStatefulSet, Severity: Approximate,
		Fields:  []string{"spec.updateStrategy.rollingUpdate.paused"},
		Becomes: "updateStrategy OnDelete: no pod is updated, and deleted pods are recreated from the new template",
		Action:  "render again without paused to continue",
	},
	{
		ID: "statefulset/paused-client", Kind: kruise.KindStatefulSet, When: byClient, Severity: Exact,
		Fields:  []string{"spec.updateStrategy.rollingUpdate.paused"},
		Becomes: "kept in the strategy annotation: while it is set, neither this tool nor the native parent updates pods",
	},
	{
		ID: "statefulset/unordered", Kind: kruise.KindStatefulSet, Severity: Lost,
		Fields:  []string{"spec.updateStrategy.rollingUpdate.unorderedUpdate"},
		Becomes: "a StatefulSet updates from the highest ordinal down, whatever the priorities",
		Action:  "render with --driver client to keep the order",
	},
	{
		ID: "statefulset/unordered-client", Kind: kruise.KindStatefulSet, When: byClient, Severity: Exact,
		Fields:  []string{"spec.updateStrategy.rollingUpdate.unorderedUpdate"},
		Becomes: "kept in the strategy annotation: this tool updates in the same order",
	},
	{
		ID: "statefulset/grace-period", Kind: kruise.KindStatefulSet, Severity: Approximate,
		Fields:  []string{"spec.updateStrategy.rollingUpdate.inPlaceUpdateStrategy.gracePeriodSeconds"},
		Becomes: "pods are recreated, so their own termination (preStop, terminationGracePeriodSeconds) replaces the grace period",
		Action:  "make sure that the containers terminate gracefully",
	},
	{
		ID: "statefulset/grace-period-client", Kind: kruise.KindStatefulSet, When: byClient, Severity: Exact,
		Fields:  []string{"spec.updateStrategy.rollingUpdate.inPlaceUpdateStrategy.gracePeriodSeconds"},
		Becomes: "kept in the strategy annotation: this tool waits for that time before it changes the image",
	},
	{
		ID: "statefulset/image-predownload", Kind: kruise.KindStatefulSet, Severity: Lost,
		Fields:  predownload,
		Becomes: "no image is pulled ahead of the rollout",
		Action:  "pull images ahead with a DaemonSet, or use --driver client",
	},
	{
		ID: "statefulset/image-predownload-client", Kind: kruise.KindStatefulSet, When: byClient, Severity: Approximate,
		Fields:  predownload,
		Becomes: "a plan pulls the images first, on all nodes of the pods, with its own limits",
		Action:  "set parallelism and time limit on the plan",
	},
}
