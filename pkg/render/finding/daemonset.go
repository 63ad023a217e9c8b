package finding

import (
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// What becomes of an Advanced DaemonSet (docs/kruise/workloads.md#advanced-daemonset).
var daemonSetRules = slices.Concat(workloadRules(kruise.KindDaemonSet, "daemonset"), []Rule{
	{
		ID: "daemonset/min-ready-seconds", Kind: kruise.KindDaemonSet, Severity: Exact,
		Fields:  []string{"spec.minReadySeconds"},
		Becomes: "the same field",
	},
	{
		ID: "daemonset/lifecycle", Kind: kruise.KindDaemonSet, Severity: Lost,
		Fields:  []string{"spec.lifecycle"},
		Becomes: "no preDelete hook is run: pods are deleted without waiting for labels or finalizers",
		Action:  "use a preStop hook or a finalizer on the pod; or --driver client",
	},
	{
		ID: "daemonset/lifecycle-client", Kind: kruise.KindDaemonSet, When: byClient, Severity: Approximate,
		Fields:  []string{"spec.lifecycle"},
		Becomes: "hooks are honored only for pods that this tool replaces, while it runs",
		Action:  "do not rely on hooks for evictions and nodes that leave",
	},
	{
		ID: "daemonset/burst", Kind: kruise.KindDaemonSet, Severity: Lost,
		Fields:  []string{"spec.burstReplicas"},
		Becomes: "a DaemonSet always creates and deletes up to 250 pods at a time",
		Action:  "no action needed in clusters with fewer nodes; otherwise add nodes in groups",
	},
	{
		ID: "daemonset/partitioned-scaling", Kind: kruise.KindDaemonSet, Severity: Lost,
		Fields:  []string{"spec.scaleStrategy.partitionedScaling"},
		Becomes: "every matching node gets a pod at once",
		Action:  "limit the nodes with a nodeSelector that you widen step by step",
	},
	{
		ID: "daemonset/type", Kind: kruise.KindDaemonSet, Severity: Exact,
		Fields:  []string{"spec.updateStrategy.type"},
		Becomes: "RollingUpdate and OnDelete stay; with the client driver it is OnDelete, so that only this tool replaces pods",
	},
	{
		ID: "daemonset/recreate", Kind: kruise.KindDaemonSet, Severity: Exact,
		Fields:  []string{"spec.updateStrategy.rollingUpdate.rollingUpdateType"},
		Becomes: "Standard is what a DaemonSet does; Surging is maxSurge",
	},
	{
		ID: "daemonset/in-place", Kind: kruise.KindDaemonSet, When: "InPlaceIfPossible", Severity: Approximate,
		Fields:  []string{"spec.updateStrategy.rollingUpdate.rollingUpdateType"},
		Becomes: "every update recreates pods",
		Action:  "render with --driver client to update in place",
	},
	{
		ID: "daemonset/in-place-client", Kind: kruise.KindDaemonSet, When: byClient, Severity: Exact,
		Fields:  []string{"spec.updateStrategy.rollingUpdate.rollingUpdateType"},
		Becomes: "kept in the strategy annotation: this tool updates in place by the same rules",
	},
	{
		ID: "daemonset/max-unavailable", Kind: kruise.KindDaemonSet, Severity: Exact,
		Fields:  []string{"spec.updateStrategy.rollingUpdate.maxUnavailable"},
		Becomes: "the same value; both kinds default to 1 and round percentages of the nodes up; broken pods of the old revision are replaced beyond this limit in both cases",
	},
	{
		ID: "daemonset/max-unavailable-client", Kind: kruise.KindDaemonSet, When: byClient, Severity: Exact,
		Fields:  []string{"spec.updateStrategy.rollingUpdate.maxUnavailable"},
		Becomes: "kept in the strategy annotation: this tool works within the same budget",
	},
	{
		ID: "daemonset/max-surge", Kind: kruise.KindDaemonSet, Severity: Exact,
		Fields:  []string{"spec.updateStrategy.rollingUpdate.maxSurge"},
		Becomes: "the same value, with maxUnavailable 0, as a DaemonSet requires",
	},
	{
		ID: "daemonset/max-surge-client", Kind: kruise.KindDaemonSet, When: byClient, Severity: Lost,
		Fields:  []string{"spec.updateStrategy.rollingUpdate.maxSurge"},
		Becomes: "the native parent cannot surge under OnDelete: a node is without its pod for a moment",
		Action:  "use the native driver if that matters",
	},
	{
		ID: "daemonset/partition", Kind: kruise.KindDaemonSet, Severity: Lost,
		Fields:  []string{"spec.updateStrategy.rollingUpdate.partition"},
		Becomes: "a DaemonSet has no partition: all pods are updated",
		Action:  "render with --driver client, or apply the new template only when all pods may have it",
	},
	{
		ID: "daemonset/partition-client", Kind: kruise.KindDaemonSet, When: byClient, Severity: Approximate,
		Fields:  []string{"spec.updateStrategy.rollingUpdate.partition"},
		Becomes: "kept in the strategy annotation: this tool stops there; lost pods are recreated from the new template, as with Kruise",
		Action:  "do not leave a rollout incomplete for long",
	},
	{
		ID: "daemonset/node-selector", Kind: kruise.KindDaemonSet, Severity: Lost,
		Fields:  []string{"spec.updateStrategy.rollingUpdate.selector"},
		Becomes: "a DaemonSet updates the pods of all nodes",
		Action:  "render with --driver client to update the chosen nodes only",
	},
	{
		ID: "daemonset/node-selector-client", Kind: kruise.KindDaemonSet, When: byClient, Severity: Exact,
		Fields:  []string{"spec.updateStrategy.rollingUpdate.selector"},
		Becomes: "kept in the strategy annotation: this tool updates the chosen nodes only",
	},
	{
		ID: "daemonset/paused", Kind: kruise.KindDaemonSet, Severity: Approximate,
		Fields:  []string{"spec.updateStrategy.rollingUpdate.paused"},
		Becomes: "updateStrategy OnDelete: no pod is updated, and deleted pods are recreated from the new template, as with Kruise",
		Action:  "render again without paused to continue",
	},
	{
		ID: "daemonset/paused-client", Kind: kruise.KindDaemonSet, When: byClient, Severity: Exact,
		Fields:  []string{"spec.updateStrategy.rollingUpdate.paused"},
		Becomes: "kept in the strategy annotation: while it is set, neither this tool nor the native parent updates pods",
	},
})
