package finding

import "github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"

const schedule = "spec.topology.scheduleStrategy"

// What becomes of how a UnitedDeployment updates and reschedules.
var _ = register(
	Rule{
		ID: "uniteddeployment/update-strategy", Kind: kruise.KindUnitedDeployment, Severity: Exact,
		Fields:  []string{"spec.updateStrategy.type"},
		Becomes: "nothing: Manual is the only type, and all subsets get a new template at once",
	},
	Rule{
		ID: "uniteddeployment/partitions", Kind: kruise.KindUnitedDeployment, Severity: Exact,
		Fields:  []string{"spec.updateStrategy.manualUpdate.partitions"},
		Becomes: "updateStrategy.rollingUpdate.partition of the subset's workload",
	},
	Rule{
		ID: "uniteddeployment/partition-clamped", Kind: kruise.KindUnitedDeployment, Severity: Exact,
		Fields:  []string{"spec.updateStrategy.manualUpdate.partitions"},
		Becomes: "at most the replicas of the subset",
	},
	Rule{
		ID: "uniteddeployment/partition-deployment", Kind: kruise.KindUnitedDeployment, When: ofDeployments, Severity: Approximate,
		Fields:  []string{"spec.updateStrategy.manualUpdate.partitions"},
		Becomes: "nothing: Kruise ignores partitions of Deployments, and so does what is rendered",
		Action:  "use another kind of template, or remove the partition",
	},
	Rule{
		ID: "uniteddeployment/partition-on-delete", Kind: kruise.KindUnitedDeployment, When: "the template's updateStrategy is OnDelete", Severity: Approximate,
		Fields:  []string{"spec.updateStrategy.manualUpdate.partitions"},
		Becomes: "nothing: Kruise writes no partition beside OnDelete, and neither does what is rendered",
		Action:  "use RollingUpdate, or remove the partition",
	},
	Rule{
		ID: "uniteddeployment/schedule-strategy", Kind: kruise.KindUnitedDeployment, When: "scheduleStrategy.type Fixed", Severity: Exact,
		Fields:  []string{schedule + ".type"},
		Becomes: "nothing more: the replicas are shared out once anyway",
	},
	Rule{
		ID: "uniteddeployment/adaptive", Kind: kruise.KindUnitedDeployment, When: adaptively, Severity: Lost,
		Fields:  []string{schedule + ".type"},
		Becomes: "replicas are shared out once: no controller moves pods that find no node to another subset",
		Action:  "render again with --live when a subset is full, or use one workload with preferred node affinity and topologySpreadConstraints with ScheduleAnyway",
	},
	Rule{
		ID: "uniteddeployment/adaptive-known", Kind: kruise.KindUnitedDeployment, When: adaptively, Severity: Approximate,
		Fields:  []string{schedule},
		Becomes: "subsets that were last seen as unschedulable get no more than what is ready there, however long ago that was",
		Action:  "render again with fresh facts",
	},
	Rule{
		ID: "uniteddeployment/adaptive-unknown", Kind: kruise.KindUnitedDeployment, When: adaptively + ", nothing is known of the workloads", Severity: Approximate,
		Fields:  []string{schedule},
		Becomes: "all subsets count as schedulable and new",
		Action:  "give the present workloads and the UnitedDeployment with its status (--with or --live)",
	},
	Rule{
		ID: "uniteddeployment/adaptive-times", Kind: kruise.KindUnitedDeployment, Severity: Lost,
		Fields:  []string{schedule + ".adaptive.rescheduleCriticalSeconds", schedule + ".adaptive.unschedulableDuration"},
		Becomes: "pending pods are not watched, or how long a subset has been unschedulable",
		Action:  "render again with --live when a subset is full",
	},
	Rule{
		ID: "uniteddeployment/reserve", Kind: kruise.KindUnitedDeployment, When: adaptively, Severity: Lost,
		Fields:  []string{schedule + ".adaptive.reserveUnschedulablePods"},
		Becomes: "pods that are reserved now are replaced in other subsets, once: no controller marks pods as reserved, removes the replacements when they recover, or raises maxUnavailable meanwhile",
		Action:  "render again with --live when a subset is full or has recovered",
	},
)
