package check

import (
	"errors"
	"strings"
	"time"
	_ "time/tzdata" // the same answer on every machine

	"github.com/robfig/cron/v3"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

const (
	cronTemplate = "spec.template"
	longestCron  = 24 * 60 * 60
)

var _ = add(&kindRules{
	group: kruise.Group, kind: kruise.KindAdvancedCronJob, object: kruise.AdvancedCronJob{}, plainName: true, filled: true,
	open:  []string{"spec.template.jobTemplate", "spec.template.broadcastJobTemplate.spec.template"},
	check: advancedCronJob,
})

// cronJobCheck gathers the faults of one AdvancedCronJob.
type cronJobCheck struct{ *subject }

// advancedCronJob has the rules of the webhook (docs/kruise/jobs.md#advancedcronjob).
// Kruise checks the restartPolicy of jobs and broadcast jobs only when it creates them.
func advancedCronJob(s *subject) {
	var job kruise.AdvancedCronJob
	if !s.read(&job) {
		return
	}
	k, spec := &cronJobCheck{s}, &job.Spec
	k.noMetadata("broadcastJobTemplate")
	k.noMetadata("imageListPullJobTemplate")
	k.schedule(spec)
	oneOf(s, "spec.concurrencyPolicy", spec.ConcurrencyPolicy, kruise.AllowConcurrent, kruise.ForbidConcurrent, kruise.ReplaceConcurrent)
	notNegative(s, "spec.startingDeadlineSeconds", spec.StartingDeadlineSeconds)
	notNegative(s, "spec.successfulJobsHistoryLimit", spec.SuccessfulJobsHistoryLimit)
	notNegative(s, "spec.failedJobsHistoryLimit", spec.FailedJobsHistoryLimit)
	k.templates(&spec.Template)
	if t := spec.Template.ImageListPullJobTemplate; t != nil {
		if spec.ConcurrencyPolicy == kruise.AllowConcurrent {
			s.fault("spec.concurrencyPolicy", "", "Allow is not supported with imageListPullJobTemplate: want Replace or Forbid")
		}
		k.imageListTemplate(cronTemplate+".imageListPullJobTemplate.spec", &t.Spec)
	}
	var old kruise.AdvancedCronJob
	if s.decodeOld(&old) {
		now := kruise.AdvancedCronJob{Spec: *spec}
		kruise.DefaultStored(&now)
		immutableFields(s,
			fieldChange{cronTemplate + ".jobTemplate", old.Spec.Template.JobTemplate, now.Spec.Template.JobTemplate},
			fieldChange{cronTemplate + ".broadcastJobTemplate", old.Spec.Template.BroadcastJobTemplate, now.Spec.Template.BroadcastJobTemplate},
		)
	}
}

// templates wants exactly one template, which its kind accepts.
func (k *cronJobCheck) templates(t *kruise.CronJobTemplate) {
	var names []string
	n := tree.Get(k.r.Node(), "spec", "template")
	for _, name := range []string{"jobTemplate", "broadcastJobTemplate", "imageListPullJobTemplate"} {
		if tree.Get(n, name) != nil {
			names = append(names, name)
		}
	}
	const hint = "keep one of jobTemplate, broadcastJobTemplate, imageListPullJobTemplate"
	switch {
	case len(names) == 0:
		k.fault(cronTemplate, hint, "a template is required")
	case len(names) > 1:
		k.fault(cronTemplate, hint, "only one template is allowed, not %s", strings.Join(names, " and "))
	}
	if j := t.JobTemplate; j != nil {
		checkPodTemplate(k.subject, cronTemplate+".jobTemplate.spec.template", &j.Spec.Template, nil)
	}
	if b := t.BroadcastJobTemplate; b != nil {
		checkBroadcastJob(k.subject, cronTemplate+".broadcastJobTemplate.spec", &b.Spec)
	}
}

// imageListTemplate wants jobs that end, within a day.
func (k *cronJobCheck) imageListTemplate(at string, spec *kruise.ImageListPullJobSpec) {
	checkImageList(k.subject, at, spec)
	c := spec.CompletionPolicy
	at += ".completionPolicy"
	if c.Type == kruise.NeverCompletionPolicyType {
		k.fault(at+".type", "", "Never is not allowed here: want Always")
	} else if c.TTLSecondsAfterFinished != nil {
		k.fault(at+".ttlSecondsAfterFinished", "remove it: the history limits clean up", "not allowed here")
	}
	if d := c.ActiveDeadlineSeconds; d != nil && *d > longestCron {
		k.fault(at+".activeDeadlineSeconds", "", "%d is more than a day (%d)", *d, longestCron)
	}
}

// noMetadata reports fields of the metadata of a template: the schema knows none, not even labels, which
// says nothing about an object that is expanded (docs/kruise/jobs.md#advancedcronjob).
func (k *cronJobCheck) noMetadata(template string) {
	tree.Each(tree.Get(k.r.Node(), "spec", "template", template, "metadata"), func(key, _ *tree.Node) {
		if path := cronTemplate + "." + template + ".metadata." + key.Value; !k.faulty(path) {
			k.faultUnder(unknownField, path, "label the AdvancedCronJob, or the pods", "unknown field")
			k.faults[len(k.faults)-1].OfRelease = true
		}
	})
}

// schedule wants the five fields of cron or a word such as @daily, and one time zone.
func (k *cronJobCheck) schedule(spec *kruise.AdvancedCronJobSpec) {
	const path = "spec.schedule"
	if spec.TimeZone != nil && strings.Contains(spec.Schedule, "TZ=") {
		k.fault(path, "keep one of the two", "a time zone is set in the schedule and in timeZone")
	}
	if err := parseSchedule(spec.Schedule); err != nil {
		k.fault(path, `write five fields, such as "15 2 * * *"`, "%q: %v", spec.Schedule, err)
	}
	if spec.TimeZone == nil {
		return
	}
	const hint = "write a name such as Europe/Berlin" // which means the same on every machine
	if name := *spec.TimeZone; name == "" || strings.EqualFold(name, "local") {
		k.fault("spec.timeZone", hint, "%q is not an explicit time zone", name)
	} else if _, err := time.LoadLocation(name); err != nil {
		k.fault("spec.timeZone", hint, "%v", err)
	}
}

// parseSchedule recovers from the library's panic about a time zone without a schedule
// after it.
func parseSchedule(text string) (err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("not a schedule")
		}
	}()
	_, err = cron.ParseStandard(text)
	return err
}
