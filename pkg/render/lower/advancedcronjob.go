package lower

import (
	"cmp"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// cronJobNameLimit is the longest name of a CronJob: its Jobs add 11 characters.
const cronJobNameLimit = 52

// advancedCronJob is one AdvancedCronJob that is rendered.
type advancedCronJob struct {
	object
	spec kruise.AdvancedCronJobSpec
}

// lowerAdvancedCronJob returns a CronJob, or one for each Job that the template
// would become by itself.
func lowerAdvancedCronJob(c *stage.Context, related *relatedObjects, r *resource.Resource) ([]*resource.Resource, error) {
	var cron kruise.AdvancedCronJob
	o, err := newObject(c, r, "advancedcronjob", &cron)
	if err != nil {
		return nil, err
	}
	o.alwaysPull = true
	kruise.Default(&cron)
	a := &advancedCronJob{object: o, spec: cron.Spec}
	jobs, err := a.jobs(related)
	if err != nil {
		return nil, err
	}
	a.reportFields()
	out := make([]*resource.Resource, len(jobs))
	for i, job := range jobs {
		out[i] = resource.Derived(a.cronJob(job), r)
	}
	c.Lineage.Became(r.ID(), out...)
	return commentOnce(out), nil
}

// piece is a Job that every run makes: what its name adds, and the template.
type piece struct {
	name     string
	template *tree.Node
}

// jobs returns the Jobs of one run.
func (a *advancedCronJob) jobs(related *relatedObjects) ([]piece, error) {
	template := tree.Get(a.hub, "spec", "template")
	switch {
	case a.spec.Template.JobTemplate != nil:
		return []piece{{template: a.jobTemplate(tree.Get(template, "jobTemplate"))}}, a.checkPodsEnd()
	case a.spec.Template.BroadcastJobTemplate != nil:
		return a.broadcastJobs(related)
	case a.spec.Template.ImageListPullJobTemplate != nil:
		return a.imageListJobs(related)
	}
	return nil, a.r.Fault("spec.template", "jobTemplate, broadcastJobTemplate or imageListPullJobTemplate", "holds no template")
}

// checkPodsEnd refuses pods that restart forever, also by the default of restartPolicy: Kruise
// accepts them, and then never creates a Job.
func (a *advancedCronJob) checkPodsEnd() error {
	switch policy := a.spec.Template.JobTemplate.Spec.Template.Spec.RestartPolicy; policy {
	case corev1.RestartPolicyNever, corev1.RestartPolicyOnFailure:
		return nil
	default:
		return a.r.Fault("spec.template.jobTemplate.spec.template.spec.restartPolicy", "write Never or OnFailure",
			"a Job's pods must end, and %q starts them again", cmp.Or(policy, corev1.RestartPolicyAlways))
	}
}

// jobTemplate returns the Job template for a cluster without Kruise.
func (a *advancedCronJob) jobTemplate(source *tree.Node) *tree.Node {
	out := tree.Shallow(source)
	spec := copyField(out, "spec")
	if pod := tree.Get(spec, "template"); tree.IsMap(pod) {
		tree.Set(spec, "template", a.templateAt("spec.template.jobTemplate.spec.template", pod))
	}
	return out
}

// broadcastJobs returns the Jobs of a BroadcastJob made of the template.
func (a *advancedCronJob) broadcastJobs(related *relatedObjects) ([]piece, error) {
	const field = "broadcastJobTemplate"
	b, err := readBroadcastJob(a.c, a.jobObject(kruise.KindBroadcastJob, field))
	if err != nil {
		return nil, err
	}
	return a.jobPieces(b, &b.object, field, related)
}

// imageListJobs returns the Jobs of an ImageListPullJob made of the template.
func (a *advancedCronJob) imageListJobs(related *relatedObjects) ([]piece, error) {
	const field = "imageListPullJobTemplate"
	p, err := readImageListPullJob(a.c, a.jobObject(kruise.KindImageListPullJob, field))
	if err != nil {
		return nil, err
	}
	return a.jobPieces(p, &p.object, field, related)
}

// jobObject returns the object that a run makes of one of the templates.
func (a *advancedCronJob) jobObject(kind, field string) *resource.Resource {
	return resource.Derived(tree.Map(
		"apiVersion", kruise.Group+"/"+kruise.V1beta1, "kind", kind,
		"metadata", tree.Get(a.hub, "metadata"), "spec", tree.Get(a.hub, "spec", "template", field, "spec"),
	), a.r)
}

// jobMaker is an object that becomes Jobs.
type jobMaker interface {
	neverCompletes() bool
	pieces(related *relatedObjects) ([]*resource.Resource, error)
}

// jobPieces returns the specs of the Jobs of an object that is a template in a field, with what each
// adds to the name.
func (a *advancedCronJob) jobPieces(m jobMaker, own *object, field string, related *relatedObjects) ([]piece, error) {
	if m.neverCompletes() {
		return nil, a.r.Fault("spec.template."+field+".spec.completionPolicy.type", "set it to Always", "a run that never completes cannot be repeated")
	}
	own.host, own.path = &a.object, "spec.template."+field
	jobs, err := m.pieces(related)
	if err != nil {
		return nil, err
	}
	out := make([]piece, 0, len(jobs))
	for _, job := range jobs {
		out = append(out, piece{strings.TrimPrefix(job.Name(), a.r.Name()+"-"), tree.Map("spec", tree.Get(job.Node(), "spec"))})
	}
	return out, nil
}

// cronJob returns the CronJob that makes one Job per run.
func (a *advancedCronJob) cronJob(job piece) *tree.Node {
	out := a.native("batch/v1", "CronJob", func(spec *tree.Node) *tree.Node { return a.cronJobSpec(spec, job.template) })
	switch name := a.r.Name(); {
	case job.name != "" && job.name != name:
		a.rename(out, stage.PieceName(name, job.name, cronJobNameLimit, false))
	case len(name) > cronJobNameLimit:
		a.rename(out, stage.PieceName(name, "cron", cronJobNameLimit, false))
	}
	return out
}

func (a *advancedCronJob) cronJobSpec(spec, job *tree.Node) *tree.Node {
	zone, schedule := splitTimeZone(a.spec.Schedule)
	out := stage.Fields(spec, func(name string, v *tree.Node) (string, *tree.Node) {
		switch name {
		case "schedule":
			if zone != "" {
				v = tree.String(schedule)
			}
		case "paused":
			return "suspend", v
		case "template":
			return "jobTemplate", job
		}
		return name, v
	})
	if a.spec.ConcurrencyPolicy != kruise.AllowConcurrent && !tree.Has(out, "concurrencyPolicy") {
		tree.InsertAfter(out, "schedule", "concurrencyPolicy", tree.String(string(a.spec.ConcurrencyPolicy)))
		a.report("advancedcronjob/replace", "spec.concurrencyPolicy", "")
	}
	if zone != "" {
		tree.InsertAfter(out, "schedule", "timeZone", tree.String(zone))
	}
	return out
}

// splitTimeZone splits a schedule that begins with its time zone, which Kruise reads
// there and a CronJob does not.
func splitTimeZone(schedule string) (zone, rest string) {
	first, rest, ok := strings.Cut(strings.TrimSpace(schedule), " ")
	if name, value, zoned := strings.Cut(first, "="); ok && zoned && (name == "TZ" || name == "CRON_TZ") {
		return value, strings.TrimSpace(rest)
	}
	return "", schedule
}

func (a *advancedCronJob) reportFields() {
	a.reportWritten([]fieldRule{
		{"spec.startingDeadlineSeconds", "advancedcronjob/same", "advancedcronjob/same"},
		{"spec.concurrencyPolicy", "advancedcronjob/same", "advancedcronjob/same"},
		{"spec.successfulJobsHistoryLimit", "advancedcronjob/same", "advancedcronjob/same"},
		{"spec.failedJobsHistoryLimit", "advancedcronjob/same", "advancedcronjob/same"},
		{"spec.paused", "advancedcronjob/paused", "advancedcronjob/paused"},
		{"spec.template.jobTemplate", "advancedcronjob/job", "advancedcronjob/job"},
		{"spec.template.broadcastJobTemplate", "advancedcronjob/broadcast", "advancedcronjob/broadcast"},
		{"spec.template.imageListPullJobTemplate", "advancedcronjob/image-list", "advancedcronjob/image-list"},
	}, false)
	switch zone, _ := splitTimeZone(a.spec.Schedule); {
	case zone != "":
		a.report("advancedcronjob/zone-in-schedule", "spec.schedule", "")
	case a.spec.TimeZone != nil:
		a.report("advancedcronjob/same", "spec.timeZone", "")
	default:
		a.report("advancedcronjob/zone-none", "spec.schedule", "")
	}
	if len(a.r.Name()) > cronJobNameLimit {
		a.report("advancedcronjob/name", "metadata.name", "")
	}
}
