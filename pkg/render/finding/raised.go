package finding

import (
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// raisedTemplateRules are what becomes of the pod template of a native workload
// that is converted to Kruise's (docs/kruise/workloads.md#percentages-and-defaults and
// docs/kruise/workloads.md#when-a-change-is-possible-in-place).
func raisedTemplateRules(kind, id, at string) []Rule {
	return []Rule{
		keptTemplate(kind, id, at),
		{
			ID: id + "/image-pull-policy", Kind: kind, Severity: Exact,
			Fields:  []string{at + ".spec.containers[].imagePullPolicy"},
			Becomes: "containers without a policy whose image has a tag get IfNotPresent: Kruise's webhook would set Always",
		},
	}
}

// raisedInPlace is the rule of workloads that can be updated in place when they
// are converted.
func raisedInPlace(kind, id string) Rule {
	return Rule{
		ID: id + "/in-place", Kind: kind, When: "--pod-update-policy InPlace…", Severity: Approximate,
		Fields:  []string{"spec.template"},
		Becomes: "pods are updated in place if only images or metadata change: they keep name, node and IP, and init containers do not run again; a restart annotation alone has no effect",
		Action:  "restart with a ContainerRecreateRequest, or set ReCreate if pods must be recreated",
	}
}

// raisedOnDelete is the rule of workloads of which only deleted pods are replaced.
func raisedOnDelete(kind, id string) Rule {
	return Rule{
		ID: id + "/in-place-on-delete", Kind: kind, When: "--pod-update-policy InPlace…, OnDelete", Severity: Lost,
		Fields:  []string{"spec.updateStrategy.type"},
		Becomes: "OnDelete, with which Kruise updates no pod in place: the policy has no effect",
		Action:  "set RollingUpdate, whose partition can hold pods back",
	}
}

// What becomes of a CronJob as an AdvancedCronJob (docs/kruise/jobs.md#advancedcronjob).
var fromCronJobRules = slices.Concat(raisedTemplateRules("CronJob", "cronjob", "spec.jobTemplate.spec.template"), []Rule{
	{
		ID: "cronjob/same", Kind: "CronJob", Severity: Exact,
		Fields: []string{
			"spec.schedule", "spec.timeZone", "spec.startingDeadlineSeconds", "spec.concurrencyPolicy",
			"spec.successfulJobsHistoryLimit", "spec.failedJobsHistoryLimit",
		},
		Becomes: "the same field; both kinds have the same default",
	},
	{
		ID: "cronjob/suspend", Kind: "CronJob", Severity: Exact,
		Fields:  []string{"spec.suspend"},
		Becomes: "paused: no new runs, running Jobs continue",
	},
	{
		ID: "cronjob/zone-none", Kind: "CronJob", When: "no time zone", Severity: Approximate,
		Fields:  []string{"spec.schedule"},
		Becomes: "the same schedule, but in the time zone of Kruise's manager instead of the kube-controller-manager",
		Action:  "set timeZone",
	},
	{
		ID: "cronjob/job", Kind: "CronJob", Severity: Approximate,
		Fields:  []string{"spec.jobTemplate"},
		Becomes: "template.jobTemplate; the names of its Jobs contain seconds instead of minutes, and the Jobs carry apps.kruise.io/scheduled-at in place of batch.kubernetes.io/cronjob-scheduled-timestamp",
		Action:  "adapt programs that read the names or the annotation",
	},
	{
		ID: "cronjob/job-immutable", Kind: "CronJob", Severity: Lost,
		Fields:  []string{"spec.jobTemplate"},
		Becomes: "an AdvancedCronJob's jobTemplate cannot be changed: a new image needs a new object",
		Action:  "delete and create the AdvancedCronJob to change its Job, or keep the CronJob",
	},
})

// What becomes of a PodDisruptionBudget as a PodUnavailableBudget
// (docs/kruise/protection.md#podunavailablebudget).
var fromPodDisruptionBudgetRules = []Rule{
	{
		ID: "poddisruptionbudget/same", Kind: "PodDisruptionBudget", Severity: Exact,
		Fields:  []string{"spec.selector", "spec.minAvailable", "spec.maxUnavailable"},
		Becomes: "the same field; percentages are rounded up by both kinds",
	},
	{
		ID: "poddisruptionbudget/forbidden", Kind: "PodDisruptionBudget", Severity: Approximate,
		Fields:  []string{"spec"},
		Becomes: "evictions are refused with code 403 instead of 429: drains give up instead of retrying",
		Action:  "retry drains, or keep the PodDisruptionBudget",
	},
	{
		ID: "poddisruptionbudget/operations", Kind: "PodDisruptionBudget", Severity: Exact,
		Fields:  []string{"spec"},
		Becomes: "protectOperations is [EVICT], which is what a PodDisruptionBudget covers",
	},
	{
		ID: "poddisruptionbudget/operations-more", Kind: "PodDisruptionBudget", When: "--protect-operations", Severity: Approximate,
		Fields:  []string{"spec"},
		Becomes: "the budget also refuses operations that a PodDisruptionBudget allows",
		Action:  "make sure that programs which delete or update pods can handle a refusal",
	},
	{
		ID: "poddisruptionbudget/unhealthy", Kind: "PodDisruptionBudget", Severity: Approximate,
		Fields:  []string{"spec.unhealthyPodEvictionPolicy"},
		Becomes: "pods that are not ready can always be evicted, whereas IfHealthyBudget, the default, keeps them while too few others are healthy",
		Action:  "no action needed, unless evicting pods that are not ready loses data",
	},
	{
		ID: "poddisruptionbudget/unhealthy-always", Kind: "PodDisruptionBudget", When: "AlwaysAllow", Severity: Exact,
		Fields:  []string{"spec.unhealthyPodEvictionPolicy"},
		Becomes: "not needed: pods that are not ready can always be evicted",
	},
}

// What becomes of a Deployment as a CloneSet (docs/kruise/workloads.md#percentages-and-defaults,
// docs/kruise/workloads.md#creation-ondelete-pause and docs/kruise/workloads.md#cloneset-status).
var fromDeploymentRules = slices.Concat(raisedTemplateRules(kruise.KindDeployment, "deployment", "spec.template"), []Rule{
	raisedInPlace(kruise.KindDeployment, "deployment"),
	{
		ID: "deployment/same", Kind: kruise.KindDeployment, Severity: Exact,
		Fields:  []string{"spec.replicas", "spec.selector", "spec.minReadySeconds", "spec.revisionHistoryLimit"},
		Becomes: "the same field; both kinds have the same default",
	},
	{
		ID: "deployment/paused", Kind: kruise.KindDeployment, Severity: Approximate,
		Fields:  []string{"spec.paused"},
		Becomes: "updateStrategy.rollingUpdate.paused: no further pods are updated, but surge pods are removed",
		Action:  "finish a rollout before converting",
	},
	{
		ID: "deployment/progress-deadline", Kind: kruise.KindDeployment, Severity: Approximate,
		Fields:  []string{"spec.progressDeadlineSeconds"},
		Becomes: "the same field, but a CloneSet measures the time from the last change of its condition Progressing: it can report ProgressDeadlineExceeded as soon as a rollout starts",
		Action:  "do not treat ProgressDeadlineExceeded alone as a failure",
	},
	{
		ID: "deployment/progress-deadline-none", Kind: kruise.KindDeployment, When: "not set", Severity: Approximate,
		Fields:  []string{"spec.progressDeadlineSeconds"},
		Becomes: "a CloneSet has no deadline and no condition Progressing unless the field is set; the default of a Deployment is 600 seconds",
		Action:  "set progressDeadlineSeconds if a program waits for the condition",
	},
	{
		ID: "deployment/strategy", Kind: kruise.KindDeployment, Severity: Exact,
		Fields:  []string{"spec.strategy"},
		Becomes: "the same maxSurge and maxUnavailable, written out because the defaults differ (25% and 25% against 0 and 20%); with a surge both round in the same way",
	},
	{
		ID: "deployment/max-unavailable-zero", Kind: kruise.KindDeployment, Severity: Exact,
		Fields:  []string{"spec.strategy.rollingUpdate.maxUnavailable"},
		Becomes: "0% instead of 0, which v1beta1 refuses even with maxSurge; both mean that a new pod is created first",
	},
	{
		ID: "deployment/max-unavailable-rounded", Kind: kruise.KindDeployment, When: "no surge", Severity: Approximate,
		Fields:  []string{"spec.strategy.rollingUpdate.maxUnavailable"},
		Becomes: "a number instead of the percentage, which a Deployment rounds down and a CloneSet without surge rounds up",
		Action:  "set a suitable percentage when replicas change",
	},
	{
		ID: "deployment/max-unavailable-percent", Kind: kruise.KindDeployment, When: "no surge, and replicas are 0 or set by an autoscaler", Severity: Approximate,
		Fields:  []string{"spec.strategy.rollingUpdate.maxUnavailable"},
		Becomes: "the percentage stays, but a CloneSet without surge rounds it up, whereas a Deployment rounds down",
		Action:  "set a number if the difference of one pod matters",
	},
	{
		ID: "deployment/recreate", Kind: kruise.KindDeployment, When: "Recreate", Severity: Lost,
		Fields:  []string{"spec.strategy.type"},
		Becomes: "maxUnavailable 100% without surge: all old pods are deleted at once, but new ones start while the last old ones are still terminating",
		Action:  "scale to 0 before an update if two versions must never run at the same time",
	},
})

// What becomes of a StatefulSet as an Advanced StatefulSet
// (docs/kruise/workloads.md#percentages-and-defaults and
// docs/kruise/workloads.md#advanced-statefulset).
var fromStatefulSetRules = slices.Concat(raisedTemplateRules("NativeStatefulSet", "nativestatefulset", "spec.template"), []Rule{
	raisedInPlace("NativeStatefulSet", "nativestatefulset"), raisedOnDelete("NativeStatefulSet", "nativestatefulset"),
	{
		ID: "nativestatefulset/in-place-gate", Kind: "NativeStatefulSet", When: "--pod-update-policy InPlace…", Severity: Approximate,
		Fields:  []string{"spec.template"},
		Becomes: "the readiness gate InPlaceUpdateReady is added to the template, which an update in place needs: pods that run without it are recreated once",
		Action:  "expect all pods to be recreated once",
	},
	{
		ID: "nativestatefulset/same", Kind: "NativeStatefulSet", Severity: Exact,
		Fields: []string{
			"spec.replicas", "spec.selector", "spec.serviceName", "spec.podManagementPolicy", "spec.revisionHistoryLimit",
			"spec.volumeClaimTemplates", "spec.persistentVolumeClaimRetentionPolicy",
		},
		Becomes: "the same field; both kinds have the same default, and pods and claims keep their names",
	},
	{
		ID: "nativestatefulset/type", Kind: "NativeStatefulSet", Severity: Exact,
		Fields:  []string{"spec.updateStrategy.type"},
		Becomes: "the same type",
	},
	{
		ID: "nativestatefulset/type-other", Kind: "NativeStatefulSet", When: "neither RollingUpdate nor OnDelete", Severity: Lost,
		Fields:  []string{"spec.updateStrategy.type"},
		Becomes: "RollingUpdate: an Advanced StatefulSet has no such type",
		Action:  "keep the StatefulSet if that matters",
	},
	{
		ID: "nativestatefulset/partition", Kind: "NativeStatefulSet", Severity: Exact,
		Fields:  []string{"spec.updateStrategy.rollingUpdate.partition"},
		Becomes: "the same number: the pods with the lowest ordinals stay at the old revision",
	},
	{
		ID: "nativestatefulset/max-unavailable", Kind: "NativeStatefulSet", Severity: Exact,
		Fields:  []string{"spec.updateStrategy.rollingUpdate.maxUnavailable"},
		Becomes: "the same value; both kinds round down, to 1 at least, and default to 1",
	},
	{
		ID: "nativestatefulset/max-unavailable-ordered", Kind: "NativeStatefulSet", When: "OrderedReady", Severity: Approximate,
		Fields:  []string{"spec.updateStrategy.rollingUpdate.maxUnavailable"},
		Becomes: "left out: with podManagementPolicy OrderedReady, Kruise refuses more than 1",
		Action:  "no action needed: it has little effect with OrderedReady; for more pods at a time create a new set with Parallel",
	},
	{
		ID: "nativestatefulset/min-ready-seconds", Kind: "NativeStatefulSet", Severity: Exact,
		Fields:  []string{"spec.minReadySeconds"},
		Becomes: "updateStrategy.rollingUpdate.minReadySeconds",
	},
	{
		ID: "nativestatefulset/min-ready-seconds-most", Kind: "NativeStatefulSet", When: "more than 300", Severity: Approximate,
		Fields:  []string{"spec.minReadySeconds"},
		Becomes: "300, the maximum that Kruise accepts",
		Action:  "let a readiness probe succeed later",
	},
	{
		ID: "nativestatefulset/min-ready-seconds-none", Kind: "NativeStatefulSet", When: "OnDelete", Severity: Lost,
		Fields:  []string{"spec.minReadySeconds"},
		Becomes: "not rendered: an Advanced StatefulSet has it in rollingUpdate, which OnDelete forbids",
		Action:  "let a readiness probe succeed later",
	},
	{
		ID: "nativestatefulset/ordinals", Kind: "NativeStatefulSet", Severity: Lost,
		Fields:  []string{"spec.ordinals"},
		Becomes: "the same field, which Kruise ignores unless its feature gate StatefulSetStartOrdinal is on (off by default): ordinals would start at 0, with other pods and claims",
		Action:  "enable the gate before you apply",
	},
})

// What becomes of a DaemonSet as an Advanced DaemonSet
// (docs/kruise/workloads.md#percentages-and-defaults and
// docs/kruise/workloads.md#advanced-daemonset). Kruise's webhook leaves its template alone.
var fromDaemonSetRules = []Rule{
	raisedInPlace("NativeDaemonSet", "nativedaemonset"), raisedOnDelete("NativeDaemonSet", "nativedaemonset"),
	{
		ID: "nativedaemonset/same", Kind: "NativeDaemonSet", Severity: Exact,
		Fields:  []string{"spec.selector", "spec.template", "spec.minReadySeconds", "spec.revisionHistoryLimit"},
		Becomes: "the same field; both kinds have the same default",
	},
	{
		ID: "nativedaemonset/strategy", Kind: "NativeDaemonSet", Severity: Exact,
		Fields:  []string{"spec.updateStrategy"},
		Becomes: "the same type, maxSurge and maxUnavailable; both kinds round percentages of the nodes up and default to one unavailable pod",
	},
}

// The findings of convert about any kind.
var convertRules = []Rule{
	{
		ID: "convert/kept", Kind: "*", Severity: Exact,
		Becomes: "values that the other kind cannot express are stored in the annotation kubectl-kruise.dev/converted-from, so that converting back restores them",
	},
	{
		ID: "convert/restored", Kind: "*", Severity: Exact,
		Becomes: "values that the other kind could not express were restored from the annotation kubectl-kruise.dev/converted-from",
	},
	{
		ID: "convert/unknown-field", Kind: "*", Severity: Lost,
		Becomes: "the other kind does not have this field, and its meaning is not known",
		Action:  "check its spelling",
	},
	{
		ID: "convert/forgotten", Kind: "*", When: "--forget", Severity: Approximate,
		Becomes: "is not stored: converting back cannot restore it",
		Action:  "convert without --forget if you may want to convert back",
	},
	{
		ID: "convert/version", Kind: "*", When: "--to-version", Severity: Lost,
		Becomes: "the other version of the API has no such field",
		Action:  "keep the object in the version that has the field",
	},
}
