package finding

import "github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"

// What becomes of the subsets of a WorkloadSpread.
var _ = register(
	Rule{
		ID: "workloadspread/subset", Kind: kruise.KindWorkloadSpread, Severity: Exact,
		Fields:  []string{spreadSubsets + "[].name"},
		Becomes: "pods have the annotation apps.kruise.io/matched-workloadspread that Kruise's webhook writes, without uid",
	},
	Rule{
		ID: "workloadspread/max-replicas", Kind: kruise.KindWorkloadSpread, When: whenSplit, Severity: Exact,
		Fields:  []string{spreadSubsets + "[].maxReplicas"},
		Becomes: "the replicas of the workload, filled in the order of the subsets; a percentage is rounded up",
	},
	Rule{
		ID: "workloadspread/percent-cloneset", Kind: kruise.KindWorkloadSpread, When: "the target is a CloneSet named as v1beta1, " + whenSplit, Severity: Approximate,
		Fields:  []string{spreadSubsets + "[].maxReplicas"},
		Becomes: "the share is of the target's replicas from the first pod on; Kruise takes percentages of 0 there until its status has counts, so that new pods may find no room",
		Action:  "name the target as v1alpha1 where Kruise runs",
	},
	Rule{
		ID: "workloadspread/rest", Kind: kruise.KindWorkloadSpread, When: whenSplit, Severity: Approximate,
		Fields:  []string{spreadSubsets + "[].maxReplicas"},
		Becomes: "pods for which no subset has room are in the workload NAME-rest, whose template is the target's; Kruise may count them in a subset later, by the node that they run on",
		Action:  "leave maxReplicas out of the last subset",
	},
	Rule{
		ID: "workloadspread/required-node-selector", Kind: kruise.KindWorkloadSpread, When: whenSplit, Severity: Exact,
		Fields:  []string{spreadSubsets + "[].requiredNodeSelector"},
		Becomes: "appended to every required node affinity term of the pod template",
	},
	Rule{
		ID: "workloadspread/preferred-node-selector", Kind: kruise.KindWorkloadSpread, When: whenSplit, Severity: Exact,
		Fields:  []string{spreadSubsets + "[].preferredNodeSelector"},
		Becomes: "appended to the preferred node affinity of the pod template",
	},
	Rule{
		ID: "workloadspread/tolerations", Kind: kruise.KindWorkloadSpread, When: whenSplit, Severity: Exact,
		Fields:  []string{spreadSubsets + "[].tolerations"},
		Becomes: "appended to the tolerations of the pod template",
	},
	Rule{
		ID: "workloadspread/patch", Kind: kruise.KindWorkloadSpread, Severity: Exact,
		Fields:  []string{spreadSubsets + "[].patch"},
		Becomes: "merged into the pod template last, as a strategic merge patch",
	},
	Rule{
		ID: "workloadspread/deletion-cost", Kind: kruise.KindWorkloadSpread, When: "the target is a CloneSet or Deployment, " + whenSplit, Severity: Approximate,
		Fields:  []string{spreadSubsets},
		Becomes: "pods have the deletion cost of their subset from the start, where Kruise writes it later; it decides nothing inside one workload, and it is not mirrored for old pods in a rollout",
		Action:  "scale in by rendering again: the last subsets shrink first",
	},
	Rule{
		ID: "workloadspread/deletion-cost-replicaset", Kind: kruise.KindWorkloadSpread, When: "the target is a ReplicaSet, " + whenSplit, Severity: Approximate,
		Fields:  []string{spreadSubsets},
		Becomes: "the last subsets shrink first; under Kruise the pods of a ReplicaSet without the label pod-template-hash have mirrored costs, and the first subset is emptied first",
		Action:  "use a Deployment",
	},
	Rule{
		ID: "workloadspread/fixed", Kind: kruise.KindWorkloadSpread, When: "scheduleStrategy.type Fixed", Severity: Exact,
		Fields:  []string{"spec.scheduleStrategy.type"},
		Becomes: "nothing more: pods wait for nodes of their subset",
	},
	Rule{
		ID: "workloadspread/adaptive", Kind: kruise.KindWorkloadSpread, When: "scheduleStrategy.type Adaptive", Severity: Lost,
		Fields:  []string{"spec.scheduleStrategy.type", "spec.scheduleStrategy.adaptive.disableSimulationSchedule"},
		Becomes: "pods that find no node are not deleted, so they do not move to another subset",
		Action:  "render again with --live when a subset is full, or with --spread-as constraints",
	},
	Rule{
		ID: "workloadspread/adaptive-known", Kind: kruise.KindWorkloadSpread, When: "scheduleStrategy.type Adaptive", Severity: Approximate,
		Fields:  []string{"spec.scheduleStrategy.type"},
		Becomes: "subsets that were last seen as unschedulable keep what they have and get no more, however long ago that was",
		Action:  "render again with fresh facts",
	},
	Rule{
		ID: "workloadspread/adaptive-times", Kind: kruise.KindWorkloadSpread, When: "scheduleStrategy.type Adaptive", Severity: Lost,
		Fields:  []string{"spec.scheduleStrategy.adaptive.rescheduleCriticalSeconds"},
		Becomes: "pending pods are not watched",
		Action:  "render again with --live when a subset is full",
	},
)

// What becomes of the subsets where the target stays one workload.
var _ = register(
	Rule{
		ID: "workloadspread/constraints", Kind: kruise.KindWorkloadSpread, When: whenWhole, Severity: Approximate,
		Fields:  []string{spreadTarget},
		Becomes: "the target stays one workload whose pods prefer the subsets in their order; which pod goes where is the scheduler's choice, and deletion costs are not written",
		Action:  "render with --spread-as split where the numbers matter",
	},
	Rule{
		ID: "workloadspread/constraints-subset", Kind: kruise.KindWorkloadSpread, When: whenWhole, Severity: Exact,
		Fields:  []string{spreadSubsets + "[].name"},
		Becomes: "nothing: pods do not say which subset they are in, their nodes do",
	},
	Rule{
		ID: "workloadspread/constraints-limits", Kind: kruise.KindWorkloadSpread, When: whenWhole, Severity: Lost,
		Fields:  []string{spreadSubsets + "[].maxReplicas"},
		Becomes: "no limit: a subset may get more pods or fewer; only maxReplicas 0 keeps pods away",
		Action:  "render with --spread-as split",
	},
	Rule{
		ID: "workloadspread/constraints-skew", Kind: kruise.KindWorkloadSpread, When: whenWhole, Severity: Approximate,
		Fields:  []string{spreadSubsets + "[].maxReplicas"},
		Becomes: "a topology spread constraint with ScheduleAnyway over the label that tells the subsets apart; maxSkew is the largest difference between their shares",
		Action:  "write a constraint over this label into the target's template to have another",
	},
	Rule{
		ID: "workloadspread/constraints-required", Kind: kruise.KindWorkloadSpread, When: whenWhole, Severity: Approximate,
		Fields:  []string{spreadSubsets + "[].requiredNodeSelector"},
		Becomes: "an alternative of the required node affinity, where all subsets have one, and a preference that weighs less from subset to subset",
		Action:  "render with --spread-as split where pods must be in their subset",
	},
	Rule{
		ID: "workloadspread/constraints-preferred", Kind: kruise.KindWorkloadSpread, When: whenWhole, Severity: Approximate,
		Fields:  []string{spreadSubsets + "[].preferredNodeSelector"},
		Becomes: "preferences of all pods",
		Action:  "render with --spread-as split where they are of one subset only",
	},
	Rule{
		ID: "workloadspread/constraints-tolerations", Kind: kruise.KindWorkloadSpread, When: whenWhole, Severity: Approximate,
		Fields:  []string{spreadSubsets + "[].tolerations"},
		Becomes: "tolerations of all pods",
		Action:  "render with --spread-as split where they are of one subset only",
	},
	Rule{
		ID: "workloadspread/constraints-patch", Kind: kruise.KindWorkloadSpread, When: whenWhole, Severity: Lost,
		Fields:  []string{spreadSubsets + "[].patch"},
		Becomes: "nothing: the subsets have different patches, and the workload has one template",
		Action:  "render with --spread-as split, or give all subsets the same patch",
	},
)
