package check_test

import "testing"

const goodBroadcast = `
apiVersion: apps.kruise.io/v1beta1
kind: BroadcastJob
metadata: {name: sweep, namespace: shop}
spec:
  completionPolicy: {type: Always, ttlSecondsAfterFinished: 5, activeDeadlineSeconds: 5}
  template:
    metadata: {labels: {app: sweep}}
    spec: {restartPolicy: Never, containers: [{name: sweep, image: "example.com/sweep:1"}]}
`

func TestBroadcastJob(t *testing.T) {
	const policy = "{type: Always, ttlSecondsAfterFinished: 5, activeDeadlineSeconds: 5}"
	rulings(t, goodBroadcast, []ruling{
		{name: "on failure", edit: []string{"Never", "OnFailure"}},
		{name: "unknown failure policy", edit: []string{policy, "{}\n  failurePolicy: {type: Retry}"}},
		{name: "restart always", edit: []string{"Never", "Always"}, want: "broadcastjob/restart-policy-invalid spec.template.spec.restartPolicy"},
		{name: "restart left out", edit: []string{"restartPolicy: Never, ", ""}, want: "broadcastjob/restart-policy-invalid spec.template.spec.restartPolicy"},
		{name: "never with time to live", edit: []string{policy, "{type: Never, ttlSecondsAfterFinished: 5}"}, want: "broadcastjob/completion-invalid spec.completionPolicy.ttlSecondsAfterFinished"},
		{name: "never with deadline", edit: []string{policy, "{type: Never, activeDeadlineSeconds: 5}"}, want: "broadcastjob/completion-invalid spec.completionPolicy.activeDeadlineSeconds"},
		{name: "label", edit: []string{"{app: sweep}", "{broadcastjob-name: x}"}, want: "broadcastjob/labels-reserved spec.template.metadata.labels[broadcastjob-name]"},
		{name: "name", edit: []string{"name: sweep", "name: sweep.all"}, want: "object/name-invalid metadata.name"},
		{name: "long name", edit: []string{"name: sweep", "name: a123456789a123456789a123456789a123456789a123456789a123456789a123"}, want: "object/name-invalid metadata.name"},
		{name: "no containers", edit: []string{`[{name: sweep, image: "example.com/sweep:1"}]`, "[]"}, want: "pod/template-invalid spec.template.spec.containers"},
		{name: "template changed", edit: []string{"sweep:1", "sweep:2"}, old: []string{}},
	})
}

const goodCron = `
apiVersion: apps.kruise.io/v1beta1
kind: AdvancedCronJob
metadata: {name: nightly, namespace: shop}
spec:
  schedule: "15 2 * * *"
  template:
    jobTemplate:
      spec:
        template:
          spec: {restartPolicy: Never, containers: [{name: run, image: "example.com/run:1"}]}
`

func TestAdvancedCronJob(t *testing.T) {
	const schedule = `"15 2 * * *"`
	to := func(text string) []string { return []string{schedule, text} }
	rulings(t, goodCron, []ruling{
		{name: "word", edit: to(`"@daily"`)},
		{name: "every", edit: to(`"@every 90m"`)},
		{name: "zone in the schedule", edit: to(`"CRON_TZ=Asia/Tokyo 5 4 * * *"`)},
		{name: "zone", edit: to(schedule + "\n  timeZone: Europe/Berlin")},
		{name: "restart always", edit: []string{"restartPolicy: Never, ", ""}},
		{name: "empty", edit: to(`""`), want: "advancedcronjob/schedule-invalid spec.schedule"},
		{name: "left out", edit: []string{`  schedule: "15 2 * * *"` + "\n", ""}, want: "advancedcronjob/schedule-invalid spec.schedule"},
		{name: "six fields", edit: to(`"0 15 2 * * *"`), want: "advancedcronjob/schedule-invalid spec.schedule"},
		{name: "out of range", edit: to(`"61 2 * * *"`), want: "advancedcronjob/schedule-invalid spec.schedule"},
		{name: "zone and no schedule", edit: to(`"TZ=UTC"`), want: "advancedcronjob/schedule-invalid spec.schedule"},
		{name: "two zones", edit: to(`"TZ=UTC 5 4 * * *"` + "\n  timeZone: UTC"), want: "advancedcronjob/schedule-invalid spec.schedule"},
		{name: "unknown zone", edit: to(schedule + "\n  timeZone: Mars/Olympus"), want: "advancedcronjob/time-zone-invalid spec.timeZone"},
		{name: "local zone", edit: to(schedule + "\n  timeZone: Local"), want: "advancedcronjob/time-zone-invalid spec.timeZone"},
		{name: "empty zone", edit: to(schedule + `` + "\n  timeZone: ''"), want: "advancedcronjob/time-zone-invalid spec.timeZone"},
		{name: "concurrency", edit: to(schedule + "\n  concurrencyPolicy: Queue"), want: "advancedcronjob/concurrency-invalid spec.concurrencyPolicy"},
		{name: "history", edit: to(schedule + "\n  failedJobsHistoryLimit: -1"), want: "advancedcronjob/limit-invalid spec.failedJobsHistoryLimit"},
		{name: "deadline", edit: to(schedule + "\n  startingDeadlineSeconds: -1"), want: "advancedcronjob/limit-invalid spec.startingDeadlineSeconds"},
		{name: "name", edit: []string{"name: nightly", "name: nightly.run"}, want: "object/name-invalid metadata.name"},
		{name: "no pods", edit: []string{`[{name: run, image: "example.com/run:1"}]`, "[]"}, want: "pod/template-invalid spec.template.jobTemplate.spec.template.spec.containers"},
		{name: "two templates", edit: []string{"    jobTemplate:", "    imageListPullJobTemplate: {spec: {images: [a], completionPolicy: {}}}\n    jobTemplate:"}, want: "advancedcronjob/template-invalid spec.template"},
		{name: "template changed", edit: []string{"run:1", "run:2"}, old: []string{}, want: "object/immutable-field spec.template.jobTemplate"},
		{name: "schedule changed", edit: to(`"@daily"`), old: []string{}},
	})
}

const goodCronImages = `
apiVersion: apps.kruise.io/v1beta1
kind: AdvancedCronJob
metadata: {name: warm, namespace: shop}
spec:
  schedule: "@daily"
  template:
    imageListPullJobTemplate:
      spec:
        images: [example.com/a:1, example.com/b:1]
        completionPolicy: {type: Always, activeDeadlineSeconds: 1200}
`

func TestAdvancedCronJobImages(t *testing.T) {
	const at = "advancedcronjob/template-invalid spec.template.imageListPullJobTemplate.spec."
	policy := func(text string) []string { return []string{"{type: Always, activeDeadlineSeconds: 1200}", text} }
	rulings(t, goodCronImages, []ruling{
		{name: "changed", edit: []string{"b:1", "b:2"}, old: []string{}},
		{name: "labels are pruned", edit: []string{"      spec:", "      metadata: {labels: {a: b}}\n      spec:"}},
		{name: "allow", edit: []string{"  schedule", "  concurrencyPolicy: Allow\n  schedule"}, want: "advancedcronjob/concurrency-invalid spec.concurrencyPolicy"},
		{name: "never", edit: policy("{type: Never}"), want: at + "completionPolicy.type"},
		{name: "time to live", edit: policy("{ttlSecondsAfterFinished: 5}"), want: at + "completionPolicy.ttlSecondsAfterFinished"},
		{name: "more than a day", edit: policy("{activeDeadlineSeconds: 86401}"), want: at + "completionPolicy.activeDeadlineSeconds"},
		{name: "shorter than a pull", edit: policy("{activeDeadlineSeconds: 599}"), want: at + "completionPolicy.activeDeadlineSeconds"},
		{name: "image twice", edit: []string{"b:1", "a:1"}, want: at + "images[1]"},
		{name: "none in v1alpha1", edit: []string{"v1beta1", "v1alpha1"}, want: "object/unknown-field spec.template.imageListPullJobTemplate"},
	})
}
