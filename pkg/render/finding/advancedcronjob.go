package finding

import (
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// What becomes of an AdvancedCronJob (docs/kruise/jobs.md#advancedcronjob and
// docs/kruise/distribution.md#what-native-kubernetes-can-express).
var advancedCronJobRules = slices.Concat(templateRulesAt(kruise.KindAdvancedCronJob, "advancedcronjob", "spec.template.jobTemplate.spec.template"), []Rule{
	{
		ID: "advancedcronjob/same", Kind: kruise.KindAdvancedCronJob, Severity: Exact,
		Fields: []string{
			"spec.timeZone", "spec.startingDeadlineSeconds", "spec.concurrencyPolicy",
			"spec.successfulJobsHistoryLimit", "spec.failedJobsHistoryLimit",
		},
		Becomes: "the same field with the same default, apart from what other findings report",
	},
	{
		ID: "advancedcronjob/replace", Kind: kruise.KindAdvancedCronJob, When: "imageListPullJobTemplate, none given", Severity: Exact,
		Fields:  []string{"spec.concurrencyPolicy"},
		Becomes: "Replace is written explicitly: it is Kruise's default, whereas that of a CronJob is Allow",
	},
	{
		ID: "advancedcronjob/zone-in-schedule", Kind: kruise.KindAdvancedCronJob, When: "TZ= in the schedule", Severity: Exact,
		Fields:  []string{"spec.schedule"},
		Becomes: "the schedule without its zone, and timeZone: a CronJob refuses a zone in the schedule",
	},
	{
		ID: "advancedcronjob/zone-none", Kind: kruise.KindAdvancedCronJob, When: "no time zone", Severity: Approximate,
		Fields:  []string{"spec.schedule"},
		Becomes: "the same schedule, but in the time zone of the kube-controller-manager instead of Kruise's manager",
		Action:  "set timeZone",
	},
	{
		ID: "advancedcronjob/paused", Kind: kruise.KindAdvancedCronJob, Severity: Exact,
		Fields:  []string{"spec.paused"},
		Becomes: "suspend",
	},
	{
		ID: "advancedcronjob/job", Kind: kruise.KindAdvancedCronJob, Severity: Approximate,
		Fields:  []string{"spec.template.jobTemplate"},
		Becomes: "jobTemplate; the names of its Jobs contain minutes instead of seconds, and the Jobs carry batch.kubernetes.io/cronjob-scheduled-timestamp in place of apps.kruise.io/scheduled-at",
		Action:  "adapt programs that read the names or the annotation",
	},
	{
		ID: "advancedcronjob/broadcast", Kind: kruise.KindAdvancedCronJob, Severity: Approximate,
		Fields:  []string{"spec.template.broadcastJobTemplate"},
		Becomes: "a CronJob for each Job that the BroadcastJob would become: one per node. Concurrency and history count per node",
		Action:  "render again when nodes have joined",
	},
	{
		ID: "advancedcronjob/image-list", Kind: kruise.KindAdvancedCronJob, Severity: Approximate,
		Fields:  []string{"spec.template.imageListPullJobTemplate"},
		Becomes: "a CronJob for each Job that the ImageListPullJob would become: one per image and node",
		Action:  "render again when nodes have joined",
	},
	{
		ID: "advancedcronjob/image-pull-policy", Kind: kruise.KindAdvancedCronJob, Severity: Exact,
		Fields:  []string{"spec.template.jobTemplate"},
		Becomes: "containers without a policy get Always, as from Kruise's webhook, whatever their tag; the policy of init containers depends on the tag in both cases",
	},
	{
		ID: "advancedcronjob/name", Kind: kruise.KindAdvancedCronJob, When: "more than 52 characters", Severity: Approximate,
		Fields:  []string{"metadata.name"},
		Becomes: "shortened, with a hash: a CronJob's name has 52 characters at most",
		Action:  "choose a shorter name",
	},
})
