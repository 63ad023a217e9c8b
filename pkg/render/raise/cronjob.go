package raise

import (
	batchv1 "k8s.io/api/batch/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// raiseCronJob returns the AdvancedCronJob that makes the same Jobs
// (docs/kruise/jobs.md#advancedcronjob).
func raiseCronJob(o object) (*tree.Node, error) {
	var source batchv1.CronJob
	if err := o.decode(&source); err != nil {
		return nil, err
	}
	o.reportSame("cronjob/same", "timeZone", "startingDeadlineSeconds", "concurrencyPolicy", "successfulJobsHistoryLimit", "failedJobsHistoryLimit")
	o.reportSame("cronjob/suspend", "suspend")
	o.reportSame("cronjob/job", "jobTemplate")
	o.reportSame("cronjob/job-immutable", "jobTemplate")
	if source.Spec.TimeZone == nil {
		o.report("cronjob/zone-none", "spec.schedule", "")
	}
	return o.become(kruise.Group, kruise.KindAdvancedCronJob, func(spec *tree.Node) *tree.Node {
		return stage.Fields(spec, func(name string, v *tree.Node) (string, *tree.Node) {
			switch name {
			case "suspend":
				return "paused", v
			case "jobTemplate":
				return "template", tree.Map("jobTemplate", o.job(v))
			}
			return name, v
		})
	}), nil
}

// job returns the Job template with the pull policies that its pods have.
func (o object) job(source *tree.Node) *tree.Node {
	spec := tree.Get(source, "spec")
	pod := tree.Get(spec, "template")
	if !tree.IsMap(pod) {
		return source
	}
	made := o.template("cronjob", "spec.jobTemplate.spec.template", pod)
	if made == pod {
		return source
	}
	return with(source, "spec", with(spec, "template", made))
}
