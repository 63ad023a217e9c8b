package finding

import "github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"

// The subsets of a WorkloadSpread, and the cases that its rules distinguish.
const (
	spreadSubsets = "spec.subsets"
	spreadTarget  = "spec.targetRef"
	whenSplit     = "--spread-as split"
	whenWhole     = "--spread-as constraints"
)

// What becomes of the target of a WorkloadSpread (docs/kruise/distribution.md#workloadspread and
// docs/kruise/distribution.md#what-native-kubernetes-can-express).
var workloadSpreadRules = []Rule{
	{
		ID: "workloadspread/split", Kind: kruise.KindWorkloadSpread, When: whenSplit, Severity: Approximate,
		Fields:  []string{spreadTarget},
		Becomes: "a workload for each subset, NAME-SUBSET, instead of the target; replicas are divided as Kruise places new pods, once: they are not moved between subsets when one is scaled manually or by an autoscaler",
		Action:  "change the target's replicas and render again; if the cluster has the target, delete it when the new workloads are ready",
	},
	{
		ID: "workloadspread/single", Kind: kruise.KindWorkloadSpread, When: "the only subset has no maxReplicas", Severity: Exact,
		Fields:  []string{spreadSubsets + "[].name"},
		Becomes: "the target itself: its template has the settings of the subset",
	},
	{
		ID: "workloadspread/target-missing", Kind: kruise.KindWorkloadSpread, Severity: Lost,
		Fields:  []string{spreadTarget},
		Becomes: "the WorkloadSpread stays a Kruise object, since its target is not in the input: it needs Kruise in the cluster",
		Action:  "render it together with its target",
	},
	{
		ID: "workloadspread/target-taken", Kind: kruise.KindWorkloadSpread, Severity: Lost,
		Fields:  []string{spreadTarget},
		Becomes: "the WorkloadSpread stays a Kruise object: another one has the same target",
		Action:  "remove one of the two",
	},
	{
		ID: "workloadspread/target-made", Kind: kruise.KindWorkloadSpread, Severity: Approximate,
		Fields:  []string{spreadTarget},
		Becomes: "the subset of a UnitedDeployment is split again; with Kruise, its workload has a random name, which a WorkloadSpread cannot refer to",
		Action:  "give the UnitedDeployment a subset for each zone",
	},
	{
		ID: "workloadspread/name-shortened", Kind: kruise.KindWorkloadSpread, When: whenSplit, Severity: Approximate,
		Fields:  []string{spreadTarget},
		Becomes: "the name of the workload ends in a hash: NAME-SUBSET is too long for the names of its pods, or contains dots, which they cannot have",
		Action:  "use a shorter name, or refer to the rendered name in other objects",
	},
	{
		ID: "workloadspread/rolling-limits", Kind: kruise.KindWorkloadSpread, When: whenSplit, Severity: Approximate,
		Fields:  []string{spreadTarget},
		Becomes: "maxUnavailable and maxSurge apply to each workload: more pods may be unavailable at once than for the target, and a percentage is of the replicas of the workload",
		Action:  "roll the workloads out one after the other, or protect all pods with a PodDisruptionBudget",
	},
	{
		ID: "workloadspread/partition", Kind: kruise.KindWorkloadSpread, When: whenSplit, Severity: Approximate,
		Fields:  []string{spreadTarget},
		Becomes: "the same number of pods stays at the old revision, those of the first subsets; a percentage is of each workload",
		Action:  "check the partition of each workload",
	},
	{
		ID: "workloadspread/pods-to-delete", Kind: kruise.KindWorkloadSpread, When: whenSplit, Severity: Lost,
		Fields:  []string{spreadTarget},
		Becomes: "scaleStrategy.podsToDelete is left out: it names pods of the target",
		Action:  "delete these pods with the target",
	},
	{
		ID: "workloadspread/ordinals", Kind: kruise.KindWorkloadSpread, When: "the target is a StatefulSet, " + whenSplit, Severity: Lost,
		Fields:  []string{spreadTarget},
		Becomes: "ordinals stay in the subsets where Kruise has them, but pods are named NAME-SUBSET-ORDINAL: their DNS names and volume claims are not those of the target",
		Action:  "move the data, or render with --spread-as constraints, which does not split the StatefulSet",
	},
	{
		ID: "workloadspread/ordered", Kind: kruise.KindWorkloadSpread, When: "the target is a StatefulSet with OrderedReady, " + whenSplit, Severity: Approximate,
		Fields:  []string{spreadTarget},
		Becomes: "pods start in order inside each workload only",
		Action:  "apply the workloads one after the other if the order matters",
	},
	{
		ID: "workloadspread/job", Kind: kruise.KindWorkloadSpread, When: "the target is a Job, " + whenSplit, Severity: Approximate,
		Fields:  []string{spreadTarget},
		Becomes: "a Job for each subset that gets pods; parallelism and completions are divided, each has the whole backoffLimit, and a Job that is done first does not help the others",
		Action:  "wait for all of them",
	},
	{
		ID: "workloadspread/replicas-live", Kind: kruise.KindWorkloadSpread, When: "an autoscaler owns the replicas", Severity: Exact,
		Fields:  []string{spreadSubsets + "[].maxReplicas"},
		Becomes: "the current replicas of the target are divided",
	},
	{
		ID: "workloadspread/replicas-unknown", Kind: kruise.KindWorkloadSpread, When: "an autoscaler owns the replicas", Severity: Approximate,
		Fields:  []string{spreadSubsets + "[].maxReplicas"},
		Becomes: "the number of replicas is not in the input: the autoscaler's minimum is distributed and written",
		Action:  "give the live target (--with or --live), or spec.replicas",
	},
	{
		ID: "workloadspread/filter-selector", Kind: kruise.KindWorkloadSpread, Severity: Exact,
		Fields:  []string{"spec.targetFilter.selector"},
		Becomes: "not needed: the pods of the target have the labels",
	},
	{
		ID: "workloadspread/filter-none", Kind: kruise.KindWorkloadSpread, Severity: Approximate,
		Fields:  []string{"spec.targetFilter"},
		Becomes: "the target stays as it is: with this filter, Kruise assigns none of its pods to a subset",
		Action:  "give the filter a selector that matches the pods, or remove it",
	},
	{
		ID: "workloadspread/replicas-path", Kind: kruise.KindWorkloadSpread, Severity: Exact,
		Fields:  []string{"spec.targetFilter.replicasPathList"},
		Becomes: "the number that percentages of maxReplicas refer to",
	},
}

// What becomes of the subsets of a WorkloadSpread.
var workloadSpreadSubsetRules = []Rule{
	{
		ID: "workloadspread/subset", Kind: kruise.KindWorkloadSpread, Severity: Exact,
		Fields:  []string{spreadSubsets + "[].name"},
		Becomes: "pods have the annotation apps.kruise.io/matched-workloadspread that Kruise's webhook writes, without uid",
	},
	{
		ID: "workloadspread/max-replicas", Kind: kruise.KindWorkloadSpread, When: whenSplit, Severity: Exact,
		Fields:  []string{spreadSubsets + "[].maxReplicas"},
		Becomes: "the replicas of the workload, filled in the order of the subsets; a percentage is rounded up",
	},
	{
		ID: "workloadspread/percent-cloneset", Kind: kruise.KindWorkloadSpread, When: "the target is a CloneSet named as v1beta1, " + whenSplit, Severity: Approximate,
		Fields:  []string{spreadSubsets + "[].maxReplicas"},
		Becomes: "the percentage is of the replicas of the target from the first pod on; Kruise takes percentages of 0 until the status has counts, so that new pods may not be placed",
		Action:  "refer to the target as v1alpha1 in clusters with Kruise",
	},
	{
		ID: "workloadspread/rest", Kind: kruise.KindWorkloadSpread, When: whenSplit, Severity: Approximate,
		Fields:  []string{spreadSubsets + "[].maxReplicas"},
		Becomes: "pods for which no subset has room are in the workload NAME-rest, which has the template of the target; Kruise may count them in a subset later, by the node that they run on",
		Action:  "leave maxReplicas out of the last subset",
	},
	{
		ID: "workloadspread/required-node-selector", Kind: kruise.KindWorkloadSpread, When: whenSplit, Severity: Exact,
		Fields:  []string{spreadSubsets + "[].requiredNodeSelector"},
		Becomes: "appended to every required node affinity term of the pod template",
	},
	{
		ID: "workloadspread/preferred-node-selector", Kind: kruise.KindWorkloadSpread, When: whenSplit, Severity: Exact,
		Fields:  []string{spreadSubsets + "[].preferredNodeSelector"},
		Becomes: "appended to the preferred node affinity of the pod template",
	},
	{
		ID: "workloadspread/tolerations", Kind: kruise.KindWorkloadSpread, When: whenSplit, Severity: Exact,
		Fields:  []string{spreadSubsets + "[].tolerations"},
		Becomes: "appended to the tolerations of the pod template",
	},
	{
		ID: "workloadspread/patch", Kind: kruise.KindWorkloadSpread, Severity: Exact,
		Fields:  []string{spreadSubsets + "[].patch"},
		Becomes: "merged into the pod template last, as a strategic merge patch",
	},
	{
		ID: "workloadspread/deletion-cost", Kind: kruise.KindWorkloadSpread, When: "the target is a CloneSet or Deployment, " + whenSplit, Severity: Approximate,
		Fields:  []string{spreadSubsets},
		Becomes: "pods have the deletion cost of their subset from the start, whereas Kruise sets it later; it has no effect within one workload, and it is not inverted for old pods in a rollout",
		Action:  "scale in by rendering again: the last subsets shrink first",
	},
	{
		ID: "workloadspread/deletion-cost-replicaset", Kind: kruise.KindWorkloadSpread, When: "the target is a ReplicaSet, " + whenSplit, Severity: Approximate,
		Fields:  []string{spreadSubsets},
		Becomes: "the last subsets shrink first; with Kruise, the costs of pods of a ReplicaSet without the label pod-template-hash are inverted, and the first subset is emptied first",
		Action:  "use a Deployment",
	},
	{
		ID: "workloadspread/fixed", Kind: kruise.KindWorkloadSpread, When: "scheduleStrategy.type Fixed", Severity: Exact,
		Fields:  []string{"spec.scheduleStrategy.type"},
		Becomes: "not needed: pods wait for nodes of their subset",
	},
	{
		ID: "workloadspread/adaptive", Kind: kruise.KindWorkloadSpread, When: "scheduleStrategy.type Adaptive", Severity: Lost,
		Fields:  []string{"spec.scheduleStrategy.type", "spec.scheduleStrategy.adaptive.disableSimulationSchedule"},
		Becomes: "unschedulable pods are not deleted, so they do not move to another subset",
		Action:  "render again with --live when a subset is full, or with --spread-as constraints",
	},
	{
		ID: "workloadspread/adaptive-known", Kind: kruise.KindWorkloadSpread, When: "scheduleStrategy.type Adaptive", Severity: Approximate,
		Fields:  []string{"spec.scheduleStrategy.type"},
		Becomes: "subsets whose last known state is unschedulable keep their pods and get no more, however old that state is",
		Action:  "render again with the current state",
	},
	{
		ID: "workloadspread/adaptive-times", Kind: kruise.KindWorkloadSpread, When: "scheduleStrategy.type Adaptive", Severity: Lost,
		Fields:  []string{"spec.scheduleStrategy.adaptive.rescheduleCriticalSeconds"},
		Becomes: "pending pods are not watched",
		Action:  "render again with --live when a subset is full",
	},
}

// What becomes of the subsets where the target stays one workload.
var workloadSpreadPolicyRules = []Rule{
	{
		ID: "workloadspread/constraints", Kind: kruise.KindWorkloadSpread, When: whenWhole, Severity: Approximate,
		Fields:  []string{spreadTarget},
		Becomes: "the target stays one workload whose pods prefer the subsets in their order; the scheduler chooses the subset of each pod, and deletion costs are not set",
		Action:  "render with --spread-as split if the numbers matter",
	},
	{
		ID: "workloadspread/constraints-subset", Kind: kruise.KindWorkloadSpread, When: whenWhole, Severity: Exact,
		Fields:  []string{spreadSubsets + "[].name"},
		Becomes: "not rendered: pods have no mark of their subset; it follows from their nodes",
	},
	{
		ID: "workloadspread/constraints-limits", Kind: kruise.KindWorkloadSpread, When: whenWhole, Severity: Lost,
		Fields:  []string{spreadSubsets + "[].maxReplicas"},
		Becomes: "not rendered: a subset may get more pods or fewer; only maxReplicas 0 has an effect",
		Action:  "render with --spread-as split",
	},
	{
		ID: "workloadspread/constraints-skew", Kind: kruise.KindWorkloadSpread, When: whenWhole, Severity: Approximate,
		Fields:  []string{spreadSubsets + "[].maxReplicas"},
		Becomes: "a topology spread constraint with ScheduleAnyway over the label that tells the subsets apart; maxSkew is the largest difference between their shares",
		Action:  "write your own constraint for this label in the template of the target",
	},
	{
		ID: "workloadspread/constraints-required", Kind: kruise.KindWorkloadSpread, When: whenWhole, Severity: Approximate,
		Fields:  []string{spreadSubsets + "[].requiredNodeSelector"},
		Becomes: "a term of the required node affinity, if all subsets have one, and a preference whose weight decreases from subset to subset",
		Action:  "render with --spread-as split if pods must be in their subset",
	},
	{
		ID: "workloadspread/constraints-preferred", Kind: kruise.KindWorkloadSpread, When: whenWhole, Severity: Approximate,
		Fields:  []string{spreadSubsets + "[].preferredNodeSelector"},
		Becomes: "preferences of all pods",
		Action:  "render with --spread-as split if they are only for one subset",
	},
	{
		ID: "workloadspread/constraints-tolerations", Kind: kruise.KindWorkloadSpread, When: whenWhole, Severity: Approximate,
		Fields:  []string{spreadSubsets + "[].tolerations"},
		Becomes: "tolerations of all pods",
		Action:  "render with --spread-as split if they are only for one subset",
	},
	{
		ID: "workloadspread/constraints-patch", Kind: kruise.KindWorkloadSpread, When: whenWhole, Severity: Lost,
		Fields:  []string{spreadSubsets + "[].patch"},
		Becomes: "not rendered: the subsets have different patches, and the workload has one template",
		Action:  "render with --spread-as split, or give all subsets the same patch",
	},
}
