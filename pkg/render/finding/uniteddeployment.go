package finding

import "github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"

// The subsets' kinds and schedules, as the catalogue names them.
const (
	ofDeployments = "deploymentTemplate"
	adaptively    = "scheduleStrategy.type Adaptive"
)

const subsets = "spec.topology.subsets"

// What becomes of the fields of a UnitedDeployment (docs/kruise/distribution.md#uniteddeployment
// and docs/kruise/distribution.md#what-native-kubernetes-can-express).
var unitedDeploymentRules = []Rule{
	{
		ID: "uniteddeployment/replicas", Kind: kruise.KindUnitedDeployment, Severity: Approximate,
		Fields:  []string{"spec.replicas"},
		Becomes: "shared out over the subsets with Kruise's arithmetic, once; there is no scale subresource over all subsets, and a workload that is scaled by hand stays so",
		Action:  "change spec.replicas and render again",
	},
	{
		ID: "uniteddeployment/remainder", Kind: kruise.KindUnitedDeployment, When: "nothing is known of the workloads", Severity: Approximate,
		Fields:  []string{"spec.replicas", subsets + "[].replicas"},
		Becomes: "what does not divide evenly goes to the last subsets by name, as for a new object; Kruise leaves it where most pods are now",
		Action:  "give the present workloads (--with or --live), or replicas in the subsets",
	},
	{
		ID: "uniteddeployment/selector", Kind: kruise.KindUnitedDeployment, Severity: Exact,
		Fields:  []string{"spec.selector"},
		Becomes: "the selector of every workload, narrowed by the label apps.kruise.io/subset-name; Services and budgets select the same pods",
	},
	{
		ID: "uniteddeployment/revision-history-limit", Kind: kruise.KindUnitedDeployment, Severity: Approximate,
		Fields:  []string{"spec.revisionHistoryLimit"},
		Becomes: "no revisions over all subsets are kept: each workload has its own, limited in its template",
		Action:  "set revisionHistoryLimit in the workload template, and roll back through version control",
	},
	{
		ID: "uniteddeployment/revision-label", Kind: kruise.KindUnitedDeployment, Severity: Approximate,
		Fields:  []string{"spec.template"},
		Becomes: "the label apps.kruise.io/controller-revision-hash is not written: a change outside of the pod template no longer restarts every pod",
		Action:  "restart pods with kubectl rollout restart where that is wanted",
	},
	{
		ID: "uniteddeployment/statefulset-template", Kind: kruise.KindUnitedDeployment, Severity: Approximate,
		Fields:  []string{"spec.template.statefulSetTemplate"},
		Becomes: "a StatefulSet for each subset, with imagePullPolicy Always where Kruise's webhook writes it; nothing deletes old pods that are not ready, as Kruise does to get past a broken revision",
		Action:  "delete such pods by hand when a rollout is stuck",
	},
	{
		ID: "uniteddeployment/advanced-statefulset-template", Kind: kruise.KindUnitedDeployment, Severity: Approximate,
		Fields:  []string{"spec.template.advancedStatefulSetTemplate"},
		Becomes: "a Kruise StatefulSet for each subset; nothing deletes old pods that are not ready, as the UnitedDeployment does to get past a broken revision",
		Action:  "delete such pods by hand when a rollout is stuck",
	},
	{
		ID: "uniteddeployment/cloneset-template", Kind: kruise.KindUnitedDeployment, Severity: Exact,
		Fields:  []string{"spec.template.cloneSetTemplate"},
		Becomes: "a CloneSet for each subset, or what a CloneSet becomes",
	},
	{
		ID: "uniteddeployment/deployment-template", Kind: kruise.KindUnitedDeployment, Severity: Exact,
		Fields:  []string{"spec.template.deploymentTemplate"},
		Becomes: "a Deployment for each subset",
	},
	{
		ID: "uniteddeployment/delete-protection", Kind: kruise.KindUnitedDeployment, Severity: Lost,
		Fields:  []string{"metadata.labels[policy.kruise.io/delete-protection]"},
		Becomes: "the label stays with no object: labels of the UnitedDeployment do not go to the workloads",
		Action:  "put the label into the metadata of the workload template, and guard it with a ValidatingAdmissionPolicy",
	},
}

// What becomes of the subsets.
var unitedDeploymentSubsetRules = []Rule{
	{
		ID: "uniteddeployment/subset", Kind: kruise.KindUnitedDeployment, Severity: Exact,
		Fields:  []string{subsets + "[].name"},
		Becomes: "the workload NAME-SUBSET, where Kruise adds a random suffix; the label apps.kruise.io/subset-name is the same",
	},
	{
		ID: "uniteddeployment/name-shortened", Kind: kruise.KindUnitedDeployment, Severity: Approximate,
		Fields:  []string{subsets + "[].name"},
		Becomes: "the name of the workload ends in a hash: NAME-SUBSET is too long for its pods to come into being, or holds dots that a StatefulSet's pods cannot have",
		Action:  "use a shorter name, or name in other objects what is rendered",
	},
	{
		ID: "uniteddeployment/subset-removed", Kind: kruise.KindUnitedDeployment, Severity: Approximate,
		Fields:  []string{subsets},
		Becomes: "nothing deletes the workload of a subset that is not declared any more",
		Action:  "prune by the label kubectl-kruise.dev/source, or delete the workload",
	},
	{
		ID: "uniteddeployment/subset-replicas", Kind: kruise.KindUnitedDeployment, Severity: Exact,
		Fields:  []string{subsets + "[].replicas", subsets + "[].minReplicas", subsets + "[].maxReplicas"},
		Becomes: "the replicas of the workload, by Kruise's arithmetic",
	},
	{
		ID: "uniteddeployment/node-selector-term", Kind: kruise.KindUnitedDeployment, Severity: Exact,
		Fields:  []string{subsets + "[].nodeSelectorTerm"},
		Becomes: "appended to every required node affinity term of the pod template",
	},
	{
		ID: "uniteddeployment/match-fields", Kind: kruise.KindUnitedDeployment, Severity: Approximate,
		Fields:  []string{subsets + "[].nodeSelectorTerm.matchFields"},
		Becomes: "nothing: Kruise ignores matchFields of a subset, and so does what is rendered",
		Action:  "use matchExpressions, or put the whole affinity into the subset's patch",
	},
	{
		ID: "uniteddeployment/tolerations", Kind: kruise.KindUnitedDeployment, Severity: Exact,
		Fields:  []string{subsets + "[].tolerations"},
		Becomes: "appended to the tolerations of the pod template",
	},
	{
		ID: "uniteddeployment/patch", Kind: kruise.KindUnitedDeployment, Severity: Exact,
		Fields:  []string{subsets + "[].patch"},
		Becomes: "merged into the pod template last, as a strategic merge patch; what it says is kept in the annotation apps.kruise.io/subset-patch",
	},
}

const schedule = "spec.topology.scheduleStrategy"

// What becomes of how a UnitedDeployment updates and reschedules.
var unitedDeploymentScheduleRules = []Rule{
	{
		ID: "uniteddeployment/update-strategy", Kind: kruise.KindUnitedDeployment, Severity: Exact,
		Fields:  []string{"spec.updateStrategy.type"},
		Becomes: "nothing: Manual is the only type, and all subsets get a new template at once",
	},
	{
		ID: "uniteddeployment/partitions", Kind: kruise.KindUnitedDeployment, Severity: Exact,
		Fields:  []string{"spec.updateStrategy.manualUpdate.partitions"},
		Becomes: "updateStrategy.rollingUpdate.partition of the subset's workload",
	},
	{
		ID: "uniteddeployment/partition-clamped", Kind: kruise.KindUnitedDeployment, Severity: Exact,
		Fields:  []string{"spec.updateStrategy.manualUpdate.partitions"},
		Becomes: "at most the replicas of the subset",
	},
	{
		ID: "uniteddeployment/partition-deployment", Kind: kruise.KindUnitedDeployment, When: ofDeployments, Severity: Approximate,
		Fields:  []string{"spec.updateStrategy.manualUpdate.partitions"},
		Becomes: "nothing: Kruise ignores partitions of Deployments, and so does what is rendered",
		Action:  "use another kind of template, or remove the partition",
	},
	{
		ID: "uniteddeployment/partition-on-delete", Kind: kruise.KindUnitedDeployment, When: "the template's updateStrategy is OnDelete", Severity: Approximate,
		Fields:  []string{"spec.updateStrategy.manualUpdate.partitions"},
		Becomes: "nothing: Kruise writes no partition beside OnDelete, and neither does what is rendered",
		Action:  "use RollingUpdate, or remove the partition",
	},
	{
		ID: "uniteddeployment/schedule-strategy", Kind: kruise.KindUnitedDeployment, When: "scheduleStrategy.type Fixed", Severity: Exact,
		Fields:  []string{schedule + ".type"},
		Becomes: "nothing more: the replicas are shared out once anyway",
	},
	{
		ID: "uniteddeployment/adaptive", Kind: kruise.KindUnitedDeployment, When: adaptively, Severity: Lost,
		Fields:  []string{schedule + ".type"},
		Becomes: "replicas are shared out once: no controller moves pods that find no node to another subset",
		Action:  "render again with --live when a subset is full, or use one workload with preferred node affinity and topologySpreadConstraints with ScheduleAnyway",
	},
	{
		ID: "uniteddeployment/adaptive-known", Kind: kruise.KindUnitedDeployment, When: adaptively, Severity: Approximate,
		Fields:  []string{schedule},
		Becomes: "subsets that were last seen as unschedulable get no more than what is ready there, however long ago that was",
		Action:  "render again with fresh facts",
	},
	{
		ID: "uniteddeployment/adaptive-unknown", Kind: kruise.KindUnitedDeployment, When: adaptively + ", nothing is known of the workloads", Severity: Approximate,
		Fields:  []string{schedule},
		Becomes: "all subsets count as schedulable and new",
		Action:  "give the present workloads and the UnitedDeployment with its status (--with or --live)",
	},
	{
		ID: "uniteddeployment/adaptive-times", Kind: kruise.KindUnitedDeployment, Severity: Lost,
		Fields:  []string{schedule + ".adaptive.rescheduleCriticalSeconds", schedule + ".adaptive.unschedulableDuration"},
		Becomes: "pending pods are not watched, or how long a subset has been unschedulable",
		Action:  "render again with --live when a subset is full",
	},
	{
		ID: "uniteddeployment/reserve", Kind: kruise.KindUnitedDeployment, When: adaptively, Severity: Lost,
		Fields:  []string{schedule + ".adaptive.reserveUnschedulablePods"},
		Becomes: "pods that are reserved now are replaced in other subsets, once: no controller marks pods as reserved, removes the replacements when they recover, or raises maxUnavailable meanwhile",
		Action:  "render again with --live when a subset is full or has recovered",
	},
}
