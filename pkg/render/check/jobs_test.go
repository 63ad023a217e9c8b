package check_test

import (
	"testing"
)

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

func TestBroadcastJob_Rules(t *testing.T) {
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

func TestAdvancedCronJob_Rules(t *testing.T) {
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

func TestAdvancedCronJob_ImageLists(t *testing.T) {
	const at = "advancedcronjob/template-invalid spec.template.imageListPullJobTemplate.spec."
	policy := func(text string) []string { return []string{"{type: Always, activeDeadlineSeconds: 1200}", text} }
	rulings(t, goodCronImages, []ruling{
		{name: "changed", edit: []string{"b:1", "b:2"}, old: []string{}},
		{name: "labels", edit: []string{"      spec:", "      metadata: {labels: {a: b}}\n      spec:"}, want: "object/unknown-field spec.template.imageListPullJobTemplate.metadata.labels"},
		{name: "allow", edit: []string{"  schedule", "  concurrencyPolicy: Allow\n  schedule"}, want: "advancedcronjob/concurrency-invalid spec.concurrencyPolicy"},
		{name: "never", edit: policy("{type: Never}"), want: at + "completionPolicy.type"},
		{name: "time to live", edit: policy("{ttlSecondsAfterFinished: 5}"), want: at + "completionPolicy.ttlSecondsAfterFinished"},
		{name: "more than a day", edit: policy("{activeDeadlineSeconds: 86401}"), want: at + "completionPolicy.activeDeadlineSeconds"},
		{name: "shorter than a pull", edit: policy("{activeDeadlineSeconds: 599}"), want: at + "completionPolicy.activeDeadlineSeconds"},
		{name: "image twice", edit: []string{"b:1", "a:1"}, want: at + "images[1]"},
		{name: "none in v1alpha1", edit: []string{"v1beta1", "v1alpha1"}, want: "object/unknown-field spec.template.imageListPullJobTemplate"},
	})
}

const goodRecreate = `
apiVersion: apps.kruise.io/v1beta1
kind: ContainerRecreateRequest
metadata: {name: again, namespace: shop}
spec:
  podName: web-0
  containers: [{name: app}]
  strategy: {failurePolicy: Ignore, terminationGracePeriodSeconds: 5}
`

const recreatePods = `
apiVersion: v1
kind: Pod
metadata: {name: web-0, namespace: shop}
spec:
  initContainers: [{name: side, restartPolicy: Always}]
  containers: [{name: app}, {name: other}]
---
apiVersion: v1
kind: Pod
metadata: {name: waiting, namespace: shop}
spec: {containers: [{name: app}]}
status: {phase: Pending}
---
apiVersion: v1
kind: Pod
metadata: {name: done, namespace: shop}
spec: {nodeName: n, containers: [{name: app}]}
status: {phase: Succeeded}
---
apiVersion: v1
kind: Pod
metadata: {name: terminated, namespace: shop}
spec: {nodeName: n, containers: [{name: app}]}
status: {phase: Succeeded, conditions: [{type: SidecarTerminated, status: 'True'}], containerStatuses: [{name: app, containerID: "x://1"}]}
---
apiVersion: v1
kind: Pod
metadata: {name: pulling, namespace: shop}
spec: {nodeName: n, containers: [{name: app}]}
status: {phase: Pending}
---
apiVersion: v1
kind: Pod
metadata: {name: half, namespace: shop}
spec: {nodeName: n, containers: [{name: app}, {name: other}]}
status: {phase: Running, containerStatuses: [{name: app, containerID: "x://1"}, {name: other}]}
---
apiVersion: v1
kind: Pod
metadata: {name: elsewhere, namespace: far}
spec: {containers: [{name: app}]}
`

func TestContainerRecreateRequest_Rules(t *testing.T) {
	const containers, strategy = "[{name: app}]", "{failurePolicy: Ignore, terminationGracePeriodSeconds: 5}"
	pod := func(name, containers string) []string {
		return []string{"podName: web-0", "podName: " + name, "[{name: app}]", containers}
	}
	list := []ruling{
		{name: "two", edit: []string{containers, "[{name: other}, {name: app}]"}},
		{name: "one that runs", edit: pod("half", containers)},
		{name: "unknown pod", edit: pod("nobody", containers), want: "containerrecreaterequest/pod-invalid spec.podName"},
		{name: "pod that may be there", edit: pod("nobody", containers), unsure: true},
		{name: "pod elsewhere", edit: pod("elsewhere", containers), want: "containerrecreaterequest/pod-invalid spec.podName"},
		{name: "no pod", edit: pod("''", containers), want: "containerrecreaterequest/pod-invalid spec.podName"},
		{name: "pod without a node", edit: pod("waiting", containers), want: "containerrecreaterequest/pod-invalid spec.podName"},
		{name: "ended pod", edit: pod("done", containers), want: "containerrecreaterequest/pod-invalid spec.podName"},
		{name: "ended pod whose sidecars are yet to end", edit: pod("terminated", containers)},
		{name: "pod whose images are pulled", edit: pod("pulling", containers), want: "containerrecreaterequest/container-invalid spec.containers[0].name"},
		{name: "one that does not run", edit: pod("half", "[{name: other}]"), want: "containerrecreaterequest/container-invalid spec.containers[0].name"},
		{name: "unknown container", edit: []string{containers, "[{name: ghost}]"}, want: "containerrecreaterequest/container-invalid spec.containers[0].name"},
		{name: "native sidecar", edit: []string{containers, "[{name: side}]"}, want: "containerrecreaterequest/container-invalid spec.containers[0].name"},
		{name: "twice", edit: []string{containers, "[{name: app}, {name: app}]"}, want: "containerrecreaterequest/container-invalid spec.containers[1].name"},
		{name: "none", edit: []string{containers, "[]"}, want: "containerrecreaterequest/container-invalid spec.containers"},
		{name: "no name", edit: []string{containers, "[{}]"}, want: "containerrecreaterequest/container-invalid spec.containers[0].name"},
		{name: "context", edit: []string{containers, "[{name: app, statusContext: {containerID: a, restartCount: 0}}]"}, want: "containerrecreaterequest/container-invalid spec.containers[0]"},
		{name: "failure policy", edit: []string{"Ignore", "Retry"}, want: "containerrecreaterequest/strategy-invalid spec.strategy.failurePolicy"},
		{name: "grace", edit: []string{"Seconds: 5", "Seconds: -1"}, want: "containerrecreaterequest/strategy-invalid spec.strategy.terminationGracePeriodSeconds"},
		{name: "started", edit: []string{strategy, "{minStartedSeconds: -1}"}, want: "containerrecreaterequest/strategy-invalid spec.strategy.minStartedSeconds"},
		{name: "deadline", edit: []string{strategy, "{}\n  activeDeadlineSeconds: 2"}, want: "containerrecreaterequest/deadline-invalid spec.activeDeadlineSeconds"},
		{name: "time to live", edit: []string{strategy, "{}\n  ttlSecondsAfterFinished: -1"}, want: "containerrecreaterequest/deadline-invalid spec.ttlSecondsAfterFinished"},
		{name: "changed", edit: []string{"Seconds: 5", "Seconds: 6"}, old: []string{}, want: "object/immutable-field spec"},
		{name: "as stored", old: []string{containers, "[{name: app, statusContext: {containerID: a, restartCount: 0}}]"}},
		{name: "label changed", edit: []string{"namespace: shop", "namespace: shop, labels: {crr.apps.kruise.io/pod-uid: b}"}, old: []string{"namespace: shop", "namespace: shop, labels: {crr.apps.kruise.io/pod-uid: a}"}, want: "object/immutable-field metadata.labels[crr.apps.kruise.io/pod-uid]"},
	}
	rulingsAround(t, goodRecreate, list, recreatePods)
}
