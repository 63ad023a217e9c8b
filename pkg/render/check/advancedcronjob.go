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
	open: []string{
		"spec.template.jobTemplate", "spec.template.broadcastJobTemplate.spec.template",
		// The schema prunes what stands in these.
		"spec.template.broadcastJobTemplate.metadata", "spec.template.imageListPullJobTemplate.metadata",
	},
	check: advancedCronJob,
	rules: []Rule{
		{ID: "schedule-invalid", fields: []string{"spec.schedule"}, Doc: "The schedule has not the five fields of cron, or names a time zone beside timeZone."},
		{ID: "time-zone-invalid", fields: []string{"spec.timeZone"}, Doc: "timeZone is not a name of the IANA time zone database."},
		{ID: "concurrency-invalid", fields: []string{"spec.concurrencyPolicy"}, Doc: "concurrencyPolicy is unknown; imageListPullJobTemplate takes no Allow."},
		{ID: "limit-invalid", fields: []string{"spec.startingDeadlineSeconds", "spec.successfulJobsHistoryLimit", "spec.failedJobsHistoryLimit"}, Doc: "A limit or the deadline is negative."},
		{ID: "template-invalid", fields: []string{cronTemplate}, Doc: "Not exactly one template is given, or one that its kind refuses."},
	},
})

// advancedCronJob holds the rules of the webhook (docs/kruise/jobs.md#advancedcronjob).
// The restartPolicy of jobs and broadcast jobs is looked at only when they are
// made.
func advancedCronJob(s *subject) {
	var job kruise.AdvancedCronJob
	if !s.read(&job) {
		return
	}
	spec := &job.Spec
	s.schedule(spec)
	oneOf(s, "spec.concurrencyPolicy", spec.ConcurrencyPolicy, kruise.AllowConcurrent, kruise.ForbidConcurrent, kruise.ReplaceConcurrent)
	notNegative(s, "spec.startingDeadlineSeconds", spec.StartingDeadlineSeconds)
	notNegative(s, "spec.successfulJobsHistoryLimit", spec.SuccessfulJobsHistoryLimit)
	notNegative(s, "spec.failedJobsHistoryLimit", spec.FailedJobsHistoryLimit)
	s.cronTemplates(&spec.Template)
	if t := spec.Template.ImageListPullJobTemplate; t != nil {
		if spec.ConcurrencyPolicy == kruise.AllowConcurrent {
			s.fault("spec.concurrencyPolicy", "", "Allow does not go with imageListPullJobTemplate: want Replace or Forbid")
		}
		s.cronImages(cronTemplate+".imageListPullJobTemplate.spec", &t.Spec)
	}
	var old kruise.AdvancedCronJob
	if s.before(&old) {
		now := kruise.AdvancedCronJob{Spec: *spec}
		kruise.DefaultStored(&now)
		s.constant(
			unchanging{cronTemplate + ".jobTemplate", old.Spec.Template.JobTemplate, now.Spec.Template.JobTemplate},
			unchanging{cronTemplate + ".broadcastJobTemplate", old.Spec.Template.BroadcastJobTemplate, now.Spec.Template.BroadcastJobTemplate},
		)
	}
}

func (s *subject) cronTemplates(t *kruise.CronJobTemplate) {
	var names []string
	n := tree.Get(s.r.Node(), "spec", "template")
	for _, name := range []string{"jobTemplate", "broadcastJobTemplate", "imageListPullJobTemplate"} {
		if tree.Get(n, name) != nil {
			names = append(names, name)
		}
	}
	const hint = "keep one of jobTemplate, broadcastJobTemplate, imageListPullJobTemplate"
	switch {
	case len(names) == 0:
		s.fault(cronTemplate, hint, "a template is required")
	case len(names) > 1:
		s.fault(cronTemplate, hint, "only one template is allowed, not %s", strings.Join(names, " and "))
	}
	if j := t.JobTemplate; j != nil {
		checkPodTemplate(s, cronTemplate+".jobTemplate.spec.template", &j.Spec.Template, nil)
	}
	if b := t.BroadcastJobTemplate; b != nil {
		s.broadcast(cronTemplate+".broadcastJobTemplate.spec", &b.Spec)
	}
}

// cronImages: the jobs must end, and before a day is over.
func (s *subject) cronImages(at string, spec *kruise.ImageListPullJobSpec) {
	s.imageList(at, spec)
	c := spec.CompletionPolicy
	at += ".completionPolicy"
	if c.Type == kruise.NeverCompletionPolicyType {
		s.fault(at+".type", "", "Never is not allowed here: want Always")
	} else if c.TTLSecondsAfterFinished != nil {
		s.fault(at+".ttlSecondsAfterFinished", "remove it: the history limits clean up", "not allowed here")
	}
	if d := c.ActiveDeadlineSeconds; d != nil && *d > longestCron {
		s.fault(at+".activeDeadlineSeconds", "", "%d is more than a day (%d)", *d, longestCron)
	}
}

// schedule: five fields of cron or a word such as @daily, and one time zone.
func (s *subject) schedule(spec *kruise.AdvancedCronJobSpec) {
	const path = "spec.schedule"
	if spec.TimeZone != nil && strings.Contains(spec.Schedule, "TZ=") {
		s.fault(path, "keep one of the two", "a time zone is set in the schedule and in timeZone")
	}
	if err := parseSchedule(spec.Schedule); err != nil {
		s.fault(path, `write five fields, such as "15 2 * * *"`, "%q: %v", spec.Schedule, err)
	}
	if spec.TimeZone != nil {
		s.zone("spec.timeZone", *spec.TimeZone)
	}
}

// parseSchedule guards against the library, which panics on a time zone without
// a schedule behind it.
func parseSchedule(text string) (err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("not a schedule")
		}
	}()
	_, err = cron.ParseStandard(text)
	return err
}

// zone: a name that means the same everywhere.
func (s *subject) zone(path, name string) {
	if name == "" || strings.EqualFold(name, "local") {
		s.fault(path, "write a name such as Europe/Berlin", "%q is not an explicit time zone", name)
	} else if _, err := time.LoadLocation(name); err != nil {
		s.fault(path, "write a name such as Europe/Berlin", "%v", err)
	}
}
