package finding

import "github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"

// The subsets of a WorkloadSpread, and the cases that its rules tell apart.
const (
	spreadSubsets = "spec.subsets"
	spreadTarget  = "spec.targetRef"
	whenSplit     = "--spread-as split"
	whenWhole     = "--spread-as constraints"
)

// What becomes of the target of a WorkloadSpread (docs/kruise/distribution.md#workloadspread and
// docs/kruise/distribution.md#what-native-kubernetes-can-express).
var _ = register(
	Rule{
		ID: "workloadspread/split", Kind: kruise.KindWorkloadSpread, When: whenSplit, Severity: Approximate,
		Fields:  []string{spreadTarget},
		Becomes: "a workload of its own for each subset, NAME-SUBSET, in place of the target; replicas are shared out as Kruise places new pods, once: nothing moves them between subsets when one is scaled by hand or by an autoscaler",
		Action:  "change the target's replicas and render again; delete the target from a cluster that holds it when the new workloads are ready",
	},
	Rule{
		ID: "workloadspread/single", Kind: kruise.KindWorkloadSpread, When: "the only subset has no maxReplicas", Severity: Exact,
		Fields:  []string{spreadSubsets + "[].name"},
		Becomes: "the target itself: its template has what the subset asks for",
	},
	Rule{
		ID: "workloadspread/target-missing", Kind: kruise.KindWorkloadSpread, Severity: Lost,
		Fields:  []string{spreadTarget},
		Becomes: "the WorkloadSpread stays a Kruise object, since its target is not in the input: it needs Kruise in the cluster",
		Action:  "render it together with its target",
	},
	Rule{
		ID: "workloadspread/target-taken", Kind: kruise.KindWorkloadSpread, Severity: Lost,
		Fields:  []string{spreadTarget},
		Becomes: "the WorkloadSpread stays a Kruise object: another one has the same target",
		Action:  "remove one of the two",
	},
	Rule{
		ID: "workloadspread/target-made", Kind: kruise.KindWorkloadSpread, Severity: Approximate,
		Fields:  []string{spreadTarget},
		Becomes: "the subset of a UnitedDeployment is split again; under Kruise its workload has a random name, which no WorkloadSpread can name",
		Action:  "give the UnitedDeployment one subset for each place",
	},
	Rule{
		ID: "workloadspread/name-shortened", Kind: kruise.KindWorkloadSpread, When: whenSplit, Severity: Approximate,
		Fields:  []string{spreadTarget},
		Becomes: "the name of the workload ends in a hash: NAME-SUBSET is too long for its pods to come into being, or holds dots that they cannot have",
		Action:  "use a shorter name, or name in other objects what is rendered",
	},
	Rule{
		ID: "workloadspread/rolling-limits", Kind: kruise.KindWorkloadSpread, When: whenSplit, Severity: Approximate,
		Fields:  []string{spreadTarget},
		Becomes: "maxUnavailable and maxSurge hold for each workload: more pods are down at once than of the target, and a percentage is of the workload's own replicas",
		Action:  "roll the workloads out one after the other, or guard all pods with a PodDisruptionBudget",
	},
	Rule{
		ID: "workloadspread/partition", Kind: kruise.KindWorkloadSpread, When: whenSplit, Severity: Approximate,
		Fields:  []string{spreadTarget},
		Becomes: "as many pods stay old as of the target, those of the first subsets; a percentage is of each workload",
		Action:  "check the partition of each workload",
	},
	Rule{
		ID: "workloadspread/pods-to-delete", Kind: kruise.KindWorkloadSpread, When: whenSplit, Severity: Lost,
		Fields:  []string{spreadTarget},
		Becomes: "scaleStrategy.podsToDelete is left out: it names pods of the target",
		Action:  "delete these pods with the target",
	},
	Rule{
		ID: "workloadspread/ordinals", Kind: kruise.KindWorkloadSpread, When: "the target is a StatefulSet, " + whenSplit, Severity: Lost,
		Fields:  []string{spreadTarget},
		Becomes: "ordinals stay in the subsets where Kruise has them, but pods are called NAME-SUBSET-ORDINAL: their DNS names and their volume claims are not those of the target",
		Action:  "move the data, or render with --spread-as constraints, which leaves the StatefulSet whole",
	},
	Rule{
		ID: "workloadspread/ordered", Kind: kruise.KindWorkloadSpread, When: "the target is a StatefulSet with OrderedReady, " + whenSplit, Severity: Approximate,
		Fields:  []string{spreadTarget},
		Becomes: "pods start in order inside each workload only",
		Action:  "apply the workloads one after the other where the order matters",
	},
	Rule{
		ID: "workloadspread/job", Kind: kruise.KindWorkloadSpread, When: "the target is a Job, " + whenSplit, Severity: Approximate,
		Fields:  []string{spreadTarget},
		Becomes: "a Job for each subset that gets pods; they share parallelism and completions, each has the whole backoffLimit, and none takes over work of another that is done first",
		Action:  "wait for all of them",
	},
	Rule{
		ID: "workloadspread/replicas-live", Kind: kruise.KindWorkloadSpread, When: "an autoscaler owns the replicas", Severity: Exact,
		Fields:  []string{spreadSubsets + "[].maxReplicas"},
		Becomes: "the replicas that the target has now are shared out",
	},
	Rule{
		ID: "workloadspread/replicas-unknown", Kind: kruise.KindWorkloadSpread, When: "an autoscaler owns the replicas", Severity: Approximate,
		Fields:  []string{spreadSubsets + "[].maxReplicas"},
		Becomes: "the number of replicas is not in the input: the autoscaler's minimum is distributed and written",
		Action:  "give the live target (--with or --live), or spec.replicas",
	},
	Rule{
		ID: "workloadspread/filter-selector", Kind: kruise.KindWorkloadSpread, Severity: Exact,
		Fields:  []string{"spec.targetFilter.selector"},
		Becomes: "nothing more: the target's pods have the labels",
	},
	Rule{
		ID: "workloadspread/filter-none", Kind: kruise.KindWorkloadSpread, Severity: Approximate,
		Fields:  []string{"spec.targetFilter"},
		Becomes: "the target stays as it is: Kruise lets no pod of it into a subset with this filter",
		Action:  "give the filter a selector that matches the pods, or remove it",
	},
	Rule{
		ID: "workloadspread/replicas-path", Kind: kruise.KindWorkloadSpread, Severity: Exact,
		Fields:  []string{"spec.targetFilter.replicasPathList"},
		Becomes: "what percentages of maxReplicas are of",
	},
)
