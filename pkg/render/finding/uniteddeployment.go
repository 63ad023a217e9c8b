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
		Becomes: "divided among the subsets as by Kruise, once; there is no scale subresource for all subsets, and a workload that is scaled manually stays at that size",
		Action:  "change spec.replicas and render again",
	},
	{
		ID: "uniteddeployment/remainder", Kind: kruise.KindUnitedDeployment, When: "the workloads are not known", Severity: Approximate,
		Fields:  []string{"spec.replicas", subsets + "[].replicas"},
		Becomes: "the remainder goes to the last subsets by name, as for a new object; Kruise leaves it where most pods are now",
		Action:  "give the current workloads (--with or --live), or set replicas in the subsets",
	},
	{
		ID: "uniteddeployment/selector", Kind: kruise.KindUnitedDeployment, Severity: Exact,
		Fields:  []string{"spec.selector"},
		Becomes: "the selector of every workload, narrowed by the label apps.kruise.io/subset-name; Services and budgets select the same pods",
	},
	{
		ID: "uniteddeployment/revision-history-limit", Kind: kruise.KindUnitedDeployment, Severity: Approximate,
		Fields:  []string{"spec.revisionHistoryLimit"},
		Becomes: "no common revisions are stored: each workload has its own, limited in its template",
		Action:  "set revisionHistoryLimit in the workload template, and roll back through version control",
	},
	{
		ID: "uniteddeployment/revision-label", Kind: kruise.KindUnitedDeployment, Severity: Approximate,
		Fields:  []string{"spec.template"},
		Becomes: "the label apps.kruise.io/controller-revision-hash is not written: a change outside of the pod template no longer restarts every pod",
		Action:  "restart pods with kubectl rollout restart if needed",
	},
	{
		ID: "uniteddeployment/statefulset-template", Kind: kruise.KindUnitedDeployment, Severity: Approximate,
		Fields:  []string{"spec.template.statefulSetTemplate"},
		Becomes: "a StatefulSet for each subset, with imagePullPolicy Always where Kruise's webhook sets it; pods of the old revision that are not ready are not deleted, as Kruise does to get past a broken revision",
		Action:  "delete such pods manually when a rollout is blocked",
	},
	{
		ID: "uniteddeployment/advanced-statefulset-template", Kind: kruise.KindUnitedDeployment, Severity: Approximate,
		Fields:  []string{"spec.template.advancedStatefulSetTemplate"},
		Becomes: "a Kruise StatefulSet for each subset; pods of the old revision that are not ready are not deleted, as the UnitedDeployment does to get past a broken revision",
		Action:  "delete such pods manually when a rollout is blocked",
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
		Becomes: "the label is dropped: labels of the UnitedDeployment are not copied to the workloads",
		Action:  "set the label in the metadata of the workload template, and enforce it by a ValidatingAdmissionPolicy",
	},
}

// What becomes of the subsets.
var unitedDeploymentSubsetRules = []Rule{
	{
		ID: "uniteddeployment/subset", Kind: kruise.KindUnitedDeployment, Severity: Exact,
		Fields:  []string{subsets + "[].name"},
		Becomes: "the workload NAME-SUBSET, whereas Kruise adds a random suffix; the label apps.kruise.io/subset-name is the same",
	},
	{
		ID: "uniteddeployment/name-shortened", Kind: kruise.KindUnitedDeployment, Severity: Approximate,
		Fields:  []string{subsets + "[].name"},
		Becomes: "the name of the workload ends in a hash: NAME-SUBSET is too long for the names of its pods, or contains dots, which pods of a StatefulSet cannot have",
		Action:  "use a shorter name, or refer to the rendered name in other objects",
	},
	{
		ID: "uniteddeployment/subset-removed", Kind: kruise.KindUnitedDeployment, Severity: Approximate,
		Fields:  []string{subsets},
		Becomes: "the workload of a removed subset is not deleted",
		Action:  "prune by the label kubectl-kruise.dev/source, or delete the workload",
	},
	{
		ID: "uniteddeployment/subset-replicas", Kind: kruise.KindUnitedDeployment, Severity: Exact,
		Fields:  []string{subsets + "[].replicas", subsets + "[].minReplicas", subsets + "[].maxReplicas"},
		Becomes: "the replicas of the workload, calculated as by Kruise",
	},
	{
		ID: "uniteddeployment/node-selector-term", Kind: kruise.KindUnitedDeployment, Severity: Exact,
		Fields:  []string{subsets + "[].nodeSelectorTerm"},
		Becomes: "appended to every required node affinity term of the pod template",
	},
	{
		ID: "uniteddeployment/match-fields", Kind: kruise.KindUnitedDeployment, Severity: Approximate,
		Fields:  []string{subsets + "[].nodeSelectorTerm.matchFields"},
		Becomes: "ignored, as by Kruise, which does not use matchFields of a subset",
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
		Becomes: "merged into the pod template last, as a strategic merge patch; the patch is stored in the annotation apps.kruise.io/subset-patch",
	},
}

const schedule = "spec.topology.scheduleStrategy"

// What becomes of how a UnitedDeployment updates and reschedules.
var unitedDeploymentScheduleRules = []Rule{
	{
		ID: "uniteddeployment/update-strategy", Kind: kruise.KindUnitedDeployment, Severity: Exact,
		Fields:  []string{"spec.updateStrategy.type"},
		Becomes: "not needed: Manual is the only type, and all subsets get a new template at once",
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
		Becomes: "ignored, as by Kruise, which does not use partitions of Deployments",
		Action:  "use another kind of template, or remove the partition",
	},
	{
		ID: "uniteddeployment/partition-on-delete", Kind: kruise.KindUnitedDeployment, When: "the template's updateStrategy is OnDelete", Severity: Approximate,
		Fields:  []string{"spec.updateStrategy.manualUpdate.partitions"},
		Becomes: "ignored, as by Kruise, which sets no partition with OnDelete",
		Action:  "use RollingUpdate, or remove the partition",
	},
	{
		ID: "uniteddeployment/schedule-strategy", Kind: kruise.KindUnitedDeployment, When: "scheduleStrategy.type Fixed", Severity: Exact,
		Fields:  []string{schedule + ".type"},
		Becomes: "not needed: the replicas are divided once in any case",
	},
	{
		ID: "uniteddeployment/adaptive", Kind: kruise.KindUnitedDeployment, When: adaptively, Severity: Lost,
		Fields:  []string{schedule + ".type"},
		Becomes: "replicas are divided once: no controller moves unschedulable pods to another subset",
		Action:  "render again with --live when a subset is full, or use one workload with preferred node affinity and topologySpreadConstraints with ScheduleAnyway",
	},
	{
		ID: "uniteddeployment/adaptive-known", Kind: kruise.KindUnitedDeployment, When: adaptively, Severity: Approximate,
		Fields:  []string{schedule},
		Becomes: "subsets whose last known state is unschedulable get no more replicas than are ready there, however old that state is",
		Action:  "render again with the current state",
	},
	{
		ID: "uniteddeployment/adaptive-unknown", Kind: kruise.KindUnitedDeployment, When: adaptively + ", the workloads are not known", Severity: Approximate,
		Fields:  []string{schedule},
		Becomes: "all subsets count as schedulable and new",
		Action:  "give the current workloads and the UnitedDeployment with its status (--with or --live)",
	},
	{
		ID: "uniteddeployment/adaptive-times", Kind: kruise.KindUnitedDeployment, Severity: Lost,
		Fields:  []string{schedule + ".adaptive.rescheduleCriticalSeconds", schedule + ".adaptive.unschedulableDuration"},
		Becomes: "neither pending pods nor the time for which a subset is unschedulable are watched",
		Action:  "render again with --live when a subset is full",
	},
	{
		ID: "uniteddeployment/reserve", Kind: kruise.KindUnitedDeployment, When: adaptively, Severity: Lost,
		Fields:  []string{schedule + ".adaptive.reserveUnschedulablePods"},
		Becomes: "pods that are reserved now are replaced in other subsets, once: no controller marks pods as reserved, removes the replacements when they recover, or raises maxUnavailable in the meantime",
		Action:  "render again with --live when a subset is full or has recovered",
	},
}
