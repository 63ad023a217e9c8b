package finding

import "github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"

// What becomes of the fields of a SidecarSet that say when: revisions and
// updates (docs/kruise/sidecarset.md#which-pods-match and
// docs/kruise/sidecarset.md#updating-injected-pods).
var _ = register(
	Rule{
		ID: "sidecarset/paused", Kind: kruise.KindSidecarSet, Severity: Exact,
		Fields:  []string{"spec.injectionStrategy.paused"},
		Becomes: "nothing is injected",
	},
	Rule{
		ID: "sidecarset/revision", Kind: kruise.KindSidecarSet, Severity: Exact,
		Fields:  []string{"spec.injectionStrategy.revision"},
		Becomes: "the stored revision is injected, from its ControllerRevision",
	},
	Rule{
		ID: "sidecarset/revision-unknown", Kind: kruise.KindSidecarSet, Severity: Approximate,
		Fields:  []string{"spec.injectionStrategy.revision.revisionName", "spec.injectionStrategy.revision.customVersion"},
		Becomes: "Kruise refuses the set unless the revision is stored; the stored revisions are not known here",
		Action:  "add the ControllerRevision of namespace kruise-system by --with or --live",
	},
	Rule{
		ID: "sidecarset/partial", Kind: kruise.KindSidecarSet, Severity: Approximate,
		Fields:  []string{"spec.injectionStrategy.revision.policy"},
		Becomes: "Kruise chooses between two revisions at random for each pod; here each template gets one of them, by lot drawn from its name, for all its pods",
		Action:  "use two sets, or a percentage of 0 or 100, for a result that you choose",
	},
	Rule{
		ID: "sidecarset/custom-version", Kind: kruise.KindSidecarSet, Severity: Approximate,
		Fields:  []string{"spec.customVersion"},
		Becomes: "names stored revisions, which do not exist without Kruise",
		Action:  "tag the commit that holds the set",
	},
	Rule{
		ID: "sidecarset/history", Kind: kruise.KindSidecarSet, Severity: Approximate,
		Fields:  []string{"spec.revisionHistoryLimit"},
		Becomes: "no revisions are stored; the history of the rendered files takes their place",
		Action:  "nothing",
	},
	Rule{
		ID: "sidecarset/update", Kind: kruise.KindSidecarSet, Severity: Approximate,
		Fields:  []string{"spec.updateStrategy.type"},
		Becomes: "sidecars are part of the pod templates: whether RollingUpdate or NotUpdate, a change of the set changes the workloads, which replace their pods by their own strategy",
		Action:  "render again when workloads may roll",
	},
	Rule{
		ID: "sidecarset/update-paused", Kind: kruise.KindSidecarSet, Severity: Lost,
		Fields:  []string{"spec.updateStrategy.paused"},
		Becomes: "does not hold back the workloads, whose templates change at once",
		Action:  "pause the workloads, or keep the set as it was until the update may go on",
	},
	Rule{
		ID: "sidecarset/update-partition", Kind: kruise.KindSidecarSet, Severity: Lost,
		Fields:  []string{"spec.updateStrategy.partition"},
		Becomes: "all pods get the new sidecars, in the order and at the pace of their workloads",
		Action:  "use the partition of the workloads, or a canary set with its own selector",
	},
	Rule{
		ID: "sidecarset/update-unavailable", Kind: kruise.KindSidecarSet, Severity: Lost,
		Fields:  []string{"spec.updateStrategy.maxUnavailable"},
		Becomes: "each workload keeps to its own budget; there is no common limit",
		Action:  "use the strategy of the workloads or a PodDisruptionBudget",
	},
	Rule{
		ID: "sidecarset/update-selector", Kind: kruise.KindSidecarSet, Severity: Lost,
		Fields:  []string{"spec.updateStrategy.selector"},
		Becomes: "pods that it does not match get the new sidecars too",
		Action:  "use a canary set with its own selector",
	},
	Rule{
		ID: "sidecarset/update-order", Kind: kruise.KindSidecarSet, Severity: Lost,
		Fields:  []string{"spec.updateStrategy.priorityStrategy", "spec.updateStrategy.scatterStrategy"},
		Becomes: "pods are replaced in the order of their workloads",
		Action:  "nothing native does this",
	},
)
