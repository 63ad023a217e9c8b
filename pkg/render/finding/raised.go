package finding

// raisedTemplateRules are what becomes of the pod template of a native workload
// that is converted to Kruise's (docs/kruise/workloads.md#percentages-and-defaults and
// docs/kruise/workloads.md#when-a-change-is-possible-in-place).
func raisedTemplateRules(kind, id, at string) bool {
	return register(
		keptTemplate(kind, id, at),
		Rule{
			ID: id + "/image-pull-policy", Kind: kind, Severity: Exact,
			Fields:  []string{at + ".spec.containers[].imagePullPolicy"},
			Becomes: "IfNotPresent is written into containers without a policy whose image has a tag: Kruise's webhook would write Always",
		},
	)
}

// raisedInPlace is the rule of workloads that can be updated in place when they
// are converted.
func raisedInPlace(kind, id string) Rule {
	return Rule{
		ID: id + "/in-place", Kind: kind, When: "--pod-update-policy InPlace…", Severity: Approximate,
		Fields:  []string{"spec.template"},
		Becomes: "pods whose change is one of images or metadata are updated in place: same name, node and IP, and init containers do not run again; a restart annotation alone restarts nothing",
		Action:  "restart with a ContainerRecreateRequest, or set ReCreate where a fresh pod matters",
	}
}

// What becomes of a CronJob as an AdvancedCronJob (docs/kruise/jobs.md#advancedcronjob).
var _ = raisedTemplateRules("CronJob", "cronjob", "spec.jobTemplate.spec.template") && register(
	Rule{
		ID: "cronjob/same", Kind: "CronJob", Severity: Exact,
		Fields: []string{
			"spec.schedule", "spec.timeZone", "spec.startingDeadlineSeconds", "spec.concurrencyPolicy",
			"spec.successfulJobsHistoryLimit", "spec.failedJobsHistoryLimit",
		},
		Becomes: "the same field; both sides have the same default",
	},
	Rule{
		ID: "cronjob/suspend", Kind: "CronJob", Severity: Exact,
		Fields:  []string{"spec.suspend"},
		Becomes: "paused: no new runs, running Jobs go on",
	},
	Rule{
		ID: "cronjob/zone-none", Kind: "CronJob", When: "no time zone", Severity: Approximate,
		Fields:  []string{"spec.schedule"},
		Becomes: "the same schedule, in the time zone of Kruise's manager where it was that of the kube-controller-manager",
		Action:  "set timeZone",
	},
	Rule{
		ID: "cronjob/job", Kind: "CronJob", Severity: Approximate,
		Fields:  []string{"spec.jobTemplate"},
		Becomes: "template.jobTemplate; its Jobs are named after seconds where a CronJob's are after minutes, and carry apps.kruise.io/scheduled-at in place of batch.kubernetes.io/cronjob-scheduled-timestamp",
		Action:  "adapt what reads the names or the annotation",
	},
	Rule{
		ID: "cronjob/job-immutable", Kind: "CronJob", Severity: Lost,
		Fields:  []string{"spec.jobTemplate"},
		Becomes: "an AdvancedCronJob's jobTemplate cannot be changed: a new image needs a new object",
		Action:  "delete and create the AdvancedCronJob to change its Job, or keep the CronJob",
	},
)

// What becomes of a PodDisruptionBudget as a PodUnavailableBudget
// (docs/kruise/protection.md#podunavailablebudget).
var _ = register(
	Rule{
		ID: "poddisruptionbudget/same", Kind: "PodDisruptionBudget", Severity: Exact,
		Fields:  []string{"spec.selector", "spec.minAvailable", "spec.maxUnavailable"},
		Becomes: "the same field; percentages are rounded up on both sides",
	},
	Rule{
		ID: "poddisruptionbudget/forbidden", Kind: "PodDisruptionBudget", Severity: Approximate,
		Fields:  []string{"spec"},
		Becomes: "evictions are refused with code 403 where a PodDisruptionBudget answers 429: drains give up instead of trying again",
		Action:  "have drains repeat, or keep the PodDisruptionBudget",
	},
	Rule{
		ID: "poddisruptionbudget/operations", Kind: "PodDisruptionBudget", Severity: Exact,
		Fields:  []string{"spec"},
		Becomes: "protectOperations is [EVICT], which is what a PodDisruptionBudget guards against",
	},
	Rule{
		ID: "poddisruptionbudget/operations-more", Kind: "PodDisruptionBudget", When: "--protect-operations", Severity: Approximate,
		Fields:  []string{"spec"},
		Becomes: "the budget also refuses what a PodDisruptionBudget lets pass",
		Action:  "make sure that who deletes or updates pods can bear a refusal",
	},
	Rule{
		ID: "poddisruptionbudget/unhealthy", Kind: "PodDisruptionBudget", Severity: Approximate,
		Fields:  []string{"spec.unhealthyPodEvictionPolicy"},
		Becomes: "pods that are not ready may always go, where IfHealthyBudget, the default, keeps them while too few others are healthy",
		Action:  "nothing, unless evicting pods that are not ready loses data",
	},
	Rule{
		ID: "poddisruptionbudget/unhealthy-always", Kind: "PodDisruptionBudget", When: "AlwaysAllow", Severity: Exact,
		Fields:  []string{"spec.unhealthyPodEvictionPolicy"},
		Becomes: "nothing: pods that are not ready may always go",
	},
)
